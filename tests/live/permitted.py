"""An independent model of what may be reused: who asked for which tokens, and which of them are for whom.

It knows the contract, and nothing of salts, regions, blocks that two regions share, or how boundaries are found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

SCOPES = ("public", "tenant", "principal", "session", "request")
"""From wide to narrow."""


@dataclass(frozen=True)
class Part:
    """One fragment as it stands in a prompt.

    `scope` is None where nobody spoke for it. `starts` is how many tokens lie wholly before its text, `ends`
    how many there are up to its end. `words` is the text.
    """

    words: str
    scope: str | None
    starts: int
    ends: int
    reusable: bool = True
    kept: bool = True


@dataclass(frozen=True)
class Asked:
    """A request: by whom (tenant, principal, session), and what."""

    caller: tuple[str, str, str]
    tokens: tuple[int, ...]
    parts: tuple[Part, ...]

    def audiences(self) -> list[tuple[str, ...] | None]:
        """For each part, what those have in common who may read the state after it; None if nobody may."""
        depth, found, kept = 0, list[tuple[str, ...] | None](), True
        for part in self.parts:
            depth = max(depth, SCOPES.index(part.scope or "tenant"))
            kept = kept and part.kept
            found.append(self.caller[:depth] if kept and depth < len(SCOPES) - 1 else None)
        return found

    @property
    def reads(self) -> int:
        """Tokens behind which this request must read nothing."""
        return min((part.starts for part in self.parts if not part.reusable), default=len(self.tokens))


@dataclass
class Model:
    """All that was asked so far."""

    asked: list[Asked] = field(default_factory=list)

    def most(self, request: Asked) -> int:
        """Tokens that a request may read at the most."""
        return max((min(self._of(one, request), request.reads) for one in self.asked), default=0)

    def least(self, request: Asked) -> int:
        """Tokens that it should find: what was asked before by somebody on the very same terms."""
        return max((_in_common(one, request) for one in self.asked), default=0)

    def _of(self, earlier: Asked, request: Asked) -> int:
        for part, audience in zip(earlier.parts, earlier.audiences(), strict=True):
            if audience is None or request.caller[: len(audience)] != audience:
                return min(part.starts, _same(earlier.tokens, request.tokens))
        return _same(earlier.tokens, request.tokens)


def _in_common(earlier: Asked, request: Asked) -> int:
    """Tokens of the leading parts that both have, for the same audience, and may both keep and read."""
    ends = 0
    both = zip(earlier.parts, request.parts, earlier.audiences(), request.audiences(), strict=False)
    for one, other, audience, another in both:
        usable = one.reusable and other.reusable and one.kept and other.kept
        if one.words != other.words or audience is None or audience != another or not usable:
            break
        ends = other.ends
    return ends


def _same(one: Sequence[int], other: Sequence[int]) -> int:
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))
