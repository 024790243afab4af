"""Which fragments count as similar in the embedded engine: those of one class, and nothing is guessed.

A class is the fragment's rendering without the words at its beginning. A test, or an operator, says how many
words may differ; with 0 a fragment is similar to nothing but itself.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

SimilarityClass: TypeAlias = Callable[[str], bytes]
"""Gives the class of a rendered fragment."""

OTHER_WORDS: Final = 8
"""Words at the beginning in which similar fragments may differ, unless said otherwise."""
COMMON_WORDS: Final = 32
"""Least words that they have in common; shorter ones are similar to nothing but themselves."""

_WORD: Final = re.compile(r"\S+")


def but_for_first_words(count: int) -> SimilarityClass:
    """Make the classes of fragments that are the same but for their first `count` words."""

    def kind(rendered: str) -> bytes:
        words = _WORD.findall(rendered)
        if count == 0 or len(words) < count + COMMON_WORDS:
            return rendered.encode()
        return b"\0" + " ".join(words[count:]).encode()

    return kind
