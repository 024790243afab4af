"""A server of ours as a child process: started, waited for, and stopped with the block that needs it.

It stops when its standard input closes, so it can't outlive us.
"""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

from cctest.problem import UsageProblem

_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 10.0
_ANNOUNCEMENT: Final = "listening on "


@contextmanager
def running(arguments: Sequence[str], what: str) -> Iterator[str]:
    """Run `python -m ARGUMENTS`, wait until it says where it listens, and give that URL.

    `what` is its name for people. Raises UsageProblem, with what it had to say, if it doesn't start.
    """
    # A file takes any amount of complaints; a pipe that nobody reads would stop the child.
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(  # noqa: S603 - our own command, no shell
            [sys.executable, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as child,
    ):
        try:
            yield _announced(child, what, complaints)
        finally:
            _stop(child)


def _announced(child: "subprocess.Popen[str]", what: str, complaints: IO[bytes]) -> str:
    if child.stdout is None:
        raise UsageProblem(f"{what} has no standard output")
    timer = threading.Timer(_START_SECONDS, child.kill)
    timer.start()
    try:
        line = child.stdout.readline().strip()
    finally:
        timer.cancel()
    if not line.startswith(_ANNOUNCEMENT):
        child.kill()
        child.wait()
        complaints.seek(0)
        complaint = complaints.read().decode("utf-8", "replace").strip()
        raise UsageProblem(f"{what} didn't start: {complaint or 'no output'}")
    return line.removeprefix(_ANNOUNCEMENT)


def _stop(child: "subprocess.Popen[str]") -> None:
    try:
        child.communicate(timeout=_STOP_SECONDS)  # closes its standard input
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
