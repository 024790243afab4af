"""When regions count as in force."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cctest.contract.source import JsonValue
from gateway.region_engine import BLOCK, MODEL, RegionEngine
from reference_gateway.engine.region_check import VERSIONS, InForce, RegionCheck


class Asked:
    """The engine without HTTP; `look` and `ask` can be made to fail."""

    def __init__(self, engine: RegionEngine) -> None:
        self.engine = engine
        self.up = True
        self.told: list[str] = []
        self.during: Callable[[], None] = lambda: None

    async def look(self, path: str) -> tuple[int, JsonValue] | None:
        if not self.up:
            return None
        status, told = self.engine.get(path)
        return status, told if isinstance(told, dict) else None

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        self.during()
        return self.engine.post(path, json.loads(body)) if self.up else None


def follow(play: Callable[[Asked, RegionCheck], Awaitable[None]], **members: Any) -> Asked:
    asked = Asked(RegionEngine(**members))

    async def run() -> None:
        await play(asked, RegionCheck(asked, asked.told.append))

    asyncio.run(run())
    return asked


async def checked(check: RegionCheck, *models: str) -> InForce | None:
    await check.look()
    await check.settle(models or (MODEL,))
    return check.in_force


def probes(asked: Asked) -> int:
    return sum(path == "/v1/completions" for path, _ in asked.engine.visits)


def test_one_start_of_an_engine_has_to_show_it_once() -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        for _ in range(3):
            assert await checked(check) == InForce(asked.engine.instance, BLOCK)
        assert probes(asked) == 4
        asked.engine.start_anew(plugin=True)
        assert await check.look()
        assert check.in_force is None
        await check.settle((MODEL,))
        assert check.in_force == InForce(asked.engine.instance, BLOCK)
        assert probes(asked) == 8

    assert follow(play).told == [f"cache regions are in force, in blocks of {BLOCK} tokens"]


def test_each_model_has_to_show_it() -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        await checked(check)
        assert await checked(check, MODEL, "other") is not None
        assert probes(asked) == 4 + 8

    follow(play, models=[MODEL, "other"])


def test_no_prompt_of_the_check_is_like_another_and_no_salt() -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        await checked(check)
        asked.engine.start_anew(plugin=True)
        await checked(check)
        bodies = [body for path, body in asked.engine.visits if path == "/v1/completions"]
        assert len({tuple(body["prompt"]) for body in bodies}) == 2
        assert len({body["cache_salt"] for body in bodies}) == 6

    follow(play)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"active": False}, "the plugin says that it is inactive"),
        ({"version": "9"}, f"the plugin's version is none of {', '.join(VERSIONS)}"),
        ({"instance": ""}, "the plugin doesn't tell one start of the engine from another"),
        ({"instance": 7}, "the plugin doesn't tell one start of the engine from another"),
        ({"tells_usage": False}, "nothing that can be told of four prompts"),
        ({"has_tokenize": False}, "nothing that can be told of four prompts"),
        ({"ignores_regions": True}, f"{[0, 0, 4 * BLOCK, 0]} tokens of four prompts"),
        ({"plugin": False}, None),
    ],
)
def test_whatever_is_unexpected_means_that_they_are_not(members: Any, said: str | None) -> None:
    async def play(_: Asked, check: RegionCheck) -> None:
        assert await checked(check) is None

    told = follow(play, **members).told
    assert told == [] if said is None else said in told[0]


def test_an_engine_that_shares_too_much_is_not_believed() -> None:
    """All in one partition: what it would do if it took regions for a mere ornament."""

    async def play(asked: Asked, check: RegionCheck) -> None:
        asked.engine.before = lambda _, body: body.update(cache_salt="one", vllm_xargs={})
        assert await checked(check) is None

    assert "reused [0, 64, 64, 64] tokens" in follow(play).told[0]


@pytest.mark.parametrize("loss", ["without", "away", "silent", "inactive"])
def test_they_end_with_the_plugin_and_come_back_only_after_another_look(loss: str) -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        await checked(check)
        if loss == "away":
            check.away()
        else:
            asked.engine.plugin, asked.up = loss != "without", loss != "silent"
            asked.engine.active = loss != "inactive"
            assert await checked(check) is None
        assert check.in_force is None
        asked.engine.plugin = asked.up = asked.engine.active = True
        assert await checked(check) is not None
        assert probes(asked) == 8

    told = follow(play).told
    assert [line.partition(":")[0].partition(",")[0] for line in told] == [
        "cache regions are in force",
        "cache regions are not in force",
        "cache regions are in force",
    ]


def test_a_broken_connection_is_a_doubt_until_the_plugin_was_asked_again() -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        await checked(check)
        check.doubt()
        assert check.in_force is None
        assert await checked(check) is not None
        assert probes(asked) == 4

    follow(play)


def test_a_doubt_in_the_middle_of_the_check_outlasts_it() -> None:
    async def play(asked: Asked, check: RegionCheck) -> None:
        asked.during = check.doubt
        assert await checked(check) is None
        asked.during = lambda: None
        assert await checked(check) is not None

    follow(play)
