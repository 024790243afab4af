"""What becomes of hints (HNT-1..3, STA-9, STA-10)."""

from collections.abc import Mapping
from typing import Final

from cctest.contract.shape import as_integer
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import HintReport

REUSE_WITHIN: Final = "reuse_within"


def report_hints(hints: Mapping[str, JsonValue], reuse_within_max: int | None) -> dict[str, HintReport]:
    """Say what is done with each advertised hint of one intent; hints not advertised are left out (READ-20).

    `reuse_within_max` is the advertised maximum in seconds, None if `reuse_within` isn't advertised. A
    malformed value is ignored (READ-26).
    """
    if reuse_within_max is None or REUSE_WITHIN not in hints:
        return {}
    seconds = _reuse_within(hints)
    if seconds is None:
        return {REUSE_WITHIN: HintReport.IGNORED}
    clipped = seconds > reuse_within_max
    return {REUSE_WITHIN: HintReport.CLIPPED if clipped else HintReport.ACCEPTED}


def accepted_reuse_within(hints: Mapping[str, JsonValue], reuse_within_max: int | None) -> int | None:
    """Give the seconds that count, clipped to the maximum; None if there is nothing to go by."""
    seconds = _reuse_within(hints)
    if seconds is None or reuse_within_max is None:
        return None
    return min(seconds, reuse_within_max)


def _reuse_within(hints: Mapping[str, JsonValue]) -> int | None:
    seconds = as_integer(hints.get(REUSE_WITHIN))
    return None if seconds is None or seconds < 0 else seconds
