"""The JSON of a body, or a refusal that says what is wrong with it, and where.

To find the place, the text is read again by a slow reader. A large body isn't: a second of work for a refusal
would be a gift to whoever means harm. What the quick reader says of it has to do.
"""

from typing import Final

from cctest.contract import quick_json, strict_json
from cctest.contract.source import Fault, JsonValue, SourceError
from reference_gateway.refusal import RefusalError, refused_intent
from reference_gateway.request.misplaced import CACHE_INTENT

READ_AGAIN: Final = 65_536
"""Most bytes of a body that is read again to find the place of a fault."""


def read_json(body: bytes) -> JsonValue:
    """Read a body. Raises RefusalError."""
    if len(body) > READ_AGAIN:
        return _read_large(body)
    try:
        return strict_json.loads(body)
    except SourceError as error:
        fault = error.fault
        # A name given twice may hide an intent: it is judged as one wherever it stands (READ-3).
        if "INT-10" in fault.rules or CACHE_INTENT in fault.pointer.split("/"):
            raise refused_intent((fault,)) from error
        raise _invalid(fault) from error


def _read_large(body: bytes) -> JsonValue:
    try:
        return quick_json.loads(body, max_depth=strict_json.MAX_DEPTH)
    except quick_json.DoubtError as doubt:
        fault = Fault("", str(doubt), ("INT-10",) if doubt.duplicate else ())
        raise refused_intent((fault,)) if doubt.duplicate else _invalid(fault) from None


def _invalid(fault: Fault) -> RefusalError:
    return RefusalError(400, "invalid_json", f"the body is not valid JSON: {fault}", fault.pointer or None)
