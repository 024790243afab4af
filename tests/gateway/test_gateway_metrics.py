"""Metrics: in Prometheus' own format, with labels of closed vocabularies only."""

import uuid
from collections.abc import Mapping
from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families

from gateway.process import running
from gateway.talk import MONDAY, Caller, intent, message, text

Labels = frozenset[tuple[str, str]]


def scrape(url: str) -> Mapping[tuple[str, Labels], float]:
    response = requests.get(f"{url}/metrics", timeout=30)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name.removeprefix("reference_gateway_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def labels(**members: str) -> Labels:
    return frozenset(members.items())


def test_requests_errors_and_outcomes_are_counted() -> None:
    prompt = text()
    with running() as (url, _):
        caller = Caller(url)
        caller.chat(message(prompt, intent()))
        caller.chat(message(prompt, intent()), stream=True)
        caller.chat(message(prompt, intent("request")))
        caller.chat(message("x", {"version": 9}))
        Caller(url, "unknown").chat(message("x"))
        found = scrape(url)
    assert found["requests_total", labels(method="POST", route="chat", status="2xx")] == 3
    assert found["requests_total", labels(method="POST", route="chat", status="4xx")] == 2
    assert found["errors_total", labels(code="invalid_api_key")] == 1
    assert found["errors_total", labels(code="cache_intent_unsupported_version")] == 1
    assert found["fragments_total", labels(outcome="miss")] == 1
    assert found["fragments_total", labels(outcome="exact_hit")] == 1
    assert found["fragments_total", labels(outcome="bypass")] == 1
    assert found["request_seconds_count", labels(route="chat")] == 5
    assert found["requests_in_progress", labels()] == 1  # the scrape itself


def test_the_metrics_may_ask_for_a_key_of_their_own(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("fake-key-of-the-metrics\n")
    with running("--metrics-key-file", str(key)) as (url, _):
        for wrong in (
            {},
            {"Authorization": f"Bearer {MONDAY}"},
            {"Authorization": "fake-key-of-the-metrics"},
        ):
            assert requests.get(f"{url}/metrics", headers=wrong, timeout=30).status_code == 401
        right = {"Authorization": "Bearer fake-key-of-the-metrics"}
        assert requests.get(f"{url}/metrics", headers=right, timeout=30).status_code == 200


def test_nothing_that_a_caller_sends_makes_a_new_series() -> None:
    nonce = uuid.uuid4().hex
    with running() as (url, _):
        Caller(url).chat(message("x"))
        requests.get(f"{url}/x", timeout=30)
        requests.request("MKCOL", f"{url}/x", timeout=30)
        scrape(url)
        before = scrape(url)
        for number in range(20):
            Caller(url, f"{nonce}-{number}").chat(message("x"))
            Caller(url).chat(message(nonce, intent(namespace=f"{nonce}-{number}")), model=f"{nonce}-{number}")
            requests.get(f"{url}/{nonce}/{number}?{nonce}", timeout=30)
            requests.request("PROPFIND", f"{url}/{nonce}", headers={"X-Request-Id": nonce}, timeout=30)
        after = scrape(url)
        everything = requests.get(f"{url}/metrics", timeout=30).text
    new = {name for name, _ in after.keys() - before.keys()}
    assert len(after.keys() - before.keys()) <= 4, new
    for name in (nonce, MONDAY, "acme", "alice"):
        assert name not in everything
