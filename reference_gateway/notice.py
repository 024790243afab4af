"""A word to the operator on standard error."""

import contextlib
import os
from typing import Final

_STDERR: Final = 2


def say(text: str) -> None:
    """Say something. That nobody can hear it is no reason to stop."""
    with contextlib.suppress(OSError):
        os.write(_STDERR, f"reference-gateway: {text}\n".encode())
