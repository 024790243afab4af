"""A real vLLM on this machine's CPU, as `make vllm` set it up: started, waited for, and stopped.

Whoever has a vLLM of their own names it in the environment instead: `VLLM_BASE_URL`, `VLLM_MODEL` and, where
it asks for one, `VLLM_API_KEY`.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final

import requests

BASE_URL: Final = "VLLM_BASE_URL"
MODEL: Final = "VLLM_MODEL"
API_KEY: Final = "VLLM_API_KEY"
VENV: Final = "VLLM_VENV"
"""Folder of the engine's environment; `.vllm` unless set."""

BLOCK_SIZE: Final = 32
"""Tokens per block of an engine that is started here: the smallest that runs on a CPU."""

REGIONS: Final = "vllm_cache_regions"
"""Our plugin for vLLM, as `VLLM_PLUGINS` and its end point call it."""

_START_SECONDS: Final = 300.0
_STOP_SECONDS: Final = 20.0
_ASK_SECONDS: Final = 5.0


class NoEngineError(Exception):
    """There is no engine to prove anything on; the message says why, and what would help."""


class Model(StrEnum):
    """The models that `make vllm` makes, by the name under which an engine serves them."""

    TINY = "tiny"
    LARGER = "larger"

    @property
    def folder(self) -> str:
        """Its folder in that of the engine's environment."""
        return "model" if self is Model.TINY else f"model-{self}"


@dataclass(frozen=True, slots=True)
class Engine:
    """A vLLM that answers at `url`, which has no `/v1`. `pid` leads its processes if it was started here."""

    url: str
    model: str
    key: str | None = None
    pid: int | None = None

    def version(self) -> str:
        """Ask which version it is."""
        return str(self._get("/version").json()["version"])

    def block_size(self) -> int:
        """Ask for the tokens of a block of its cache."""
        found = re.search(r'^vllm:cache_config_info\{.*\bblock_size="(\d+)"', self._metrics(), re.MULTILINE)
        if found is None:
            raise NoEngineError(f"{self.url}/metrics tells no block size: is it a vLLM?")
        return int(found[1])

    def counter(self, name: str) -> float:
        """Sum up a counter of its metrics over all labels, for example `vllm:prefix_cache_hits_total`."""
        values = re.findall(rf"^{re.escape(name)}(?:\{{.*\}})? (\S+)$", self._metrics(), re.MULTILINE)
        return sum(map(float, values))

    def regions(self) -> dict[str, Any] | None:
        """Ask what our plugin says of itself; None where it isn't in force."""
        response = requests.get(f"{self.url}/cache_regions", headers=self.headers(), timeout=_ASK_SECONDS)
        status = response.json() if response.status_code == 200 else {}
        return status if status.get("plugin") == REGIONS and status.get("active") else None

    def headers(self) -> dict[str, str]:
        """Give what its requests need beside a body."""
        return {} if self.key is None else {"Authorization": f"Bearer {self.key}"}

    def _metrics(self) -> str:
        return self._get("/metrics").text

    def _get(self, path: str) -> requests.Response:
        response = requests.get(self.url + path, headers=self.headers(), timeout=_ASK_SECONDS)
        response.raise_for_status()
        return response


@dataclass(frozen=True, slots=True)
class Options:
    """How to start an engine.

    `blocks` is the size of its cache, in blocks; None takes 1 GiB. `usage_details` is whether responses tell
    what was cached, `regions` whether our plugin is loaded. `more` are further options of vLLM's.
    """

    model: Model = Model.TINY
    regions: bool = False
    blocks: int | None = None
    usage_details: bool = True
    context: int = 8192
    more: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Spell them for vLLM."""
        given = ["--max-model-len", str(self.context), "--block-size", str(BLOCK_SIZE)]
        if self.blocks is not None:
            given += ["--num-gpu-blocks-override", str(self.blocks)]
        if self.usage_details:
            given.append("--enable-prompt-tokens-details")
        return [*given, *self.more]


def _reason(error: Exception) -> str:
    """Say in words why there is no list of models."""
    if isinstance(error, requests.HTTPError):
        return f"it answers with HTTP {error.response.status_code}"
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection; if it speaks plain HTTP, write http://"
    if isinstance(error, requests.Timeout):
        return f"it doesn't answer within {_ASK_SECONDS} s"
    if isinstance(error, requests.ConnectionError):
        return "nothing answers there"
    return "what answers at /v1/models is no engine"


def given_engine(*, regions: bool = False) -> Engine | None:
    """Give the engine that the environment names, if it names one.

    Raises NoEngineError if it isn't there, or if `regions` are wanted and it has none.
    """
    url = os.environ.get(BASE_URL, "").rstrip("/").removesuffix("/v1").rstrip("/")
    if not url:
        return None
    engine = Engine(url, "", os.environ.get(API_KEY) or None)
    try:
        models = [str(model["id"]) for model in engine._get("/v1/models").json()["data"]]
    except (requests.RequestException, ValueError, LookupError, TypeError) as error:
        raise NoEngineError(
            f"{BASE_URL} is {url}, but no models are listed there: {_reason(error)}"
        ) from None
    model = os.environ.get(MODEL) or next(iter(models), "")
    if model not in models:
        raise NoEngineError(f"{MODEL} is {model!r}, but the engine at {url} has {', '.join(models)}")
    if regions and engine.regions() is None:
        raise NoEngineError(f"the engine at {url} was started without the plugin {REGIONS}, or can't use it")
    return Engine(url, model, engine.key)


def environment(model: Model = Model.TINY) -> Path:
    """Give the folder that `make vllm` made, with a model in it. Raises NoEngineError."""
    folder = Path(os.environ.get(VENV, ".vllm")).absolute()
    if not (folder / model.folder / "config.json").exists():
        raise NoEngineError(f"no engine in {folder}: run `make vllm`, or set {BASE_URL} to one of your own")
    return folder


@contextlib.contextmanager
def running_engine(options: Options | None = None, *, port: int = 0) -> Iterator[Engine]:
    """Run an engine with a model of ours on the loopback interface; port 0 takes a free one.

    Raises NoEngineError if there is none, or, with the end of what it had to say, if it doesn't start.
    """
    options = options or Options()
    folder = environment(options.model)
    port = port or _free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [str(folder / "bin" / "python"), *_command(folder, port, options)],
            env=_variables(regions=options.regions),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # the engine is several processes: they are stopped together
        )
        try:
            engine = Engine(f"http://127.0.0.1:{port}", options.model, pid=process.pid)
            _wait_until_ready(engine, process, log)
            yield engine
        finally:
            _stop(process)


@contextlib.contextmanager
def any_engine(options: Options | None = None) -> Iterator[Engine]:
    """Give the engine that the environment names, or else run one with `options`.

    One that is named has regions too if they are wanted. Raises NoEngineError.
    """
    given = given_engine(regions=options is not None and options.regions)
    if given is not None:
        yield given
        return
    with running_engine(options) as engine:
        yield engine


def _command(folder: Path, port: int, options: Options) -> list[str]:
    return [
        *(str(Path(__file__).with_name("serve.py")), "--host", "127.0.0.1", "--port", str(port)),
        *(
            "--model",
            str(folder / options.model.folder),
            "--served-model-name",
            options.model,
            "--load-format",
            "dummy",
        ),
        *("--dtype", "bfloat16", "--enforce-eager", "--enable-prefix-caching"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *options.arguments(),
    ]


def _variables(*, regions: bool) -> dict[str, str]:
    ours = {BASE_URL, MODEL, API_KEY, VENV, "PYTHONPATH"}
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return inherited | {
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_PLUGINS": REGIONS if regions else "",  # without a name here vLLM loads whatever is installed
    }


def _wait_until_ready(engine: Engine, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(requests.RequestException):
            engine._get("/health")
            return
        if process.poll() is not None:
            break
        time.sleep(0.2)
    log.seek(0)
    said = log.read().decode("utf-8", "replace").splitlines()[-40:]
    raise NoEngineError("vLLM didn't start:\n" + "\n".join(said))


def _stop(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_STOP_SECONDS)  # closes its standard input, which stops it
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
