"""Problems that are told to people: what was wrong, where, what would be right, and the exit code.

- `UsageProblem` (2): usage, configuration, unreadable input, empty selection
- `TargetProblem` (4): the target couldn't be tested
"""

from typing import ClassVar

from cctest.verdict import Exit


class Problem(Exception):
    """Something that ends a command with one clear message.

    `where` is a file with line and column or a JSON pointer; `hint` says what would be right.
    """

    exit: ClassVar[Exit] = Exit.INTERNAL

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class UsageProblem(Problem):
    """The command was called wrongly, or its input can't be read."""

    exit = Exit.USAGE


class TargetProblem(Problem):
    """The target can't be reached, or no exchange with it can be completed."""

    exit = Exit.UNTESTABLE
