"""The rendered order of a real engine's templates: seen the way that the gateway sees it (CMP-11, BND-2)."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
import requests
from gateway import templates

from cctest.contract.source import JsonValue
from live.conftest import entered
from reference_gateway.engine.order_survey import survey
from reference_gateway.engine.upstream import Upstream
from reference_gateway.live.engine import Engine, Options, running_engine
from reference_gateway.live.gateway import Gateway
from reference_gateway.rendering.rendered_order import RenderedOrder
from reference_gateway.rendering.sentinels import Trait, conversations

BOTH_WAYS = Options(more=("--enable-scale-out", "--trust-request-chat-template"))
INSTRUCTIONS = {Trait.DEVELOPER, Trait.LATE}
ELSEWHERE = {
    "TOOLS_FIRST": set[Trait](),
    "DATED": set[Trait](),
    "TOOLS_IN_THE_SYSTEM_TURN": {Trait.TOOLS, Trait.SYSTEM},
    "TOOLS_BEFORE_THE_LAST_USER_MESSAGE": {Trait.TOOLS},
    "TOOLS_LAST": {Trait.TOOLS},
    "TOOLS_IGNORED": {Trait.TOOLS},
    "TOOLS_SORTED": {Trait.TOOLS},
    "TOOLS_REPEATED_AT_THE_END": {Trait.TOOLS},
}
"""What requests have in common that a template renders in another order."""


@dataclass(frozen=True)
class Templated:
    """An engine whose model has `template`; what is `absent` isn't there."""

    upstream: Upstream
    template: str
    absent: str

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        if path == self.absent:
            return 404, {}
        members = json.loads(body)
        if path != "/detokenize":
            members["chat_template"] = self.template
        return await self.upstream.ask(path, json.dumps(members).encode())


def surveyed(engine: Engine, template: str, absent: str) -> RenderedOrder:
    async def ask() -> RenderedOrder:
        upstream = Upstream(engine.url, key=engine.key, deadline=30.0)
        async with upstream.connected():
            return await survey(Templated(upstream, template, absent), engine.model)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def any_template() -> Iterator[Engine]:
    """An engine that renders whatever template comes with a request, and has both end points."""
    with ExitStack() as stack:
        yield entered(stack, running_engine(BOTH_WAYS))


EITHER_WAY = pytest.mark.parametrize(
    "absent", ["/tokenize", "/v1/chat/completions/render"], ids=["render", "tokenize"]
)


@EITHER_WAY
@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_template_is_trusted_for_just_the_requests_that_it_renders_in_order(
    any_template: Engine, name: str, absent: str
) -> None:
    """vLLM itself moves a late developer message to the front where the template doesn't know that role."""
    found = surveyed(any_template, getattr(templates, name), absent)
    expected = {
        one.shape
        for one in conversations()
        if Trait.LATE not in one.shape and not (ELSEWHERE[name] and ELSEWHERE[name] <= one.shape)
    }
    assert found.shapes is not None
    assert {shape for shape in found.shapes if not INSTRUCTIONS & shape} == {
        shape for shape in expected if not INSTRUCTIONS & shape
    }
    assert not any(Trait.LATE in shape for shape in found.shapes)


def test_the_gateway_finds_out_by_itself(gateway: Gateway, engine: Engine) -> None:
    """With what every vLLM has: `/tokenize`, and one chat request to check it by."""
    client = gateway.client(0)
    told = requests.get(f"{gateway.url}/v1/models", headers=client.headers, timeout=10).json()
    assert {one["id"]: one["rendered_order"] for one in told["data"]} == {engine.model: "partly declared"}
