"""Names that nothing else has and nobody can guess: random bits, asked of the system many at a time.

Asking for each by itself costs more than the planning of a request does.
"""

import os
from typing import Final

_DRAWN: Final = 128
"""Names drawn at a time."""


class Nonces:
    """Hexadecimal names of `size` random bytes each, for any thread that asks."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._ready: list[str] = []

    def __call__(self) -> str:
        """Give a name that was never given before."""
        while True:
            try:
                return self._ready.pop()  # in one step, so that no two threads get the same
            except IndexError:
                drawn = os.urandom(self._size * _DRAWN)
                self._ready += (
                    drawn[start : start + self._size].hex() for start in range(0, len(drawn), self._size)
                )
