"""What became of regions, counted since the engine started."""

from collections import Counter
from enum import StrEnum
from threading import Lock


class FallBack(StrEnum):
    """Why a request did not get the regions that it asked for."""

    DIGEST_MISMATCH = "digest_mismatch"
    """The tokens are other ones than those on which the boundaries were measured."""
    MALFORMED = "malformed"
    NO_CACHE_SALT = "no_cache_salt"
    LORA = "lora"
    MULTIMODAL = "multimodal"
    EMBEDDINGS = "embeddings"
    UNPROVEN_ENGINE = "unproven_engine"
    """The engine runs with something under which regions have not been verified."""
    INTERNAL_ERROR = "internal_error"


class Counters:
    """Counters of an engine. Requests are read in one thread and scheduled in another."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._applied = 0
        self._fallen_back: Counter[str] = Counter()
        self._boundaries_kept = 0
        self._refused = 0

    def applied(self) -> None:
        """Count a request that got its regions."""
        with self._lock:
            self._applied += 1

    def fallen_back(self, why: FallBack, *, kept: int = 0) -> None:
        """Count a request that didn't, and how many of its boundaries still hold."""
        with self._lock:
            self._fallen_back[why.value] += 1
            self._boundaries_kept += kept

    def refused_for_age(self) -> None:
        """Count a block that was there and too old."""
        with self._lock:
            self._refused += 1

    def snapshot(self) -> dict[str, int | dict[str, int]]:
        """Give all counts."""
        with self._lock:
            return {
                "regions_applied": self._applied,
                "regions_fallen_back": {why.value: self._fallen_back[why.value] for why in FallBack},
                "boundaries_kept_in_fall_back": self._boundaries_kept,
                "blocks_refused_for_age": self._refused,
            }
