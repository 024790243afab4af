"""Text from elsewhere made safe to show: no escape sequences, no reversed text, nothing unfit for XML."""

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # controls of the writing direction
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"  # lone surrogates and what is no character
)


def plain(text: str) -> str:
    r"""Write each unsafe character as an escape, such as `\x1b` or `\u202e`."""
    return _UNSAFE.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
