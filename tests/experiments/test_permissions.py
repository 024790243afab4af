"""What a request of the mixed load may reuse, judged from tokens and from who sent what before."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from reference_gateway.live import mix
from reference_gateway.live.chat import Json
from reference_gateway.live.engine import Engine
from reference_gateway.live.mix import Served, Span
from reference_gateway.live.mixed_load import Arrival, Someone, Texts

BLOCK, FRAGMENT = 4, 10
ALICE, BOB, STRANGER = Someone(0, "alice"), Someone(0, "bob"), Someone(1, "alice")
TOOLS = len(Texts().tools) * FRAGMENT


@dataclass(frozen=True, slots=True)
class Blocks(Engine):
    def block_size(self) -> int:
        return BLOCK


def tokens(_: Engine, fragments: Sequence[Json]) -> list[int]:
    """Ten tokens for each fragment, the same for the same one."""
    return [hash((json.dumps(one), place)) for one in fragments for place in range(FRAGMENT)]


def boundary(_: Engine, __: Sequence[Json], count: int) -> int:
    return count * FRAGMENT


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mix, "tokens", tokens)
    monkeypatch.setattr(mix, "boundary", boundary)


def permitted(*sent: tuple[Someone, Someone, int], overlap: bool = False) -> int:
    """Of the last request: sender, author and question of each, one after the other."""
    load = [Arrival(float(at), *one) for at, one in enumerate(sent)]
    length = TOOLS + 3 * FRAGMENT
    served = [
        Served(one, Span(one.at, one.at + (9.0 if overlap else 0.5)), 0.1, length, cached=0) for one in load
    ]
    return mix._Permissions(Blocks("", ""), load, Texts()).judged(served)[-1].permitted


def whole(count: int) -> int:
    return count // BLOCK * BLOCK


def test_whoever_comes_first_may_reuse_nothing() -> None:
    assert permitted((ALICE, ALICE, 0)) == 0


def test_a_stranger_is_lent_the_tools_whatever_is_sent() -> None:
    assert permitted((ALICE, ALICE, 0), (STRANGER, STRANGER, 1)) == whole(TOOLS)
    assert permitted((ALICE, ALICE, 0), (STRANGER, ALICE, 0)) == whole(TOOLS)


def test_a_colleague_is_lent_the_system_prompt_too() -> None:
    assert permitted((ALICE, ALICE, 0), (BOB, BOB, 1)) == whole(TOOLS + FRAGMENT)
    assert permitted((ALICE, ALICE, 0), (BOB, ALICE, 0)) == whole(TOOLS + FRAGMENT)


def test_everybody_is_lent_all_of_their_own_but_the_last_token() -> None:
    assert permitted((ALICE, ALICE, 0), (ALICE, ALICE, 1)) == whole(TOOLS + 2 * FRAGMENT)
    assert permitted((ALICE, ALICE, 0), (ALICE, ALICE, 0)) == whole(TOOLS + 3 * FRAGMENT - 1)
    assert permitted((STRANGER, ALICE, 0), (STRANGER, ALICE, 0)) == whole(TOOLS + 3 * FRAGMENT - 1)


def test_the_most_that_anybody_before_lends_counts() -> None:
    assert permitted((ALICE, ALICE, 0), (STRANGER, STRANGER, 1), (BOB, BOB, 2)) == whole(TOOLS + FRAGMENT)


def test_a_request_that_is_under_way_may_lend() -> None:
    assert permitted((ALICE, ALICE, 0), (ALICE, ALICE, 0), overlap=True) == whole(TOOLS + 3 * FRAGMENT - 1)
