"""Running many cells at once so that their waits overlap.

A cell is a generator: it yields the monotonic instant (seconds) before which it has nothing to do, and
returns its result. A waiting cell occupies no worker, so the whole run takes the longest single wait plus
the work, not the sum of the waits. A cell that may go on does so before another one begins: what it wants to
see may not be there for long.
"""

import heapq
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Task = Generator[float, None, T]


@dataclass(slots=True)
class _Agenda(Generic[T]):
    """Tasks that have still to begin, and, by the instant at which they may go on, those that wait."""

    beginning: deque[tuple[int, Task[T]]]
    pending: int
    waiting: list[tuple[float, int, Task[T]]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    stopped: bool = False

    def put(self, ready: float, order: int, task: Task[T]) -> None:
        with self.changed:
            heapq.heappush(self.waiting, (ready, order, task))
            self.changed.notify()

    def take(self) -> tuple[int, Task[T]] | None:
        """Block until a task may go on; None once nothing is left to do."""
        with self.changed:
            while self.pending and not self.stopped:
                delay = self.waiting[0][0] - time.monotonic() if self.waiting else None
                if delay is not None and delay <= 0:
                    _, order, task = heapq.heappop(self.waiting)
                    return order, task
                if self.beginning:
                    return self.beginning.popleft()
                self.changed.wait(delay)
            return None

    def finish_one(self) -> None:
        with self.changed:
            self.pending -= 1
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


def run_overlapped(tasks: Sequence[Task[T]], jobs: int) -> Iterator[T]:
    """Run `tasks` on `jobs` threads and yield their results as they come.

    An exception in a task ends the run and is raised here. Leaving the iterator early stops the workers
    after the exchange that each of them is in.
    """
    agenda: _Agenda[T] = _Agenda(deque(enumerate(tasks)), len(tasks))
    results: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()
    workers = [threading.Thread(target=_work, args=(agenda, results), daemon=True) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    try:
        for _ in tasks:
            yield results.get()()
    finally:
        agenda.stop()


def _work(agenda: _Agenda[T], results: "queue.SimpleQueue[Callable[[], T]]") -> None:
    while (item := agenda.take()) is not None:
        order, task = item
        try:
            agenda.put(next(task), order, task)
        except StopIteration as finished:
            results.put(_returning(finished.value))
            agenda.finish_one()
        except BaseException as error:  # raised again where the results are read
            results.put(_raising(error))
            agenda.finish_one()


def _returning(value: T) -> Callable[[], T]:
    return lambda: value


def _raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail
