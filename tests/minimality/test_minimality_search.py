"""A search on our own gateway, run as a process: what is redundant is found, and only that."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from vocabularies import bundled, member_of, small, vocabulary

from cctest.minimality.finding import Answer, Question
from cctest.minimality.outcome import Outcome, judge
from cctest.minimality.search import search
from cctest.minimality.trial import TooSlowError
from cctest.probe.bundled import Bundled

pytestmark = pytest.mark.bundled

ALLOW = {"constraints": {"retention": {"mode": "allow"}}}


def judged(content: Any, folder: Path, gateway: Bundled | None = None) -> Outcome:
    tried = vocabulary(content, folder)
    return judge(tried, search(tried) if gateway is None else search(tried, gateway=gateway))


def objections(outcome: Outcome) -> set[tuple[str, str]]:
    return {(finding.about, str(finding.question)) for finding in outcome.objections}


def test_a_small_vocabulary_is_minimal(tmp_path: Path) -> None:
    outcome = judged(small(), tmp_path)
    assert objections(outcome) == set()
    # `forbid` leaves one behaviour of its four settings.
    assert (len(outcome.observed.singles), outcome.behaviours) == (8, 5)


def test_a_pin_that_equals_allow_is_caught_as_a_value(tmp_path: Path) -> None:
    content = small()
    member_of(content, "retention")["values"].append({"name": "pin", "intent": ALLOW})
    outcome = judged(content, tmp_path)
    assert objections(outcome) == {
        ("retention", "discriminates"),
        ("retention=allow", "needed"),
        ("retention=pin", "needed"),
        ("", "otherwise different"),
    }
    (finding,) = [one for one in outcome.objections if one.question is Question.DISCRIMINATES]
    ((one,), (other,)) = finding.witnesses[0].one, finding.witnesses[0].other
    assert {one.value("retention"), other.value("retention")} == {"allow", "pin"}


def test_a_pin_that_equals_allow_is_caught_as_a_member(tmp_path: Path) -> None:
    """It does change something, forbid into allow: but that can be said without it."""
    content = small()
    values = [{"name": "off", "intent": {}}, {"name": "on", "intent": ALLOW}]
    content["members"].append({"name": "pin", "kind": "constraint", "values": values})
    content["base"]["pin"] = "off"
    content["equal"][0]["where"] |= {"pin": ["off"]}
    found = objections(judged(content, tmp_path))
    assert {("pin", "irreducible"), ("pin=on", "needed")} <= found
    assert ("pin", "discriminates") not in found
    assert ("reuse", "irreducible") not in found


def test_a_priority_that_nobody_observes_is_caught(tmp_path: Path) -> None:
    content = small()
    values = [{"name": "low", "intent": {}}, {"name": "high", "intent": {"hints": {"priority": 9}}}]
    content["members"].append({"name": "priority", "kind": "constraint", "values": values})
    content["base"]["priority"] = "low"
    found = objections(judged(content, tmp_path))
    assert {("priority", "discriminates"), ("priority", "irreducible"), ("priority=high", "needed")} <= found


def test_a_hint_that_nobody_reports_is_caught(tmp_path: Path) -> None:
    content = small()
    values = [{"name": "absent", "intent": {}}, {"name": "high", "intent": {"hints": {"priority": 9}}}]
    content["members"].append({"name": "priority", "kind": "hint", "values": values})
    assert objections(judged(content, tmp_path)) == {("priority", "reported"), ("priority", "clipped")}


def test_a_hint_whose_values_all_look_the_same_is_caught(tmp_path: Path) -> None:
    content = small()
    hint = member_of(bundled(), "reuse_within")
    hint["values"] = [value for value in hint["values"] if value["name"] != "above"]
    content["members"].append(hint)
    assert objections(judged(content, tmp_path)) == {("reuse_within", "clipped")}


def test_a_hint_that_changes_what_constraints_govern_is_caught(tmp_path: Path) -> None:
    content = small()
    values = [
        {"name": "absent", "intent": {}},
        {"name": "high", "intent": {"constraints": {"share_max": "session"}}},
    ]
    content["members"].append({"name": "closeness", "kind": "hint", "values": values})
    assert ("closeness", "harmless") in objections(judged(content, tmp_path))


def test_a_stated_equality_that_is_none_is_caught(tmp_path: Path) -> None:
    content = small()
    content["equal"][0]["where"] = {"retention": ["allow"]}
    assert {("", "equal as stated")} <= objections(judged(content, tmp_path))


def test_an_equality_that_no_rule_explains_is_caught(tmp_path: Path) -> None:
    content = small()
    content["equal"] = []
    outcome = judged(content, tmp_path)
    assert objections(outcome) == {("", "otherwise different")}
    (finding,) = outcome.objections
    assert all(setting.value("retention") == "forbid" for one in finding.witnesses for setting in one.one)


def with_approximate(content: Any) -> Any:
    content["members"] = [
        member_of(bundled(), "reuse") if member["name"] == "reuse" else member
        for member in content["members"]
    ]
    content["readers"] += [reader for reader in bundled()["readers"] if reader["name"] == "similar"]
    return content


def test_approximate_differs_from_exact_only_where_exact_computes(tmp_path: Path) -> None:
    outcome = judged(with_approximate(small()), tmp_path)
    (finding,) = [one for one in outcome.findings if one.question is Question.WIDENS]
    assert finding.answer is Answer.YES
    assert [witness.seen_by for witness in finding.witnesses] == ["similar"]


def test_approximate_is_redundant_on_a_gateway_that_finds_nothing_similar(tmp_path: Path) -> None:
    """The search looks at the gateway, and not at what the vocabulary says."""
    gateway = Bundled(options=("--similar-but-for", "0"))
    found = objections(judged(with_approximate(small()), tmp_path, gateway))
    assert {
        ("reuse=approximate", "widens"),
        ("reuse=approximate", "needed"),
        ("reuse", "discriminates"),
    } <= found


def test_everything_is_redundant_on_a_gateway_that_keeps_nothing(tmp_path: Path) -> None:
    found = objections(judged(small(), tmp_path, Bundled(backend="null")))
    assert {("share_max=tenant", "needed"), ("reuse=exact", "needed")} <= found


def test_readers_who_come_too_late_make_no_finding(tmp_path: Path) -> None:
    tried = vocabulary(small(), tmp_path)
    with pytest.raises(TooSlowError):
        search(replace(tried, seconds=0))
