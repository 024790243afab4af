"""Inputs of findings tell readings apart that ours doesn't take, and the suite fails no implementation for one."""

from dataclasses import dataclass

import pytest
from faulty.catalogue import BY_NAME, PERMITTED
from faulty.findings import failures
from faulty.process import probe

from cctest.findings import finding_of
from cctest.probe.load import finding_cases, load_cases
from cctest.verdict import Result

CASES = {case.id: case for case in (*load_cases(), *finding_cases())}


@dataclass(frozen=True)
class Seen:
    """What the input of a finding shows on a variant of our gateway.

    `near` are cases of the suite that judge what the reading is about.
    """

    variant: str
    shown: dict[str, str]
    inputs: tuple[str, ...]
    near: tuple[str, ...] = ()


REFUSING = ("invalid-anywhere", "unknown-scope", "document-duplicate-constraints")
FORBIDDING = ("hint-is-no-retention", "forbid-first", "status-retention")
SEEN = (
    Seen(
        "falls-back-instead-of-refusing",
        {"F-13": "whole-request", "F-75": "forbidden"},
        ("fault-behind-a-valid-intent", "fallback-for-an-invalid-intent"),
    ),
    Seen(
        "falls-back-from-the-fragment-at-fault",
        {"F-13": "from-the-fragment", "F-75": "declined"},
        ("fault-behind-a-valid-intent", "fallback-for-an-invalid-intent"),
        REFUSING,
    ),
    Seen("pool-with-check-on-read", {"F-62": "of-the-request"}, ("share-of-a-hit",)),
    Seen("reads-under-forbid", {"F-82": "of-the-state"}, ("share-of-a-reader",), FORBIDDING),
    Seen("reads-under-forbid-and-says-request", {"F-82": "request"}, ("share-of-a-reader",), FORBIDDING),
    Seen(
        "reads-under-a-bound-of-zero", {"F-53": "retention-only"}, ("reader-without-age",), ("max-age-zero",)
    ),
    Seen("narrows-every-scope-to-session", {"READ-27": "narrowed"}, ("as-advertised",)),
    Seen("lists-no-public", {"READ-27": "unenforceable"}, ("as-advertised",), ("public-then-tenant",)),
    Seen(
        "keeps-no-silent-beginning",
        {"F-77": "not-kept"},
        ("silent-then-tenant",),
        ("no-policy-is-not-public",),
    ),
    Seen("accepts-hints-of-no-use", {"F-15": "accepted"}, ("hint-beside-forbid",), ("hint-of-no-use",)),
    Seen("a-hit-is-declined", {"F-80": "declined"}, ("retention-of-a-hit",), ("status-retention",)),
)


@pytest.mark.bundled
@pytest.mark.parametrize("seen", SEEN, ids=[seen.variant for seen in SEEN])
def test_the_input_shows_the_reading_and_no_check_fails_it(seen: Seen) -> None:
    report = probe(seen.variant, [CASES[name] for name in (*seen.inputs, *seen.near)])
    taken = {reading.id: reading.taken for reading in report.readings}
    assert seen.shown.items() <= taken.items()
    assert failures(report.checks) == []
    assert all(finding_of(name) is not None for name in seen.shown)


@pytest.mark.bundled
@pytest.mark.parametrize(
    ("variant", "check"),
    [
        ("falls-back-where-it-says-reject", "as-advertised#bounded"),
        ("omits-the-status", "as-advertised#status-promised"),
    ],
    ids=["F-11", "F-48"],
)
def test_what_a_reading_shows_as_is_a_warning_and_no_failure(variant: str, check: str) -> None:
    checks = probe(variant, [CASES["as-advertised"]]).checks
    assert {one.result for one in checks if one.id == check} == {Result.WARN}
    assert failures(checks) == []


def test_every_variant_of_a_finding_is_played() -> None:
    played = {seen.variant for seen in SEEN} | {"falls-back-where-it-says-reject"}
    assert {variant.id for variant in PERMITTED} <= played
    assert played <= BY_NAME.keys()
