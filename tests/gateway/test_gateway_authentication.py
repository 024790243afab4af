"""Who is calling is settled before anything else is looked at (BND-5, READ-13)."""

import pytest
import requests

from gateway.talk import MONDAY


def post(url: str, authorization: str | None, body: bytes = b"not even JSON") -> requests.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    return requests.post(f"{url}/v1/chat/completions", data=body, headers=headers, timeout=30)


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {MONDAY}",
        MONDAY,
        f"Bearer {MONDAY}x",
        "Bearer \xe9",
        f"Bearer {MONDAY.upper()}",
        f"Bearer {MONDAY}, Bearer {MONDAY}",
    ],
)
def test_a_caller_who_is_not_known_is_refused(gateway_url: str, authorization: str | None) -> None:
    response = post(gateway_url, authorization)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert MONDAY not in response.text


def test_two_authorization_headers_are_refused(gateway_url: str) -> None:
    import http.client

    connection = http.client.HTTPConnection(gateway_url.removeprefix("http://"), timeout=30)
    connection.putrequest("POST", "/v1/chat/completions")
    for _ in range(2):
        connection.putheader("Authorization", f"Bearer {MONDAY}")
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 401
    connection.close()


def test_a_body_over_the_limit_is_not_looked_at_without_a_credential(gateway_url: str) -> None:
    assert post(gateway_url, None, b"x" * (2 * 1024 * 1024)).status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(gateway_url: str, scheme: str) -> None:
    assert post(gateway_url, f"{scheme} {MONDAY}").status_code == 400


def test_models_need_a_credential_and_capabilities_do_not(gateway_url: str) -> None:
    assert requests.get(f"{gateway_url}/v1/models", timeout=30).status_code == 401
    assert requests.get(f"{gateway_url}/v1/cache_intent_capabilities", timeout=30).status_code == 200
