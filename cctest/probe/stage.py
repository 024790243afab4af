"""What all cells of a run share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cctest.probe.case import Role
from cctest.probe.courier import Courier
from cctest.probe.judgement import Advertised
from cctest.probe.ledger import Ledger
from cctest.probe.prompt import UNIT_WORDS
from cctest.probe.settlement import Hope
from cctest.target.credential import Credential


@dataclass(frozen=True, slots=True)
class Stage:
    """What all cells of a run share. `nonce` makes this run's texts differ from those of every other run.

    `absences` says of each role that nobody fills why. `settling` is the seconds that the target takes until
    what it retained can be read.
    """

    courier: Courier
    callers: Mapping[Role, Credential]
    advertised: Advertised
    model: str
    nonce: str
    unit_words: int = UNIT_WORDS
    hope: Hope = field(default_factory=Hope)
    ledger: Ledger | None = None
    settling: float = 0.0
    tokens_per_byte: float | None = None
    absences: Mapping[Role, str] = field(default_factory=dict)
