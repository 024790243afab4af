"""`cctest probe --dry-run`: the estimate in a table and in words."""

from collections.abc import Iterator
from typing import Final

from cctest.probe.estimate import BYTES_PER_TOKEN, REQUEST_SECONDS, SURVEY_REQUESTS, Cost, Estimate
from cctest.target.rate import Rate

_COLUMNS: Final[tuple[str, ...]] = ("group", "cells", "requests", "tokens", "longest wait")


def estimate_text(estimate: Estimate, rate: Rate) -> str:
    """Tell an estimate to people."""
    rows = [_COLUMNS]
    rows += [_row(group, cost) for group, cost in sorted(estimate.groups.items())]
    rows.append(_row("in all", estimate.total))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
    return "\n".join([*lines, "", *_sentences(estimate, rate)]) + "\n"


def _row(name: str, cost: Cost) -> tuple[str, ...]:
    wait = f"{cost.wait:.1f} s" if cost.wait else "-"
    return name, f"{cost.cells:,}", f"{cost.requests:,}", f"{cost.tokens:,}", wait


def _sentences(estimate: Estimate, rate: Rate) -> Iterator[str]:
    total, attempts = estimate.total, estimate.attempts
    yield f"Up to {SURVEY_REQUESTS} requests are for finding out what the target offers and how it behaves."
    if total.silent:
        yield (
            f"{total.silent:,} cells send nothing: they need a caller that the configuration lacks, or an "
            "instrumented engine."
        )
    limit = f", at most {rate.requests_per_second:g} a second" if rate.requests_per_second else ""
    yield (
        f"About {estimate.seconds:,.0f} s, if a request takes {REQUEST_SECONDS:g} s (an assumption), with "
        f"{estimate.at_a_time} at a time{limit}."
    )
    yield (
        f"Tokens are taken to be a quarter of the bytes ({BYTES_PER_TOKEN} bytes a token); answers come to "
        f"{estimate.answer_tokens:,} more at most."
    )
    yield (
        "What isn't decided at once is tried again with fresh texts; few cells are, as a rule. With "
        f"{attempts} attempts at each, the most, it would be {total.requests * attempts:,} requests, "
        f"{total.tokens * attempts:,} tokens and {estimate.seconds * attempts:,.0f} s."
    )
    yield "Nothing was sent."
