"""An instrumented engine with gateways in front of it, each a process of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from cctest.instrument.bodytext import holds
from cctest.instrument.client import Engine, EngineRecord, running_engine
from gateway.process import running
from gateway.talk import MONDAY, Caller

MODEL = "instrumented"
SECRET = "fake secret of the tests, 32 bytes or so"


class Setting:
    """The engine, and the gateways that were started in front of it."""

    def __init__(self, engine: Engine, folder: Path, start: Callable[..., str]) -> None:
        self.engine = engine
        self._folder = folder
        self._start = start
        self.url = self.gateway()

    def gateway(self, *options: str, secret: str = SECRET) -> str:
        """Start another gateway and give its address."""
        return self._start(*forwarding(self.engine.url, self._folder, secret), *options)

    def caller(self, token: str = MONDAY, url: str | None = None) -> Caller:
        return Caller(url or self.url, token, MODEL)

    def arrived(self, text: str) -> list[EngineRecord]:
        """What reached the engine with `text` in it."""
        return [entry for entry in self.engine.entries() if holds(entry.body, text)]

    def salts(self, text: str) -> list[str]:
        """The partitions of the requests with `text`, in order."""
        found = [record.members().get("cache_salt") for record in self.arrived(text)]
        assert all(isinstance(salt, str) for salt in found), found
        return [str(salt) for salt in found]

    def misbehave(self, text: str, **do: Any) -> None:
        self.engine.misbehave([{"match": text, "do": do}])


def forwarding(engine_url: str, folder: Path, secret: str = SECRET) -> list[str]:
    """Options of a gateway in front of an engine, with a secret in a file."""
    file = folder / f"secret-{len(list(folder.iterdir()))}"
    file.touch(mode=0o600)
    file.write_text(secret + "\n")
    return ["--backend", "vllm", "--engine-url", engine_url, "--salt-secret-file", str(file)]


@contextmanager
def setting(folder: Path) -> Iterator[Setting]:
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(stack.enter_context(running_engine())))
        yield Setting(engine, folder, lambda *options: stack.enter_context(running(*options))[0])
