"""Cases, checks and baselines to hold against each other."""

from datetime import date
from pathlib import Path
from typing import Any

from cctest.baseline.file import Baseline, read_baseline
from cctest.contract import strict_yaml
from cctest.datafile import DataFile
from cctest.probe.case import Case, Expectation
from cctest.verdict import Check, Result

TODAY = date(2026, 12, 1)
AXES = {"stream": ("plain", "streamed"), "place": ("tools", "messages")}
CELLS = tuple({"stream": stream, "place": place} for stream in AXES["stream"] for place in AXES["place"])


def case(name: str, *checks: str, two_ended: bool = False) -> Case:
    expectations = tuple(Expectation(check, "answered", ("RET-3",), {}) for check in checks)
    return Case(name, name, ("RET-3",), {}, {}, (), expectations, axes=AXES, two_ended=two_ended)


CASES = (case("alpha", "x", "y"), case("beta", "x"), case("gamma", "x", two_ended=True))


def ended(check: str, *results: Result) -> tuple[Check, ...]:
    """The check in every cell, with one result for all, or one for each."""
    each = results * len(CELLS) if len(results) == 1 else results
    return tuple(
        Check(check, ("RET-3",), result, f"was {result}", cell)
        for cell, result in zip(CELLS, each, strict=True)
    )


def full_run(**results: Result) -> tuple[Check, ...]:
    """Every one-ended check in every cell: a pass unless told otherwise, as in `alpha_x=Result.FAIL`."""
    checks: tuple[Check, ...] = ()
    for name in ("alpha#x", "alpha#y", "beta#x"):
        checks += ended(name, results.get(name.replace("#", "_"), Result.PASS))
    return checks


def parsed(text: str) -> Baseline:
    return read_baseline(DataFile(Path("known.yaml"), strict_yaml.parse(text)))


def entry(check: str, **members: Any) -> str:
    """One entry as YAML."""
    told = {"check": check, "reason": "slow", "link": "https://example.org/7", "expires": "2027-01-31"}
    lines = [f"{name}: {value}" for name, value in {**told, **members}.items()]
    return "  - " + "\n    ".join(lines) + "\n"


def baseline(*entries: str) -> Baseline:
    return parsed(f"version: 1\nfailures:\n{''.join(entries)}" if entries else "version: 1\nfailures: []\n")
