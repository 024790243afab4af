import base64
import json
from urllib.parse import quote

import pytest

from cctest.target.credential import Credential, Header
from cctest.target.redaction import Redactor

TOKEN = 'tok"en/\\+=&\\u00e9'
SECRET = Credential("tenant-a", TOKEN, "t", "p")
STAND_IN = "${CCTEST_TOKEN_TENANT_A}"


@pytest.mark.parametrize(
    "spelling",
    [
        TOKEN,
        json.dumps(TOKEN)[1:-1],
        quote(TOKEN, safe=""),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("="),
    ],
)
def test_every_spelling_of_a_token_is_replaced(spelling: str) -> None:
    assert Redactor([SECRET]).text(f"before {spelling} after") == f"before {STAND_IN} after"


def test_structures_are_redacted_in_names_and_values() -> None:
    value = {TOKEN: [TOKEN, (f"x{TOKEN}", 1, None)], "plain": True}
    assert Redactor([SECRET]).structure(value) == {
        STAND_IN: [STAND_IN, (f"x{STAND_IN}", 1, None)],
        "plain": True,
    }


def test_a_token_that_begins_another_does_not_hide_it() -> None:
    redactor = Redactor([Credential("a", "secret-1", "t", "p"), Credential("b", "secret-12", "t", "p")])
    assert redactor.text("secret-12 secret-1") == "${CCTEST_TOKEN_B} ${CCTEST_TOKEN_A}"


def test_secret_headers_are_replaced_and_others_are_not() -> None:
    headers = [Header("X-Key", "abcdefgh", "CCTEST_HEADER_X_KEY"), Header("X-Org", "acme")]
    assert Redactor(headers=headers).text("abcdefgh acme") == "${CCTEST_HEADER_X_KEY} acme"


def test_without_secrets_nothing_changes() -> None:
    assert Redactor().text("anything") == "anything"


def test_a_token_is_not_shown_by_its_own_repr() -> None:
    assert TOKEN not in repr(SECRET)
