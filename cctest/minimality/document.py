"""The outcome as a JSON document (`schemas/minimality-report.schema.json`)."""

import json
from collections import defaultdict

from cctest import __version__
from cctest.contract.source import JsonValue
from cctest.minimality.behaviour import Behaviour, Subject
from cctest.minimality.finding import Finding, Witness
from cctest.minimality.outcome import Outcome
from cctest.minimality.vocabulary import Setting
from cctest.verdict import Exit


def json_of(outcome: Outcome) -> str:
    """Write the findings with their inputs, and every behaviour with the settings that have it."""
    document: dict[str, JsonValue] = {
        "version": 1,
        "command": "minimality",
        "cctest": __version__,
        "minimal": outcome.minimal,
        "exit": int(Exit.OK if outcome.minimal else Exit.FAILED),
        "seconds": round(outcome.seconds, 3),
        "requests": outcome.observed.requests,
        "findings": [_finding(finding, outcome) for finding in outcome.findings],
        "behaviours": _behaviours(outcome),
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(finding: Finding, outcome: Outcome) -> JsonValue:
    return {
        "question": str(finding.question),
        "answer": str(finding.answer),
        "member": finding.member or None,
        "value": finding.value,
        "text": finding.text,
        "witnesses": [_witness(witness, outcome) for witness in finding.witnesses],
    }


def _witness(witness: Witness, outcome: Outcome) -> JsonValue:
    return {
        "one": _subject(witness.one, outcome),
        "other": _subject(witness.other, outcome),
        "seen_by": witness.seen_by,
        "one_saw": witness.one_saw,
        "other_saw": witness.other_saw,
    }


def _subject(subject: Subject, outcome: Outcome) -> JsonValue:
    return [
        {
            "setting": _setting(setting),
            "cache_intent": outcome.vocabulary.intent(setting, outcome.observed.hint_max),
        }
        for setting in subject
    ]


def _setting(setting: Setting) -> JsonValue:
    return dict(setting.choices)


def _behaviours(outcome: Outcome) -> JsonValue:
    groups: defaultdict[Behaviour, list[JsonValue]] = defaultdict(list)
    for setting, behaviour in outcome.observed.singles.items():
        groups[behaviour].append(_setting(setting))
    return [
        {
            "settings": settings,
            "observations": {
                name: {"effect": str(seen.effect), "report": seen.report}
                for name, seen in behaviour.observations
            },
        }
        for behaviour, settings in groups.items()
    ]
