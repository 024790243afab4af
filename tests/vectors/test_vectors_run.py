"""How expectations are compared, counted and told."""

import json
from pathlib import Path
from typing import Any

import pytest

from cctest.contract import composition, documents
from cctest.vectors.load import load_vectors
from cctest.vectors.run import run_vectors
from cctest.verdict import Check, Reading, Result

TENANT = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Run one vector given as an object; the name is filled in."""

    def run_one(**vector: Any) -> tuple[tuple[Check, ...], tuple[Reading, ...], int]:
        path = tmp_path / "vectors.json"
        path.write_text(json.dumps({"version": 1, "vectors": [{"name": "it", **vector}]}))
        return run_vectors(load_vectors([path]))

    return run_one


def test_published_fragments_carry_no_version_and_take_1(run: Any) -> None:
    checks, _, _ = run(
        kind="composition",
        draft_test=2,
        fragments=[{"constraints": TENANT}],
        expected={"after_fragment_0": TENANT},
    )
    assert [(check.id, check.result, check.rules) for check in checks] == [
        ("it#after_fragment_0", Result.PASS, ())
    ]


def test_members_that_a_policy_does_not_list_are_counted_as_unasserted(run: Any) -> None:
    expected = {
        "after_fragment_0": {"reuse": "exact"},
        "after_fragment_1": {**TENANT, "absent": ["namespace_identity"]},
    }
    checks, _, unasserted = run(
        kind="composition", fragments=[{"constraints": TENANT}, {}], expected=expected
    )
    assert {check.result for check in checks} == {Result.PASS}
    assert unasserted == 3


def test_an_expected_retention_without_a_bound_is_not_met_by_one_with_a_bound(run: Any) -> None:
    bounded = {**TENANT, "retention": {"mode": "allow", "max_age": 0}}
    [check], _, _ = run(
        kind="composition", fragments=[{"constraints": bounded}], expected={"after_fragment_0": TENANT}
    )
    assert check.result is Result.FAIL
    assert "retention" in check.message
    assert json.loads(check.seen)["retention"] == {"mode": "allow", "max_age": 0}


def test_absence_is_asserted(run: Any) -> None:
    named = {**TENANT, "namespace": "a"}
    [check], _, _ = run(
        kind="composition",
        fragments=[{"constraints": named}],
        expected={"after_fragment_0": {"absent": ["namespace_identity", "max_age"]}},
    )
    assert check.result is Result.FAIL
    assert "namespace_identity should be absent" in check.message


def test_no_policy_is_not_met_by_a_policy(run: Any) -> None:
    [check], _, _ = run(
        kind="composition", fragments=[{"constraints": TENANT}], expected={"after_fragment_0": None}
    )
    assert (check.result, check.expected) == (Result.FAIL, "null")


def test_a_fragment_that_the_core_refuses_is_a_failure(run: Any) -> None:
    [check], _, _ = run(
        kind="composition", fragments=[{"constraints": {}}], expected={"after_fragment_0": TENANT}
    )
    assert check.result is Result.FAIL
    assert "refused" in check.message


def test_an_exception_in_the_core_is_an_error_of_that_check(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fragments: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(composition, "compose", broken)
    checks, _, _ = run(
        kind="composition",
        fragments=[{"constraints": TENANT}],
        expected={"after_fragment_0": TENANT},
    )
    assert [(check.result, check.message) for check in checks] == [
        (Result.ERROR, "RuntimeError: out of order")
    ]


def test_readers_that_disagree_are_told_apart(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "core_faults", lambda value, kind: ())
    [check], _, _ = run(kind="document", of="cache_intent", value={}, expected={"valid": False})
    assert check.result is Result.FAIL
    assert "the hand-written reader says valid, the JSON schema says invalid" in check.message


def test_a_pointer_must_be_found_by_both_readers(run: Any) -> None:
    checks, _, _ = run(
        kind="document", of="cache_intent", value={}, expected={"valid": False, "pointer": "/cache_intent"}
    )
    assert [check.result for check in checks] == [Result.PASS, Result.FAIL]
    assert "the hand-written reader finds fault at" in checks[1].message


def test_a_permitted_result_is_recorded_as_a_reading(run: Any) -> None:
    number = {"version": 1, "constraints": {**TENANT, "retention": {"mode": "allow", "max_age": 60.0}}}
    checks, readings, _ = run(
        kind="document",
        of="cache_intent",
        value={"cache_intent": number},
        expected={"permitted": {"valid": "accepted", "invalid": "rejected"}, "reading": "READ-11"},
    )
    assert [check.result for check in checks] == [Result.PASS]
    assert readings == (Reading("READ-11", "accepted", "it#valid"),)


def test_a_result_outside_the_permitted_ones_fails(run: Any) -> None:
    [check], readings, _ = run(
        kind="fail_closed",
        constraints=TENANT,
        expected={
            "permitted": {"reject": "rejected", "fresh_no_retention_fallback": "fallback"},
            "reading": "READ-5",
        },
    )
    assert (check.result, check.seen, readings) == (Result.FAIL, '"served"', ())


def test_a_wrong_digest_is_shown_beside_the_right_one(run: Any) -> None:
    [check], _, _ = run(
        kind="digest", cases=[{"namespaces": ["x"], "digest": "0" * 64}], expected={"digests_match": True}
    )
    assert check.id == "it#digest-0"
    assert check.result is Result.FAIL
    assert check.expected == f'"{"0" * 64}"'
    assert len(json.loads(check.seen)) == 64


def test_false_is_not_zero_in_a_comparison(run: Any) -> None:
    checks, _, _ = run(
        kind="eligibility",
        cases=[
            {"materialized_at": 0, "max_age": 1, "now": 0, "eligible": True},
            {"materialized_at": 0, "max_age": 1, "now": 1, "eligible": True},
        ],
    )
    assert [(check.id, check.result) for check in checks] == [
        ("it#case-0", Result.PASS),
        ("it#case-1", Result.FAIL),
    ]
