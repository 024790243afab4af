"""The checks of a probe as items of a pytest session.

What there is to check is known beforehand, so collecting sends nothing. The first item that runs probes the
target once, for every item that was selected.
"""

import secrets
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import click
import pytest

from cctest.catalogue import load_catalogue
from cctest.cli.target import ChosenTarget
from cctest.probe.cells import Cell, cells_of
from cctest.probe.choice import choose
from cctest.probe.load import load_cases
from cctest.probe.run import ProbePlan, run_probe
from cctest.problem import Problem
from cctest.report.model import Report
from cctest.report.terminal import check_text, terminal_text
from cctest.selection import Wanted
from cctest.verdict import Check, Result

GROUP: Final = "cctest"
"""First part of every item's node id, in the place of a file."""

_ONE_WORKER: Final = ("no", "loadfile", "loadscope")
"""Ways of pytest-xdist to distribute items that keep those of one file together."""


class ConformanceWarning(UserWarning):
    """A SHOULD was missed, or something happened that no rule covers."""


@dataclass(slots=True)
class ProbeRun:
    """The one probe of a session: what it is to do and, once done, what came of it."""

    chosen: ChosenTarget
    cells: tuple[Cell, ...]
    cases: int
    seed: int
    jobs: int
    engine: str | None
    full: bool
    report: Report | None = None
    problem: Problem | None = None
    _found: dict[tuple[str, frozenset[tuple[str, str]]], Check] = field(default_factory=dict)

    def ensure(self, wanted: Sequence[Cell]) -> None:
        """Probe in the wanted cells, unless that was done already."""
        if self.report is not None or self.problem is not None:
            return
        keys = {_cell_key(cell) for cell in wanted}
        try:
            with self.chosen.opened() as configuration:
                plan = ProbePlan(
                    configuration=configuration,
                    cases=tuple({cell.case.id: cell.case for cell in wanted}.values()),
                    total=self.cases,
                    seed=self.seed,
                    jobs=self.jobs,
                    full=self.full,
                    only=lambda cell: _cell_key(cell) in keys,
                    engine=self.engine,
                )
                self.report = run_probe(plan, lambda _: None)
        except Problem as problem:
            self.problem = problem
            return
        self._found = {(check.id, frozenset(check.cell.items())): check for check in self.report.checks}

    def check(self, name: str, cell: Cell) -> Check | str:
        """Give what became of a check, or say why nothing did."""
        if self.report is None:
            return f"the target couldn't be probed: {self.problem}"
        found = self._found.get((name, frozenset(cell.at.items())))
        return found or "; ".join(self.report.verdict.reasons) or "the probe gave no result for this check"


def _cell_key(cell: Cell) -> tuple[str, frozenset[tuple[str, str]]]:
    return cell.case.id, frozenset(cell.at.items())


class Conformance(pytest.Collector):
    """All checks of one target."""

    def __init__(self, *, run: ProbeRun, **others: object) -> None:
        super().__init__(**others)  # type: ignore[arg-type] # pytest's own arguments, handed on
        self._run = run

    def collect(self) -> "Iterator[CheckItem]":
        """Yield one item per check and cell; sends nothing."""
        for cell in self._run.cells:
            axes = ",".join(f"{axis}={value}" for axis, value in cell.at.items())
            for check in cell.case.checks:
                name = f"{check}[{axes}]" if axes else check
                yield CheckItem.from_parent(self, name=name, check=check, cell=cell, run=self._run)


class CheckItem(pytest.Item):
    """One check in one cell.

    pass is passed; warn passed with a warning; unsupported skipped, with the target's own words; fail failed.
    Inconclusive and error are failed too, so that a gate isn't green by accident.
    """

    def __init__(self, *, check: str, cell: Cell, run: ProbeRun, **others: object) -> None:
        super().__init__(**others)  # type: ignore[arg-type] # pytest's own arguments, handed on
        self.check = check
        self.cell = cell
        self._run = run

    def setup(self) -> None:
        """Probe the target, if no item has done so yet."""
        items = [item for item in self.session.items if isinstance(item, CheckItem)]
        self._run.ensure([item.cell for item in items])

    def runtest(self) -> None:
        """End as the check did."""
        check = self._run.check(self.check, self.cell)
        if isinstance(check, str):
            pytest.fail(check, pytrace=False)
        match check.result:
            case Result.PASS:
                return
            case Result.WARN:
                warnings.warn(ConformanceWarning(check_text(check, _wordings())), stacklevel=1)
            case Result.UNSUPPORTED:
                pytest.skip(check.message)
            case Result.INCONCLUSIVE if self.config.getoption("--cctest-allow-inconclusive"):
                pytest.xfail(check.message)
            case _:
                pytest.fail(check_text(check, _wordings()), pytrace=False)

    def reportinfo(self) -> tuple[str, None, str]:
        """Name the item as the command line does."""
        return GROUP, None, self.name


@cache
def _wordings() -> dict[str, str]:
    return {name: rule.text for name, rule in load_catalogue().items()}


_RUN: Final = pytest.StashKey[ProbeRun]()


def pytest_configure(config: pytest.Config) -> None:
    """Read the target file and choose the checks; what is wrong with either is a usage error of pytest's."""
    if getattr(config.option, "dist", "no") not in _ONE_WORKER:
        raise pytest.UsageError(
            "with pytest-xdist each worker would probe the target for itself: add --dist loadfile, which "
            "keeps all checks on one worker (--cctest-jobs says how many exchanges are under way at a time)"
        )
    try:
        config.stash[_RUN] = _planned(config)
    except Problem as problem:
        raise pytest.UsageError(str(problem)) from None
    except click.UsageError as error:
        raise pytest.UsageError(error.format_message()) from None


def _planned(config: pytest.Config) -> ProbeRun:
    option = config.getoption
    chosen = ChosenTarget(
        option("--cctest-target"),
        option("--cctest-config"),
        option("--cctest-model"),
        bundled=False,
        insecure=False,
    )
    chosen.read()
    everything = load_cases()
    filters = (option(f"--cctest-{name}") for name in ("case", "rule", "group", "exclude"))
    cases = choose(everything, Wanted(*filters))
    engine, full, seed = option("--cctest-engine"), option("--cctest-full"), option("--cctest-seed")
    return ProbeRun(
        chosen=chosen,
        cells=tuple(
            cells_of((case for case in cases if engine is not None or not case.two_ended), full=full)
        ),
        cases=len(everything),
        seed=secrets.randbelow(2**32) if seed is None else seed,
        jobs=option("--cctest-jobs"),
        engine=engine,
        full=full,
    )


def pytest_report_header(config: pytest.Config) -> str:
    """Say what will be probed."""
    run = config.stash[_RUN]
    configuration = run.chosen.read()
    return "\n".join([f"cctest: {configuration.target}, seed {run.seed}", *configuration.notes()])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Put the checks behind what the session collects by itself."""
    report = yield
    if isinstance(collector, pytest.Session) and report.passed:
        run = collector.config.stash[_RUN]
        report.result = [
            *(report.result or ()),
            Conformance.from_parent(collector, name=GROUP, nodeid=GROUP, run=run),
        ]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with the probe's own verdict, which knows more than the sum of its checks."""
    report = terminalreporter.config.stash[_RUN].report
    if report is not None:
        terminalreporter.write_sep("-", "cctest")
        terminalreporter.write(terminal_text(report, {}, quiet=True))
