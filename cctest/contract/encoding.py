"""From bytes to text: UTF-8 without a byte order mark."""

from typing import Final

from cctest.contract.positions import LineTable
from cctest.contract.source import Fault, Position, SourceError

_BOM: Final = "\ufeff"


def decode(data: bytes | str) -> str:
    """Decode a document. Text that comes as a string is taken as it is.

    Raises SourceError with the place of the first bad byte or of a byte order mark.
    """
    text = data if isinstance(data, str) else _decode(data)
    if text.startswith(_BOM):
        message = "the text starts with a byte order mark; save it as UTF-8 without one"
        raise SourceError(Fault("", message, position=Position(1, 1)))
    return text


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        message = f"byte 0x{data[error.start]:02X} is not UTF-8 here; documents must be UTF-8"
        position = LineTable(before).position(len(before))
        raise SourceError(Fault("", message, position=position)) from None
