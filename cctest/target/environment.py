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

    def fill(self, text: str, where: str) -> str:
        """Put each variable's value in the place of its `${NAME}`.

        Raises UsageProblem where a variable is unset or empty, or a `${` begins no variable.
        """
        for name in _VARIABLE.findall(text):
            if not self._variables.get(name):
                state = "empty" if name in self._variables else "not set"
                raise UsageProblem(f"the environment variable {name} is {state}", where=where)
        if "${" in _VARIABLE.sub("", text):
            raise UsageProblem("`${` begins no variable", where=where, hint="write ${NAME}")
        return _VARIABLE.sub(lambda match: self._variables[match[1]], text)
