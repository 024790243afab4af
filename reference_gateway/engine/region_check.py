"""Whether regions are in force on an engine: by what its plugin says of itself, and by what the engine does.

The plugin's word is asked for again all the time. What the engine does is seen once for each start of it, on
four prompts of random tokens that nobody else has. Whatever is unexpected means: not in force. Nothing but
what is advertised rests on that: every request with regions has, beside them, the salt that it would have
without.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from cctest.contract.source import JsonValue
from reference_gateway.engine.usage import read_count
from reference_gateway.notice import say
from reference_gateway.rendering.boundary import token_digest

PLUGIN: Final = "vllm_cache_regions"
VERSIONS: Final = ("0.1.0",)
"""Versions of the plugin that are known here."""
SECONDS: Final = 10.0
"""Most seconds for the four prompts, for each model."""

_STATUS: Final = "/cache_regions"
_COMPLETIONS: Final = "/v1/completions"
_TOKENIZE: Final = "/tokenize"
_WITH_PLUGIN: Final = (200, 503)
"""What the plugin answers; other statuses are those of engines without."""
_LARGEST_BLOCK: Final = 4096
_FEWEST_TOKENS: Final = 32
"""Different tokens that random prompts are made of."""


class Engine(Protocol):
    """What answers questions over HTTP: the status and the JSON; None where no such answer comes."""

    async def look(self, path: str) -> tuple[int, JsonValue] | None:
        """Get a page."""

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        """Post a question."""


@dataclass(frozen=True, slots=True)
class InForce:
    """One start of an engine on which regions are in force, and the tokens in a block of it."""

    instance: str
    block_size: int


@dataclass(frozen=True, slots=True)
class _Not:
    """Why they aren't. It isn't worth telling of an engine that was never expected to have them."""

    why: str
    worth_telling: bool = True


class RegionCheck:
    """Follows one engine. Every change is told to the operator."""

    def __init__(self, engine: Engine, tell: Callable[[str], None] = say) -> None:
        self._engine = engine
        self._tell = tell
        self._told = ""
        self._doubts = 0
        self._doubts_before = 0
        self._latest: InForce | None = None
        self._found: InForce | None = None
        self._proven: tuple[InForce, frozenset[str]] | None = None
        self.in_force: InForce | None = None
        """None as soon as there is any doubt."""

    @property
    def ever_told(self) -> bool:
        """Whether the plugin ever told of itself."""
        return self._latest is not None

    def away(self) -> None:
        """Take note that the engine is away. What comes back may be another one."""
        self._fall(_Not("the engine is away", worth_telling=self.in_force is not None))

    def doubt(self) -> None:
        """Take note of a connection that broke: until the plugin is asked again, nothing is in force."""
        self._doubts += 1
        self.in_force = None

    async def look(self) -> bool:
        """Ask the plugin. True if it tells of a start of the engine that is news."""
        self._doubts_before = self._doubts
        found = await self._said()
        if isinstance(found, _Not):
            self._fall(found)
            return False
        before, self._latest, self._found = self._latest, found, found
        if self.in_force not in (None, found):
            self.in_force = None
        return before != found

    async def settle(self, models: Sequence[str]) -> None:
        """After `look`: where this start of the engine hasn't shown it yet, see what the engine does."""
        found = self._found
        if found is None:
            return
        if self._proven != (found, frozenset(models)):
            self.in_force = None
            unlike = await self._shown(found, models)
            if unlike is not None:
                self._fall(unlike)
                return
            self._proven = (found, frozenset(models))
        if self._doubts == self._doubts_before:  # else what was seen may have been another engine
            self.in_force = found
            self._say(f"cache regions are in force, in blocks of {found.block_size} tokens")

    async def _said(self) -> InForce | _Not:
        answer = await self._engine.look(_STATUS)
        if answer is None:
            return _Not("the plugin doesn't answer", worth_telling=False)
        status, told = answer
        if status != 200 or not isinstance(told, dict) or told.get("plugin") != PLUGIN:
            return _Not(
                f"the engine has no plugin {PLUGIN} that answers", worth_telling=status in _WITH_PLUGIN
            )
        if told.get("version") not in VERSIONS:
            return _Not(f"the plugin's version is none of {', '.join(VERSIONS)}")
        if told.get("active") is not True:
            return _Not("the plugin says that it is inactive")
        instance, block_size = told.get("instance"), told.get("block_size")
        if not isinstance(instance, str) or not instance:
            return _Not("the plugin doesn't tell one start of the engine from another")
        if type(block_size) is not int or not 0 < block_size <= _LARGEST_BLOCK:
            return _Not("the plugin tells no size of blocks")
        return InForce(instance, block_size)

    async def _shown(self, found: InForce, models: Sequence[str]) -> _Not | None:
        for model in models:
            try:
                async with asyncio.timeout(SECONDS):
                    seen = await self._seen(model, found.block_size)
            except TimeoutError:
                seen = None
            blocks = [0, 2, 4, 0]
            if seen != [found.block_size * count for count in blocks]:
                counts = "nothing that can be told" if seen is None else f"{seen} tokens"
                return _Not(
                    f"the engine says that they are, yet it reused {counts} of four prompts to {model!r}"
                    f" where {blocks} blocks of {found.block_size} were expected"
                )
        return None

    async def _seen(self, model: str, block_size: int) -> list[int] | None:
        """Give the tokens that were reused of four prompts: A, B, B again, and C in a partition of its own.

        A and B have the first two blocks in common, and their salt. None where the engine doesn't tell.
        """
        vocabulary = await self._vocabulary(model)
        if len(vocabulary) < _FEWEST_TOKENS:
            return None
        tokens = [secrets.choice(vocabulary) for _ in range(4 * block_size + 1)]
        common, a, b, c = (secrets.token_hex(32) for _ in range(4))
        boundary = 2 * block_size
        digest = token_digest(tokens[:boundary]).hex()
        counts = []
        for salt in (a, b, b, c):
            body: dict[str, JsonValue] = {
                "model": model,
                "prompt": [*tokens],
                "max_tokens": 1,
                "cache_salt": salt,
            }
            if salt != c:
                body["vllm_xargs"] = {
                    "salt_regions": [0, common, boundary, salt],
                    "salt_region_digests": [digest],
                }
            answer = await self._engine.ask(_COMPLETIONS, json.dumps(body).encode())
            told = answer[1] if answer is not None and answer[0] == 200 else None
            usage = told.get("usage") if isinstance(told, dict) else None
            count = read_count(usage) if isinstance(usage, dict) else None
            if count is None:
                return None
            counts.append(count.cached)
        return counts

    async def _vocabulary(self, model: str) -> list[int]:
        """Give tokens that the model knows: those of random text."""
        text = " ".join(secrets.token_hex(2) for _ in range(200))
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        answer = await self._engine.ask(_TOKENIZE, json.dumps(body).encode())
        told = answer[1] if answer is not None and answer[0] == 200 else None
        tokens = told.get("tokens") if isinstance(told, dict) else None
        if not isinstance(tokens, list):
            return []
        return sorted({one for one in tokens if type(one) is int and one >= 0})

    def _fall(self, reason: _Not) -> None:
        worth_telling = reason.worth_telling or bool(self._told)
        self._found = self._proven = self.in_force = None
        if worth_telling:
            self._say(f"cache regions are not in force: {reason.why}")

    def _say(self, text: str) -> None:
        if text != self._told:
            self._tell(text)
            self._told = text
