"""A real vLLM for the tests, and what they ask it: prompts of token ids, so that every offset is exact."""

import contextlib
import itertools
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import requests

from vllm_cache_regions.carrier import Carried, Region, spell_regions
from vllm_cache_regions.plan import token_digest

BLOCK = 32
START_SECONDS = 300.0
ASK_SECONDS = 120.0

_seeds = itertools.count(1)


def fresh() -> str:
    """A salt that nobody has used: an attack by a tenant that has asked before hits its own blocks."""
    return secrets.token_hex(8)


def text(tokens: int) -> list[int]:
    """Tokens that no other test has sent. All are of the tests' model, and none is special."""
    drawn = random.Random(next(_seeds))
    return [drawn.randrange(300, 2000) for _ in range(tokens)]


def whole(tokens: int) -> int:
    """Tokens of the whole blocks of so many tokens."""
    return tokens // BLOCK * BLOCK


def spelled(tokens: list[int], *regions: tuple[int, str] | tuple[int, str, int | None]) -> dict[str, Any]:
    """`vllm_xargs` of regions, with the digests of these very tokens."""
    made = tuple(Region(*region) for region in regions)
    return spell_regions(Carried(made, tuple(token_digest(tokens[: region.start]) for region in made[1:])))


@dataclass(frozen=True, slots=True)
class Engine:
    url: str

    def post(self, path: str, **body: Any) -> requests.Response:
        return requests.post(self.url + path, json={"model": "tiny", **body}, timeout=ASK_SECONDS)

    def complete(
        self, tokens: list[int], salt: str | None, xargs: Any = None, **more: Any
    ) -> requests.Response:
        body = {"prompt": tokens, "max_tokens": 1, "temperature": 0, **more}
        if salt is not None:
            body["cache_salt"] = salt
        if xargs is not None:
            body["vllm_xargs"] = xargs
        return self.post("/v1/completions", **body)

    def cached(self, tokens: list[int], salt: str, *regions: Any, **more: Any) -> int:
        """Ask, with regions if any are given, and tell how many tokens were reused."""
        response = self.complete(tokens, salt, spelled(tokens, *regions) if regions else None, **more)
        assert response.status_code == 200, response.text
        return cached_of(response)

    def status(self) -> dict[str, Any]:
        response = requests.get(self.url + "/cache_regions", timeout=10)
        assert response.status_code == 200, response.text
        status: dict[str, Any] = response.json()
        return status

    def count(self, *path: str) -> int:
        found: Any = self.status()["counters"]
        for name in path:
            found = found[name]
        return int(found)

    def metric(self, name: str) -> float:
        page = requests.get(self.url + "/metrics", timeout=10).text
        return sum(map(float, re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", page, re.MULTILINE)))


def cached_of(response: requests.Response) -> int:
    return int(response.json()["usage"]["prompt_tokens_details"]["cached_tokens"])


@contextlib.contextmanager
def running(*options: str, plugins: str = "vllm_cache_regions") -> Iterator[Engine]:
    """Run a vLLM with the tiny model that REGIONS_MODEL names."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [
        *(
            sys.executable,
            "-m",
            "vllm.entrypoints.openai.api_server",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ),
        *("--model", os.environ["REGIONS_MODEL"], "--served-model-name", "tiny", "--load-format", "dummy"),
        *(
            "--dtype",
            "bfloat16",
            "--enforce-eager",
            "--enable-prefix-caching",
            "--enable-prompt-tokens-details",
        ),
        *("--max-model-len", "8192", "--block-size", str(BLOCK), *options),
    ]
    variables = {
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_PLUGINS": plugins,
    }
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, env=os.environ | variables, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            engine = Engine(f"http://127.0.0.1:{port}")
            _wait_until_ready(engine, process, log)
            yield engine
        finally:
            _stop(process)


def said(log: IO[bytes]) -> str:
    log.seek(0)
    return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-40:])


def _wait_until_ready(engine: Engine, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(requests.RequestException):
            if requests.get(engine.url + "/health", timeout=5).ok:
                return
        time.sleep(0.3)
    raise RuntimeError(f"vLLM didn't start:\n{said(log)}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
