"""What people hand in, read whole and never without bound: a regular file or a pipe, and standard input."""

import stat
import sys
from pathlib import Path
from typing import Final

from cctest.problem import UsageProblem

DATA_LIMIT: Final = 10_000_000
"""Most bytes of a file that people write."""

RESULT_LIMIT: Final = 100_000_000
"""Most bytes of a file in which a command keeps what it found out."""


def read(
    path: Path, limit: int = DATA_LIMIT, *, pipe: bool = True, where: str = "", hint: str = "name a file"
) -> bytes:
    """Read a regular file, or a pipe where `pipe` permits it, of at most `limit` bytes.

    Raises UsageProblem if it is anything else (a device may have no end, and to read it may do something), is
    larger, or can't be read. `where` names it if not by its path, `hint` says what is wanted instead.
    """
    where = where or str(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UsageProblem("this is a directory", where=where, hint=hint)
        if not stat.S_ISREG(status.st_mode) and not (pipe and stat.S_ISFIFO(status.st_mode)):
            raise UsageProblem("this is not a regular file", where=where, hint=hint)
        if status.st_size > limit:
            raise _too_large(limit, where)
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=where) from None
    return _within(content, limit, where)


def read_stdin(limit: int = DATA_LIMIT) -> bytes:
    """Read standard input to its end.

    Raises UsageProblem if it has more than `limit` bytes, or can't be read.
    """
    if sys.stdin is None:
        raise UsageProblem("is closed", where="standard input")
    try:
        content = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where="standard input") from None
    return _within(content, limit, "standard input")


def _within(content: bytes, limit: int, where: str) -> bytes:
    if len(content) > limit:
        raise _too_large(limit, where)
    return content


def _too_large(limit: int, where: str) -> UsageProblem:
    return UsageProblem(f"larger than {limit:,} bytes", where=where, hint="is this the right file?")
