"""The trace in JSON: what `cctest trace --json` writes."""

from collections.abc import Sequence
from typing import Any

from cctest.traceability.sentences import Sentence
from cctest.traceability.trace import Tie, Trace
from cctest.traceability.untied import Untied


def trace_json(trace: Trace, untied: Sequence[Untied]) -> dict[str, Any]:
    """Give sentences, rules with all that is tied to each, and what isn't tied.

    A rule's `sentences` are places in the drafts, `file:line`; its `results` have a member for each run.
    """
    return {
        "drafts": [draft.name for draft in trace.drafts],
        "sentences": [_sentence(sentence) for sentence in trace.normative],
        "rules": [_rule(trace, tie) for tie in trace.ties.values()],
        "untied": [{"name": each.name, "message": each.message} for each in untied],
    }


def _sentence(sentence: Sentence) -> dict[str, Any]:
    return {
        "where": sentence.where,
        "text": sentence.text,
        "keywords": [str(keyword) for keyword in sentence.keywords],
        "rules": list(sentence.rules),
        "readings": list(sentence.readings),
    }


def _rule(trace: Trace, tie: Tie) -> dict[str, Any]:
    return {
        "id": tie.rule.id,
        "level": str(tie.rule.level),
        "sentences": [sentence.where for sentence in tie.sentences],
        "vectors": list(tie.row.vectors),
        "checks": list(tie.row.checks),
        "mutants": [mutant.id for mutant in tie.mutants],
        "results": {run.name: tested.word for run, tested in zip(trace.runs, tie.row.tested, strict=True)},
    }
