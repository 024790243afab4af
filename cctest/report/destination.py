"""Where reports go: whole files or none, and streams that may close at any time.

A reader that closes the pipe early (`| head`) is no fault of anybody: the rest of the output is dropped and
the exit code stays. Output that can't be written for another reason is a problem that is told.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from cctest.problem import UsageProblem

STDOUT: Final = "-"
"""The destination that stands for standard output."""


def check_destinations(paths: Sequence[str], inputs: Iterable[str | Path | None] = ()) -> None:
    """Find out before a run that its reports can be written after it, and replace none of `inputs`.

    Raises UsageProblem for a folder that doesn't exist or can't be written to, for a directory, for two
    reports in one place, and for one in the place of an input.
    """
    read = [Path(name) for name in inputs if name is not None]
    for place, path in enumerate(paths):
        if path in paths[:place] or (
            path != STDOUT and Path(path).resolve() in map(_resolved, paths[:place])
        ):
            raise UsageProblem("two reports can't go to one place", where=_name(path))
        if path != STDOUT:
            _check_file(Path(path))
            if any(_is_same(Path(path), each) for each in read):
                raise UsageProblem(
                    "this file is read, and would be replaced by the result",
                    where=path,
                    hint="give the result a name of its own",
                )


def write_report(path: str, text: str) -> None:
    """Write a whole report as UTF-8, or nothing.

    An existing file is replaced in one step; a device or a pipe is written to. Raises UsageProblem.
    """
    if path == STDOUT:
        say(text)
        return
    try:
        _write_file(Path(path).resolve(), text.encode("utf-8", "backslashreplace"))
    except BrokenPipeError:
        return
    except OSError as error:
        raise UsageProblem(f"can't be written: {error.strerror}", where=path) from None


def say(text: str) -> None:
    """Write text to standard output.

    Raises UsageProblem if that fails for another reason than a closed pipe.
    """
    try:
        _write_stream(sys.stdout, text)
    except OSError as error:
        raise UsageProblem(f"can't be written: {error.strerror}", where="standard output") from None


def complain(text: str) -> None:
    """Write text to standard error, if anybody listens there."""
    with suppress(OSError):
        _write_stream(sys.stderr, text)


def _resolved(path: str) -> Path | None:
    return None if path == STDOUT else Path(path).resolve()


def _name(path: str) -> str:
    return "standard output" if path == STDOUT else path


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageProblem("is a directory", where=str(path), hint="give the name of a file")
    target = path.resolve()
    if _is_special(target):
        if not os.access(target, os.W_OK):
            raise UsageProblem("can't be written to", where=str(path))
    elif not target.parent.is_dir():
        raise UsageProblem(f"there is no folder {str(path.parent)!r}", where=str(path))
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        raise UsageProblem(f"the folder {str(path.parent)!r} can't be written to", where=str(path))


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two names, through links too, are of one file; a device can't be replaced."""
    try:
        return path.is_file() and path.samefile(other)
    except OSError:
        return False


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _write_file(path: Path, content: bytes) -> None:
    if _is_special(path):
        with path.open("wb", buffering=0) as device:
            _write_all(device.fileno(), content)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _write_stream(stream: TextIO | None, text: str) -> None:
    """Write and flush. After a failure the stream leads nowhere, or the flush at exit would fail again."""
    if stream is None:
        return
    try:
        stream.write(
            text.encode(stream.encoding or "utf-8", "backslashreplace").decode(stream.encoding or "utf-8")
        )
        stream.flush()
    except OSError as error:
        divert(stream)
        if not isinstance(error, BrokenPipeError):
            raise


def divert(stream: TextIO) -> None:
    """Lead a broken stream nowhere."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
        stream.flush()
