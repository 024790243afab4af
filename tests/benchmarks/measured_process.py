"""A server under measurement: on a core of its own, with the CPU time and the memory of it and its children."""

import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Measured:
    """A running server that answers on `port`."""

    name: str
    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """User and system time so far, of all its processes that are still there."""
        return sum(map(_cpu_seconds, self._processes()))

    def megabytes(self) -> float:
        """Resident memory of all its processes."""
        return sum(map(_megabytes, self._processes()))

    def _processes(self) -> list[int]:
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                parents[int(entry.name)] = _parent(entry)
        family = [self.pid]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family


@contextmanager
def running(
    name: str,
    command: Sequence[str],
    *,
    core: int,
    port: int | None = None,
    ready: str = "/health",
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Measured]:
    """Run a server on one core until the block ends. Without `port`, the server's first line ends in it.

    Raises RuntimeError where it doesn't answer `ready` with 200 within two minutes.
    """
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            ["taskset", "--cpu-list", str(core), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if port is None else errors,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        ) as process,
    ):
        try:
            if port is None:
                port = _told_port(process.stdout)
            _wait(process, port, ready)
            yield Measured(name, process.pid, port)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _told_port(output: IO[bytes] | None) -> int:
    line = b"" if output is None else output.readline()
    told = re.search(rb"(\d+)\s*$", line)
    if told is None:
        raise RuntimeError(f"no port in the server's first line: {line!r}")
    return int(told[1])


def _wait(process: subprocess.Popen[bytes], port: int, path: str) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    raise RuntimeError(f"{process.args!r} doesn't answer {path}; see its log")


def _fields(stat: Path) -> list[str]:
    """Give the fields of a process's `stat` after its name, which may hold anything."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent(process: Path) -> int:
    fields = _fields(process / "stat")
    return int(fields[1]) if fields else 0


def _cpu_seconds(pid: int) -> float:
    fields = _fields(Path(f"/proc/{pid}/stat"))
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND if fields else 0.0


def _megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    resident = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(resident[1]) / 1024 if resident else 0.0
