"""A conversation with an adapter: one process for the run, started again a few times if it breaks."""

import shlex
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from cctest.adapter.process import Child, ChildError
from cctest.adapter.wire import PROTOCOL, Operation, OutOfStepError, Request, read_answer, shown
from cctest.problem import TargetProblem, UsageProblem
from cctest.vectors.implementation import AnswerError, NotOffered
from cctest.verdict import Claim

RESTARTS: Final = 3
"""So often an adapter is started again that broke; after that it isn't asked any more."""


class Session:
    """An adapter process, to be used as a context. `seconds` bounds the wait for each answer.

    Raises UsageProblem for a command that can't be started, TargetProblem if the adapter can't be talked to.
    """

    def __init__(self, command: str, seconds: float) -> None:
        self._arguments = _arguments(command)
        self._seconds = seconds
        self._child: Child | None = None
        self._breaks = 0
        self._last_id = 0
        self._asked: list[str] = []
        self._claim = Claim("", "")
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        try:
            self._start()
        except OSError as error:
            raise UsageProblem(
                f"the adapter can't be started: {error.strerror}",
                where=self._arguments[0],
                hint="--adapter takes a command line; there is no shell, so write `sh -c '...'` for one",
            ) from None
        except (AnswerError, NotOffered) as error:
            raise TargetProblem(str(error), hint="spec/adapter.md says what an adapter answers") from None
        self._asked.clear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if error is not None:
            child.kill()
        elif not child.close(self._seconds):
            self._notes.append("the adapter didn't end when its input did, and was killed")
        if words := shown(child.complaints[-400:]):
            self._notes.append(f"the adapter's last words on standard error: {words}")

    @property
    def claim(self) -> Claim:
        """What the adapter said that it is."""
        return self._claim

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the whole conversation, once it is over."""
        if not self._breaks:
            return tuple(self._notes)
        return (f"the adapter broke {_times(self._breaks)}", *self._notes)

    def asked(self) -> tuple[str, ...]:
        """Give the request lines since the last call."""
        lines = tuple(self._asked)
        self._asked.clear()
        return lines

    def ask(self, operation: Operation, **members: Any) -> dict[str, Any]:
        """Ask and give the result. Raises NotOffered, or AnswerError where there was no proper answer."""
        if self._child is None:
            if self._breaks > RESTARTS:
                raise AnswerError(f"not asked: the adapter broke {_times(self._breaks)}, and was given up")
            self._start()
        return self._exchange(operation, members)

    def _start(self) -> None:
        """Start the process and greet it."""
        self._child = Child(self._arguments)
        try:
            self._claim = _claim(self._exchange(Operation.HELLO, {"protocol": PROTOCOL}))
        except (AnswerError, NotOffered):
            self._break()
            raise

    def _exchange(self, operation: Operation, members: Mapping[str, Any]) -> dict[str, Any]:
        if self._child is None:
            raise AnswerError("the adapter isn't running")
        self._last_id += 1
        request = Request(self._last_id, operation, members)
        self._asked.append(request.line)
        try:
            line = self._child.exchange(f"{request.line}\n".encode("ascii"), self._seconds)
            return read_answer(request, line)
        except OutOfStepError as error:
            self._break()
            raise AnswerError(str(error)) from None
        except ChildError as error:
            words = shown(self._child.complaints[-400:])
            said = f"; standard error: {words}" if words else ""
            self._break()
            raise AnswerError(f"the adapter {error}{said}") from None

    def _break(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
            self._breaks += 1


def _claim(greeting: Mapping[str, Any]) -> Claim:
    if greeting["protocol"] != PROTOCOL:
        raise AnswerError(
            f"the adapter speaks version {greeting['protocol']} of the protocol, not {PROTOCOL}"
        )
    return Claim(greeting["name"], greeting["version"])


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _arguments(command: str) -> Sequence[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageProblem(f"the adapter's command line can't be read: {error}", where=command) from None
    if not arguments:
        raise UsageProblem("the adapter's command line is empty", hint="for example 'node adapter.mjs'")
    return arguments
