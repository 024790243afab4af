"""A gateway in front of an engine that can be started anew at its address, and tenants that have asked nothing yet."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import requests

from live.conftest import entered
from reference_gateway.live.chat import Answer, Client, Json, by_kind, without_intent
from reference_gateway.live.engine import BLOCK_SIZE, Engine, Options, running_engine
from reference_gateway.live.gateway import PRINCIPALS, Gateway, running_gateway

TENANTS = 4000
HITS = "vllm:prefix_cache_hits_total"
PLAIN: Json = {}
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}

_SMALL = ("--max-num-batched-tokens", "64", "--max-num-seqs", "16")
WITH_PLUGIN = Options(regions=True, blocks=400, more=_SMALL)
"""Prompts are computed 64 tokens at a time, and there is room for about a dozen at once."""
WITHOUT_PLUGIN = Options(regions=False, blocks=400, more=_SMALL)


@dataclass(frozen=True)
class Tenant:
    """A tenant of which nobody has asked anything, and two of its principals."""

    owner: Client
    colleague: Client


@dataclass
class Site:
    """The engine is the one that runs now."""

    engine: Engine
    gateway: Gateway
    _engines: ExitStack
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    options: Options = WITH_PLUGIN

    def tenant(self) -> Tenant:
        number = next(self._numbers)
        return Tenant(*(self.gateway.client(number, principal) for principal in PRINCIPALS))

    def stop(self) -> None:
        self._engines.close()

    def start(self, options: Options) -> None:
        """Start an engine where the last one was."""
        port = int(self.engine.url.rpartition(":")[2])
        self.options = options
        self.engine = entered(self._engines, running_engine(options, port=port))

    def ready(self) -> None:
        """Have the engine with the plugin, and regions in force."""
        if self.options != WITH_PLUGIN:
            self.stop()
            self.start(WITH_PLUGIN)
        until(self.in_force)

    def in_force(self) -> bool:
        """What the gateway says of regions."""
        answer = requests.get(f"{self.gateway.url}/v1/cache_intent_capabilities", timeout=30)
        told = answer.json()["cache_intent_capabilities"]
        share, max_age = told["per_fragment_share"], told["constraints"].get("retention_max_age", False)
        assert share == max_age
        return bool(share)

    def hits(self) -> int:
        """Tokens read from the cache since the engine started, as it counts them."""
        return round(self.engine.counter(HITS))

    @contextmanager
    def counted(self) -> Iterator[list[Answer]]:
        """Hold what answers tell against the engine's own counter, for those that are put into the list."""
        before, answers = self.hits(), list[Answer]()
        yield answers
        assert self.hits() - before == sum(reused(answer) for answer in answers)

    def tokens(self, *fragments: Json) -> list[int]:
        """The tokens of a prompt, as the engine renders it for anybody."""
        body = by_kind(without_intent(one) for one in fragments)
        return self._tokens(body | ({"tool_choice": "none"} if "tools" in body else {}))

    def before(self, tokens: list[int], words: str) -> int:
        """How many tokens lie wholly before the first of these words: known from the text, not from renders."""
        return _common(
            tokens, self._tokens({"prompt": self._text_before(tokens, words), "add_special_tokens": False})
        )

    def up_to(self, tokens: list[int], words: str) -> int:
        """How many tokens there are up to the end of these words, and of no other text."""
        text = self.text(tokens)
        end = text.index(words) + len(words)
        return _common(tokens, self._tokens({"prompt": text[:end], "add_special_tokens": False}))

    def _text_before(self, tokens: list[int], words: str) -> str:
        text = self.text(tokens)
        return text[: text.index(words)]

    def text(self, tokens: list[int]) -> str:
        return str(self._post("/detokenize", {"tokens": tokens})["prompt"])

    def _tokens(self, body: Json) -> list[int]:
        return list(self._post("/tokenize", body)["tokens"])

    def _post(self, path: str, body: Json) -> Json:
        answer = requests.post(self.engine.url + path, json={"model": self.engine.model, **body}, timeout=60)
        assert answer.status_code == 200, answer.text
        told: Json = answer.json()
        return told


@contextmanager
def standing() -> Iterator[Site]:
    """Start an engine with the plugin, and a gateway that knows of nothing."""
    with ExitStack() as engines, ExitStack() as gateways:
        engine = entered(engines, running_engine(WITH_PLUGIN))
        gateway = gateways.enter_context(running_gateway(engine, tenants=TENANTS))
        yield Site(engine, gateway, engines)


def until(true: Callable[[], bool]) -> None:
    """Wait for what comes about by itself."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def reused(answer: Answer) -> int:
    """Tokens of a prompt that were read, as the engine tells in the answer."""
    assert answer.http == 200, answer.body
    assert answer.cached is not None
    return answer.cached


def whole(tokens: int) -> int:
    """Tokens of the whole blocks of so many tokens."""
    return tokens // BLOCK_SIZE * BLOCK_SIZE


def readable(answer: Answer) -> int:
    """The most that can be read of a prompt: an engine always computes the last token."""
    assert answer.prompt is not None
    return whole(answer.prompt - 1)


def _common(one: list[int], other: list[int]) -> int:
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))
