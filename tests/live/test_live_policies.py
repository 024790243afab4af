"""What the policies of `policies` reuse, row by row, on a real vLLM that has no boundaries per fragment."""

import pytest

from reference_gateway.live.engine import Engine
from reference_gateway.live.policies import (
    COLLEAGUE,
    NEW_TENANT,
    PUBLIC,
    SAME_BYTES,
    Row,
    as_expected,
    policies,
)
from reference_gateway.live.policy import Policy

Rows = dict[str, Row]


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Rows:
    return {row.situation: row for row in policies(engine)}


def test_with_one_partition_per_request_public_tools_before_private_text_are_lost(rows: Rows) -> None:
    seen = rows[NEW_TENANT].reused
    assert seen[Policy.SHARED]
    assert seen[Policy.SALT] == 0
    assert seen[Policy.INTENT] == 0


def test_everything_shared_confirms_a_tenants_text_to_a_stranger(rows: Rows) -> None:
    seen = rows[SAME_BYTES].reused
    assert (seen[Policy.SHARED] or 0) > rows[SAME_BYTES].permitted
    assert (seen[Policy.SALT], seen[Policy.INTENT]) == (0, 0)


def test_only_the_intent_keeps_one_persons_text_from_a_colleague(rows: Rows) -> None:
    seen = rows[COLLEAGUE].reused
    assert seen[Policy.SHARED] == seen[Policy.SALT] != 0
    assert seen[Policy.INTENT] == 0


def test_the_intent_shares_what_is_public_throughout(rows: Rows) -> None:
    seen = rows[PUBLIC].reused
    assert seen[Policy.INTENT] == seen[Policy.SHARED] == rows[PUBLIC].permitted != 0
    assert seen[Policy.SALT] == 0


def test_the_whole_of_it_is_as_expected(rows: Rows) -> None:
    assert as_expected(tuple(rows.values()))
