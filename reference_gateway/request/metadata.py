"""Members of a body that say who asks or what for. Nothing is done with them, so little room is enough."""

import json
from collections.abc import Mapping
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.refusal import RefusalError

METADATA_LIMIT: Final = 16_384
"""Most characters in each of these members, spelt as JSON; OpenAI's own bounds allow about 10,000."""

_NAMES: Final = ("metadata", "user", "user_id", "safety_identifier", "prompt_cache_key", "session_id")


def refuse_large_metadata(envelope: Mapping[str, JsonValue]) -> None:
    """Refuse a body whose metadata are too large. Raises RefusalError (400)."""
    for name in _NAMES:
        if name in envelope and _size(envelope[name]) > METADATA_LIMIT:
            message = f"/{name}: may have {METADATA_LIMIT} characters"
            raise RefusalError(400, "metadata_too_large", message, f"/{name}")


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
