"""Which part of an earlier run to do again: the cells of one case that didn't pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cctest.probe.case import Case
from cctest.probe.cells import Cell, product
from cctest.probe.timing import CHECK as TIMING_CHECK
from cctest.problem import UsageProblem
from cctest.report.model import Report
from cctest.selection import select
from cctest.verdict import Check, Result


@dataclass(frozen=True, slots=True)
class Replay:
    """One case, the cells of it that are run again, and what its checks came to in them."""

    case: Case
    cells: tuple[Mapping[str, str], ...]
    before: tuple[Check, ...]

    def wants(self, cell: Cell) -> bool:
        """Whether the cell is run again."""
        return cell.at in self.cells

    def compare(self, after: Sequence[Check]) -> Iterator[tuple[Check, Check]]:
        """Yield each check as it was and as it is."""
        now = {(check.id, frozenset(check.cell.items())): check for check in after}
        for check in self.before:
            latest = now.get((check.id, frozenset(check.cell.items())))
            if latest is not None:
                yield check, latest


def replay_of(report: Report, name: str, cases: Sequence[Case], *, everything: bool = False) -> Replay:
    """Choose what to run again for a case or a check of a report.

    Only cells in which something didn't pass, unless `everything`; a check's name leaves out the other
    checks of its case. Raises UsageProblem for a name that the report doesn't have, where all passed, and
    where the suite no longer has the case or the cell.
    """
    if report.command != "probe":
        raise UsageProblem(f"this is a report of `cctest {report.command}`: it has nothing to send again")
    known = [each for check in report.checks for each in (check.id.partition("#")[0], check.id)]
    (wanted,) = select([name], known, "case or check in the report")
    before = [check for check in report.checks if wanted in (check.id, check.id.partition("#")[0])]
    case = next((case for case in cases if case.id == wanted.partition("#")[0]), None)
    if case is None and wanted.partition("#")[0] == TIMING_CHECK.partition("#")[0]:
        raise UsageProblem("the timing check is no case", hint="`cctest probe --timing N` runs it again")
    if case is None:
        raise UsageProblem(f"this suite has no case {wanted!r} any more", hint=_OTHER_SUITE)
    chosen = [check.cell for check in before if everything or check.result is not Result.PASS]
    if not chosen:
        raise UsageProblem(f"{wanted} passed in every cell", hint="--all runs it again all the same")
    cells = [cell for position, cell in enumerate(chosen) if cell not in chosen[:position]]
    gone = [cell for cell in cells if dict(cell) not in product(case.axes)]
    if gone:
        axes = ", ".join(f"{axis}={value}" for axis, value in gone[0].items())
        raise UsageProblem(f"{case.id} has no cell {axes} any more", hint=_OTHER_SUITE)
    if "#" in wanted:
        case = case.without([check for check in case.checks if check != wanted])
    return Replay(case, tuple(cells), tuple(check for check in before if check.cell in cells))


_OTHER_SUITE = "the report was made with another version of the suite"
