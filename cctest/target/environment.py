"""Values that come from the environment: `${NAME}` in a configuration file."""

import os
import re
from collections.abc import Mapping
from typing import Final

from cctest.problem import UsageProblem

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Environment:
    """The variables that a configuration may use; `os.environ` unless others are given."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = os.environ if variables is None else variables
        self._missing: dict[str, str] = {}

    def fill(self, text: str, where: str) -> str:
        """Put each variable's value in the place of its `${NAME}`.

        What stands in the place of a variable that is unset or empty is no value: `complete` tells of them
        all. Raises UsageProblem where a `${` begins no variable.
        """
        for name in _VARIABLE.findall(text):
            if not self._variables.get(name):
                self._missing.setdefault(name, where)
        if "${" in _VARIABLE.sub("", text):
            raise UsageProblem("`${` begins no variable", where=where, hint="write ${NAME}")
        return _VARIABLE.sub(lambda match: self._variables.get(match[1]) or f"no-value-of-{match[1]}", text)

    def complete(self) -> None:
        """Raise UsageProblem if a variable was unset or empty, and name every one with its first place."""
        if not self._missing:
            return
        told = [
            (where, f"the environment variable {self._state(name)}") for name, where in self._missing.items()
        ]
        (where, message), *others = told
        raise UsageProblem(message, where=where, hint="\n  ".join(map(": ".join, others)))

    def _state(self, name: str) -> str:
        return f"{name} is {'empty' if name in self._variables else 'not set'}"
