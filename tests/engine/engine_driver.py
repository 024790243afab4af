"""Drive a block cache one request at a time, under a clock that a test sets."""

from dataclasses import dataclass, field

from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import Scope
from cctest.engine.blocks import Partition, Segment, Terms, cut
from cctest.engine.cache import SECOND, BlockCache

BLOCK = 2
ACME = Partition(Boundary(Scope.TENANT, ("acme",)), None)
ACME_TOOLS = Partition(Boundary(Scope.TENANT, ("acme",)), "d1")
GLOBEX = Partition(Boundary(Scope.TENANT, ("globex",)), None)


class Clock:
    """Nanoseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 5 * SECOND

    def __call__(self) -> int:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


def segment(text: str, partition: Partition = ACME, **rules: int | None) -> Segment:
    read, retain = bool(rules.pop("read", 1)), bool(rules.pop("retain", 1))
    terms = Terms(partition, read, retain, rules.get("max_age"), rules.get("keep_for") or 0)
    return Segment([bytes([byte]) for byte in text.encode()], terms)


@dataclass
class Engine:
    """A cache and its clock, driven one request at a time."""

    capacity: int = 1000
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.cache = BlockCache(self.capacity, self.clock)

    def request(self, *segments: Segment) -> int:
        """Serve one request; count the blocks that were read."""
        blocks = cut(segments, BLOCK)
        reused = self.cache.lookup(blocks)
        self.cache.publish(blocks, reused)
        return reused.blocks

    def retained(self, *segments: Segment) -> int:
        """Serve one request; count the leading blocks that are retained after it."""
        blocks = cut(segments, BLOCK)
        return self.cache.publish(blocks, self.cache.lookup(blocks))
