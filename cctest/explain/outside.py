"""Names that reports have beside those of cases and vectors."""

from collections.abc import Iterator
from typing import Final

from cctest.explain.page import heading, item, line
from cctest.probe.timing import CHECK as TIMING_CHECK

_TEXTS: Final = {
    TIMING_CHECK: (
        "state of another tenant makes no response faster",
        "Compares, by rank, the times of fresh prompts with those of prompts that another tenant had "
        "computed. A clear difference is a warning. Where time doesn't even tell the caller's own warm "
        "prompts from cold ones, the check passes vacuously.",
        "cctest probe --config target.yaml --timing 40",
    ),
    "preflight#capabilities": (
        "what the target advertises",
        "Before any case the capabilities are asked for, with a credential and without one. No check: "
        "readings name it as the place where they were seen.",
        "cctest doctor --config target.yaml",
    ),
}

OUTSIDE: Final = tuple(_TEXTS)


def outside_text(name: str) -> Iterator[str]:
    """Yield the lines of a name that is no case's and no vector's."""
    title, text, command = _TEXTS[name]
    yield from line(f"{name}: {title}")
    yield from line(text)
    yield from heading("Reproduce")
    yield from item("$", command)
