"""What the three policies of `policies` reuse, row by row, on a real vLLM."""

import pytest

from reference_gateway.live.engine import Engine
from reference_gateway.live.policies import POLICIES, Row, policies

NEW_TENANT = "a new tenant with its own system prompt"
SAME_BYTES = "a new tenant sends the first one's bytes"
COLLEAGUE = "a colleague sends the same bytes"
PUBLIC = "a new tenant sends the same bytes"

Rows = dict[str, Row]


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Rows:
    return {row.situation: row for row in policies(engine)}


def reused(rows: Rows, situation: str) -> dict[str, int | None]:
    return dict(zip(POLICIES, rows[situation].reused, strict=True))


def test_with_one_partition_per_request_public_tools_before_private_text_are_lost(rows: Rows) -> None:
    seen = reused(rows, NEW_TENANT)
    assert seen["everything shared"]
    assert seen["tenant salt"] == 0
    assert seen["intent"] == 0


def test_everything_shared_confirms_a_tenants_text_to_a_stranger(rows: Rows) -> None:
    tools_alone = rows[NEW_TENANT].reused[0]
    seen = reused(rows, SAME_BYTES)
    assert tools_alone is not None
    assert seen["everything shared"] is not None
    assert seen["everything shared"] > tools_alone
    assert (seen["tenant salt"], seen["intent"]) == (0, 0)


def test_only_the_intent_keeps_one_persons_text_from_a_colleague(rows: Rows) -> None:
    seen = reused(rows, COLLEAGUE)
    assert seen["everything shared"] == seen["tenant salt"] != 0
    assert seen["intent"] == 0


def test_the_intent_shares_what_is_public_throughout(rows: Rows) -> None:
    seen = reused(rows, PUBLIC)
    assert seen["intent"] == seen["everything shared"] != 0
    assert seen["tenant salt"] == 0
