"""Progress while a run lasts: on standard error, and only where a person looks at it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cctest.verdict import Check, Result


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[int, Sequence[Check]], None]]:
    """Give a function that is told how far the run has come: how many parts it has, and a part's checks.

    The first call announces the number of parts; each later one says that one more is done. Nothing is
    shown when `quiet`, or when standard error is no terminal.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _parts, _checks: None
        return
    counts: Counter[Result] = Counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(parts: int, checks: Sequence[Check]) -> None:
            if bar.tasks[0].total is None:
                bar.update(task, total=parts)
                return
            counts.update(check.result for check in checks)
            said = ", ".join(f"{counts[result]} {result}" for result in Result if counts[result])
            bar.update(task, advance=1, description=said)

        yield tell
