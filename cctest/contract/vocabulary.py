"""The closed vocabularies of the contract, each in its order of strictness where the rules give one."""

from enum import StrEnum
from typing import Final

SUPPORTED_VERSIONS: Final = (1,)
"""Versions of the contract that this core understands (INT-4)."""

LABEL_LIMIT: Final = 256
"""Most characters in an `id` or a `namespace`, counted as code points (INT-5, INT-6; READ-4)."""


class RetentionMode(StrEnum):
    """May state derived from the fragment outlive the request? (RET-1, RET-2)."""

    ALLOW = "allow"
    FORBID = "forbid"


class Reuse(StrEnum):
    """What may be read instead of computed (REU-1..3), widest last."""

    NONE = "none"
    EXACT = "exact"
    APPROXIMATE = "approximate"

    __hash__ = str.__hash__  # that of enumerations is written in Python, and these are looked up a lot

    @property
    def rank(self) -> int:
        """Position in the order of CMP-4; the smaller one wins."""
        return _REUSE_ORDER[self]


class Scope(StrEnum):
    """Sharing boundaries (SHR-1), narrowest first."""

    REQUEST = "request"
    SESSION = "session"
    PRINCIPAL = "principal"
    TENANT = "tenant"
    PUBLIC = "public"

    __hash__ = str.__hash__

    @property
    def rank(self) -> int:
        """Position in the order of SHR-1; the smaller one wins (CMP-5)."""
        return _SCOPE_ORDER[self]


_REUSE_ORDER: Final = {reuse: rank for rank, reuse in enumerate(Reuse)}
_SCOPE_ORDER: Final = {scope: rank for rank, scope in enumerate(Scope)}


class OnUnenforceable(StrEnum):
    """What an implementation does with a constraint that it can't enforce (INT-2, CAP-2)."""

    REJECT = "reject"
    BYPASS = "bypass"


class Outcome(StrEnum):
    """What happened to one governed fragment (STA-4, STA-5)."""

    BYPASS = "bypass"
    MISS = "miss"
    EXACT_HIT = "exact_hit"
    APPROXIMATE_HIT = "approximate_hit"
    UNOBSERVED = "unobserved"

    __hash__ = str.__hash__


class RetentionReport(StrEnum):
    """What became of the state computed from one governed fragment (STA-6)."""

    FORBIDDEN = "forbidden"
    DECLINED = "declined"
    RETAINED = "retained"
    UNOBSERVED = "unobserved"


class HintReport(StrEnum):
    """What an implementation did with one hint (STA-9, STA-10)."""

    ACCEPTED = "accepted"
    CLIPPED = "clipped"
    IGNORED = "ignored"


class ErrorCode(StrEnum):
    """The codes of a rejection (BND-9)."""

    INVALID = "cache_intent_invalid"
    UNSUPPORTED_VERSION = "cache_intent_unsupported_version"
    UNENFORCEABLE = "cache_intent_unenforceable"


class Kind(StrEnum):
    """The three objects of the contract, named as the member that wraps each in a document of its own."""

    CACHE_INTENT = "cache_intent"
    CACHE_INTENT_CAPABILITIES = "cache_intent_capabilities"
    CACHE_STATUS = "cache_status"
