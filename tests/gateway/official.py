"""The official OpenAI clients, each as a function from chat bodies to what came back."""

import inspect
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from gateway.talk import MONDAY, Json

INSTALL_SECONDS = 100
RUN_SECONDS = 60

_STANDARD = frozenset(inspect.signature(openai.resources.chat.Completions.create).parameters)
"""What the Python client takes by name; anything else goes into `extra_body`."""
_NODE = Path(__file__).parent / "node"


class NoNodeError(Exception):
    """The Node client can't be had here; says why."""


@dataclass(frozen=True)
class Told:
    """What a client made of one response; `early` counts the statuses before the last chunk."""

    answer: str | None = None
    status: list[Json] | None = None
    usage: Json | None = None
    early: int = 0
    error: Json | None = None

    def each(self, member: str) -> list[Any]:
        assert self.status is not None, self
        return [entry.get(member) for entry in self.status]

    @property
    def cached(self) -> int:
        assert self.usage is not None, self
        cached: int = self.usage["prompt_tokens_details"]["cached_tokens"]
        return cached


Ask = Callable[..., list[Told]]
"""`ask(url, bodies, concurrent=False, key=MONDAY)`: send bodies, one after the other or all at once."""


def ask_python(
    url: str, bodies: Iterable[Json], *, concurrent: bool = False, key: str = MONDAY
) -> list[Told]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        if not concurrent:
            return [_ask_python(client, body) for body in bodies]
        with ThreadPoolExecutor(64) as pool:
            return list(pool.map(lambda body: _ask_python(client, body), bodies))


def _ask_python(client: openai.OpenAI, body: Json) -> Told:
    known = {name: value for name, value in body.items() if name in _STANDARD}
    other = {name: value for name, value in body.items() if name not in _STANDARD}
    try:
        told: Any = client.chat.completions.create(**known, extra_body=other or None)
        if not body.get("stream"):
            answer = told.choices[0].message.content
            return Told(answer, told.model_extra.get("cache_status"), told.usage.model_dump())
        *earlier, last = chunks = list(told)
    except openai.APIError as error:
        return Told(
            error={"status": getattr(error, "status_code", None), "code": error.code, "param": error.param}
        )
    deltas = (choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    early = sum("cache_status" in chunk.model_extra for chunk in earlier)
    usage = last.usage.model_dump() if last.usage else None
    return Told("".join(deltas), last.model_extra.get("cache_status"), usage, early)


def install_node_client(folder: Path) -> Ask:
    """Install the Node client there. Raises NoNodeError."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NoNodeError("node and npm are not installed")
    for file in _NODE.iterdir():
        shutil.copy(file, folder)
    try:
        subprocess.run([npm, "ci"], cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    except subprocess.CalledProcessError as error:
        raise NoNodeError(f"npm could not install the client: {error.stderr.decode()[-500:]}") from None
    except subprocess.TimeoutExpired:
        raise NoNodeError("npm could not install the client in time") from None

    def ask_node(
        url: str, bodies: Iterable[Json], *, concurrent: bool = False, key: str = MONDAY
    ) -> list[Told]:
        given = {"url": url, "key": key, "bodies": list(bodies), "concurrent": concurrent}
        told = subprocess.run(
            [node, "client.mjs"],
            cwd=folder,
            check=False,
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=RUN_SECONDS,
        )
        assert told.returncode == 0, told.stderr.decode()
        return [Told(**one) for one in json.loads(told.stdout)]

    return ask_node
