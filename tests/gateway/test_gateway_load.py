"""64 clients of 8 tenants on shared prompts: nobody reads over a boundary, nothing breaks, no memory leaks.

Five seconds for every change, a minute in full; tests/live has the same in front of a real vLLM.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from cctest.instrument.client import running_engine
from cctest.instrument.settings import Settings
from gateway.crowd import Crowd, Report, Someone
from gateway.engine import MODEL, forwarding
from gateway.process import running
from reference_gateway.callers.token_hash import hash_token

TENANTS, PRINCIPALS, SESSIONS, CLIENTS = 8, 2, 2, 2
CAPACITY = 16_384
"""Blocks of the cache: few enough to be full long before the end, many enough for the rounds that overlap."""
MIB = 1024 * 1024
FLAT = 8 * MIB
"""Growth that an allocator's habits account for. Were every body kept, it would be several times that."""

EXTENTS = [
    pytest.param(5, id="brief"),
    pytest.param(60, id="minute", marks=[pytest.mark.full, pytest.mark.timeout(300)]),
]


def everyone() -> list[Someone]:
    return [
        Someone(f"t{tenant}", f"p{principal}", f"s{session}", client, f"token-{tenant}-{principal}-{session}")
        for tenant in range(TENANTS)
        for principal in range(PRINCIPALS)
        for session in range(SESSIONS)
        for client in range(CLIENTS)
    ]


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    known = {one.token: one for one in everyone()}
    entries = [
        {
            "hash": str(hash_token(token, bytes(16))),
            "tenant": one.tenant,
            "principal": one.principal,
            "session": one.session,
        }
        for token, one in known.items()
    ]
    file = tmp_path / "credentials.json"
    file.write_text(json.dumps({"credentials": entries}))
    return file


class Memory:
    """The resident memory of a process in bytes, looked at now and then."""

    def __init__(self, process: int) -> None:
        self._file = Path(f"/proc/{process}/statm")
        self._done = threading.Event()
        self.samples: list[int] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        try:
            yield
        finally:
            self._done.set()
            watcher.join()

    @property
    def growth(self) -> float:
        """Bytes from the middle of the run to its end."""
        quarter = len(self.samples) // 4
        return median(self.samples[-quarter:]) - median(self.samples[quarter : 2 * quarter])

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self.samples.append(int(self._file.read_text().split()[1]) * os.sysconf("SC_PAGESIZE"))


@contextmanager
def embedded(credentials: Path) -> Iterator[tuple[str, str, int]]:
    with running("--capacity-blocks", str(CAPACITY), credentials=credentials) as (url, process):
        yield url, "embedded", process.pid


@contextmanager
def salted(credentials: Path, *options: str) -> Iterator[tuple[str, str, int]]:
    with (
        running_engine(Settings(model=MODEL)) as engine,
        running(*forwarding(engine, credentials.parent), *options, credentials=credentials) as (url, process),
    ):
        yield url, MODEL, process.pid


def check(report: Report, memory: Memory, seconds: int) -> None:
    print(f"{report}; memory {memory.samples[-1] / MIB:.1f} MiB, grown by {memory.growth / MIB:.1f}")
    assert report.wrong == []
    assert set(report.statuses) == {200}
    assert min(report.cold, report.warm, report.contested) > 0
    assert len(set(report.canaries)) == len(report.canaries) == report.requests
    if seconds >= 60:
        assert memory.growth < FLAT


@pytest.mark.parametrize("seconds", EXTENTS)
def test_on_the_embedded_engine(credentials: Path, seconds: int) -> None:
    with embedded(credentials) as (url, model, process):
        memory = Memory(process)
        with memory.watched():
            report = Crowd(url, model, everyone()).run(seconds)
    check(report, memory, seconds)


@pytest.mark.parametrize("seconds", EXTENTS)
@pytest.mark.parametrize(
    ("max_age", "options"),
    [(None, ()), (600, ("--max-age", "generations", "--engine-deadline", "60"))],
    ids=["unbounded", "generations"],
)
def test_in_front_of_an_engine(
    credentials: Path, seconds: int, max_age: int | None, options: tuple[str, ...]
) -> None:
    with salted(credentials, *options) as (url, model, process):
        memory = Memory(process)
        with memory.watched():
            report = Crowd(url, model, everyone(), max_age=max_age).run(seconds)
    check(report, memory, seconds)
