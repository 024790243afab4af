"""`python -m reference_gateway.live` where there is nothing to prove anything on."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from reference_gateway.live.__main__ import main
from reference_gateway.live.engine import BASE_URL, MODEL, VENV

ALL = ("isolation", "max-age", "policies", "public-prefix", "ttft", "mix", "hashing")
WITH_REGIONS = ("public-prefix", "ttft", "mix")


class WithoutPlugin(BaseHTTPRequestHandler):
    """An engine that has a model and nothing else."""

    def do_GET(self) -> None:
        known = self.path == "/v1/models"
        body = json.dumps({"data": [{"id": "some"}]} if known else {}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass


@pytest.fixture
def without_plugin() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), WithoutPlugin) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["live", *arguments])
    return main()


@pytest.mark.parametrize("command", ALL)
def test_without_an_engine_it_is_unverified(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(BASE_URL, raising=False)
    monkeypatch.setenv(VENV, str(tmp_path / "nowhere"))
    assert run(monkeypatch, command, "--write", str(tmp_path)) == 3
    told = capsys.readouterr()
    assert told.err.startswith("UNVERIFIED: ")
    assert "make vllm" in told.err
    assert (told.out, list(tmp_path.iterdir())) == ("", [])


@pytest.mark.parametrize("command", WITH_REGIONS)
def test_what_needs_the_plugin_is_unverified_on_an_engine_that_has_none(
    command: str, without_plugin: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(BASE_URL, without_plugin)
    monkeypatch.delenv(MODEL, raising=False)
    assert run(monkeypatch, command) == 3
    assert "was started without the plugin vllm_cache_regions" in capsys.readouterr().err


def test_a_wrong_option_is_a_matter_of_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "mix", "--rate", "never") == 2
    assert "--rate" in capsys.readouterr().err
