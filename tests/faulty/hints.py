"""Faults of hints and of what is advertised."""

from dataclasses import replace
from typing import Any

from cctest.contract.hints import accepted_reuse_within
from cctest.contract.intent import CacheIntent
from cctest.contract.vocabulary import HintReport, OnUnenforceable, Scope
from cctest.verdict import Result

from . import edits, seams
from .model import Word, fault


def _report(change: Any) -> None:
    """Report hints otherwise: `change` gets the report, the seconds asked for and the maximum."""

    def make(original: Any) -> Any:
        def report(hints: Any, reuse_within_max: int | None) -> Any:
            found = original(hints, reuse_within_max)
            asked = accepted_reuse_within(hints, 2**63)
            return (
                found if asked is None or reuse_within_max is None else change(found, asked, reuse_within_max)
            )

        return report

    seams.REPORT_HINTS.wrap(make)


@fault(
    rules=("STA-9", "HNT-3"),
    checks=("hint-report#below-not-clipped", "hint-report#above-clipped"),
    status=Word.LIES,
)
def advertised_hint_not_reported() -> None:
    """A hint that is advertised is missing from the status."""
    _report(lambda found, asked, most: {})


@fault(rules=("STA-10", "HNT-3"), checks=("hint-report#above-clipped",), status=Word.LIES)
def clipping_not_reported() -> None:
    """A hint above the advertised maximum is reported as accepted."""
    _report(lambda found, asked, most: {"reuse_within": HintReport.ACCEPTED})


@fault(rules=("STA-10",), checks=("hint-report#at-not-clipped",), status=Word.LIES)
def clipped_at_the_maximum() -> None:
    """A hint at the advertised maximum is reported as clipped."""
    _report(lambda found, asked, most: {"reuse_within": HintReport.CLIPPED} if asked >= most else found)


@fault(
    rules=("INT-11", "HNT-2", "SHR-2"),
    checks=("unknown-hint#foreigner-computes",),
)
def hint_widens_the_boundary() -> None:
    """A hint called share_max is taken for the constraint of that name."""

    def widened(intent: CacheIntent) -> CacheIntent:
        hint = intent.hints.get("share_max")
        if hint not in [*Scope]:
            return intent
        return replace(intent, constraints=replace(intent.constraints, share_max=Scope(str(hint))))

    edits.default_scope(Scope.PUBLIC)
    edits.edit_intents(widened)


@fault(rules=("CAP-2", "CAP-7"), checks=("capabilities#well-formed",), status=Word.SILENT)
def on_unenforceable_not_advertised() -> None:
    """The capabilities don't say what becomes of what can't be enforced."""
    edits.edit_advertised(
        lambda spelt: {name: value for name, value in spelt.items() if name != "on_unenforceable"}
    )


@fault(rules=("CAP-7",), checks=("capabilities#well-formed",), status=Word.SILENT)
def capabilities_with_a_member_too_many() -> None:
    """The capabilities carry a member of the implementation's own."""
    edits.edit_advertised(lambda spelt: {**spelt, "vendor": "example"})


@fault(rules=("CAP-7",), checks=("capabilities#well-formed",), status=Word.SILENT)
def capability_spelt_as_an_empty_array() -> None:
    """Kinds of reuse that aren't supported are an empty array instead of being left out."""
    edits.edit_advertised(lambda spelt: {**spelt, "constraints": {**spelt["constraints"], "reuse": []}})


@fault(
    rules=("CAP-2", "INT-2"),
    checks=("as-advertised#named",),
    status=Word.SILENT,
    result=Result.WARN,
)
def reject_advertised_and_bypass_done() -> None:
    """The capabilities say that what can't be enforced is rejected, and it is served by fallback."""
    edits.edit_capabilities(namespace=False, on_unenforceable=OnUnenforceable.BYPASS)
    edits.edit_advertised(lambda spelt: {**spelt, "on_unenforceable": "reject"})


@fault(rules=("CAP-2", "INT-2"), checks=("as-advertised#named",), status=Word.SILENT)
def bypass_advertised_and_reject_done() -> None:
    """The capabilities say that what can't be enforced is served by fallback, and it is rejected."""
    edits.edit_capabilities(namespace=False, on_unenforceable=OnUnenforceable.REJECT)
    edits.edit_advertised(lambda spelt: {**spelt, "on_unenforceable": "bypass"})


def _unlisted(**less: list[str] | None) -> None:
    """Leave members of the constraints out of what is advertised, or values out of their lists."""

    def shorter(spelt: dict[str, Any]) -> dict[str, Any]:
        constraints = dict(spelt["constraints"])
        for name, values in less.items():
            stated = constraints.pop(name)
            if values is not None:
                constraints[name] = [value for value in stated if value not in values]
        return {**spelt, "constraints": constraints}

    edits.edit_advertised(shorter)


@fault(rules=("CAP-3",), checks=("supported-is-listed#namespace",), status=Word.SILENT)
def namespaces_kept_apart_and_not_listed() -> None:
    """Namespaces are supported, and the capabilities don't say so."""
    _unlisted(namespace=None)


@fault(rules=("CAP-3",), checks=("supported-is-listed#bound",), status=Word.SILENT)
def bounds_kept_and_not_listed() -> None:
    """Bounds on age are supported, and the capabilities don't say so."""
    _unlisted(retention_max_age=None)


@fault(
    rules=("CAP-3",),
    checks=("supported-is-listed#session", "public-is-listed#scope"),
    status=Word.SILENT,
)
def narrowest_and_widest_scope_not_listed() -> None:
    """State is shared within a session, and by everybody, and the capabilities list neither scope."""
    _unlisted(share_max=["session", "public"])


@fault(
    rules=("CAP-3",),
    checks=("scope-is-listed#scope",),
    status=Word.SILENT,
    cells=({"scope": "principal"},),
)
def scope_in_the_middle_not_listed() -> None:
    """State is shared within a principal, and the capabilities don't list that scope."""
    _unlisted(share_max=["principal"])


@fault(rules=("CAP-3",), checks=("supported-is-listed#exact",), status=Word.SILENT)
def exact_reuse_not_listed() -> None:
    """What is reused exactly is read back, and the capabilities list other kinds of reuse only."""
    _unlisted(reuse=["exact"])


@fault(rules=("CAP-3",), checks=("as-advertised#status-listed",), status=Word.SILENT)
def status_told_and_not_listed() -> None:
    """Every response tells what look-ups came to, and the capabilities say that there is no status."""
    edits.edit_advertised(lambda spelt: {**spelt, "status": False})
