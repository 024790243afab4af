"""An OpenAI-compatible engine over HTTP: one deadline for each exchange, and no caller's header."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Collection
from typing import Final
from urllib.parse import urlsplit

from cctest.contract.source import JsonValue
from reference_gateway.engine.client import EngineClient
from reference_gateway.engine.connection import Response
from reference_gateway.engine.failure import broken_off, no_completion, refused, too_slow, unreachable
from reference_gateway.problem import ConfigurationError
from reference_gateway.refusal import RefusalError

ANSWER_LIMIT: Final = 64 * 1024 * 1024
"""Most bytes of a plain answer."""

_BLOCK_SIZE: Final = re.compile(rb'^vllm:cache_config_info\{[^}\n]*\bblock_size="(\d{1,5})"', re.MULTILINE)
_ERROR_LIMIT: Final = 64 * 1024
_ASK_SECONDS: Final = 2.0
_QUESTION_SECONDS: Final = 10.0
_QUESTION_LIMIT: Final = 16 * 1024 * 1024
_LOOK_SECONDS: Final = 6.0
_LARGE: Final = 262_144
"""An answer of so many bytes is parsed off the event loop."""
_FINISH_SECONDS: Final = 0.2


class EngineExchange:
    """The engine's response to one request, whose status is 200 and whose body is yet to be read.

    When its time is up the connection is closed, whoever reads or doesn't, and the engine drops the request.
    """

    def __init__(self, response: Response) -> None:
        self._response = response

    async def answer(self) -> bytes:
        """Read a plain answer. Raises RefusalError."""
        with told(broken_off):
            body = await _read(self._response, ANSWER_LIMIT)
        if len(body) > ANSWER_LIMIT:
            raise no_completion()
        return body

    async def pieces(self) -> AsyncIterator[bytes]:
        """Read a stream as it comes, and no faster than the pieces are taken. Raises RefusalError."""
        with told(broken_off):
            while piece := await self._response.piece():
                yield piece

    async def finish(self) -> None:
        """Wait a moment for the end of a stream that is done, so that its connection can be used again."""
        if self._response.complete:
            return
        with contextlib.suppress(OSError):
            async with asyncio.timeout(_FINISH_SECONDS):
                while await self._response.piece():
                    pass

    def close(self) -> None:
        """Call the engine's work off, if it isn't done; at any time, and as often as one likes."""
        self._response.close()


class Upstream:
    """An engine at `url`, with or without `/v1`. `deadline` is in seconds, for a whole exchange."""

    def __init__(self, url: str, *, key: str | None = None, deadline: float) -> None:
        self.url: Final = _base(url)
        self.deadline: Final = deadline
        headers = {"User-Agent": "reference-gateway", "Accept-Encoding": "identity"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._client = EngineClient(self.url, headers)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep connections while the block runs."""
        try:
            yield
        finally:
            self._client.close()

    def when_broken(self, call: Callable[[], None]) -> None:
        """Have something called where the engine may have been started anew: see `EngineClient`."""
        self._client.broken = call

    async def chat(self, body: bytes, salts: Collection[str], ends_at: float) -> EngineExchange:
        """Send a chat request; `ends_at` is the instant of the event loop's clock at which its time is up.

        `salts` are those in it, of which nobody must be told. Raises RefusalError.
        """
        with told(unreachable):
            response = await self._client.post("/v1/chat/completions", body, ends_at)
        if response.status == 200:
            return EngineExchange(response)
        error = b""
        with contextlib.closing(response), contextlib.suppress(OSError):
            error = await _read(response, _ERROR_LIMIT)  # without it, the status tells enough
        retry_after = response.headers.get(b"retry-after", b"").decode("latin-1")
        raise refused(response.status, error, retry_after or None, salts)

    async def models(self) -> tuple[str, ...] | None:
        """Ask for the names of the models; None where no usable answer comes within two seconds."""
        try:
            listed = json.loads(await self._ask("/v1/models"))
            names = tuple(model["id"] for model in listed["data"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return names if names and all(isinstance(name, str) for name in names) else None

    async def block_size(self) -> int | None:
        """Ask a vLLM for the tokens in a block of its cache; None where it isn't told within two seconds."""
        try:
            told_sizes = _BLOCK_SIZE.findall(await self._ask("/metrics"))
        except OSError:
            return None
        # Several engines behind one address: with the smallest block, least is claimed.
        return min(map(int, told_sizes), default=None)

    async def _ask(self, path: str) -> bytes:
        """Get a page. Raises OSError where there is none."""
        with contextlib.closing(await self._client.get(path, _in(_ASK_SECONDS))) as response:
            if response.status != 200:
                raise ConnectionError(f"status {response.status}")
            return await _read(response, ANSWER_LIMIT)

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        """Post a question that isn't a caller's; give status and JSON, or None where none comes in time."""
        try:
            response = await self._client.post(path, body, _in(_QUESTION_SECONDS))
            with contextlib.closing(response):
                return response.status, await _json(await _read(response, _QUESTION_LIMIT))
        except (OSError, ValueError, RecursionError):
            return None

    async def look(self, path: str) -> tuple[int, JsonValue] | None:
        """Get a page that may be there; give status and JSON, None for a body that is none.

        None where no answer comes within six seconds.
        """
        try:
            with contextlib.closing(await self._client.get(path, _in(_LOOK_SECONDS))) as response:
                body = await _read(response, _ERROR_LIMIT)
        except OSError:
            return None
        try:
            return response.status, json.loads(body)
        except (ValueError, RecursionError):
            return response.status, None


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


class told:  # noqa: N801 - reads as the statement that it makes
    """Raise `failure` in place of the client's errors, save for those that say that time is up."""

    __slots__ = ("_failure",)

    def __init__(self, failure: Callable[[], RefusalError]) -> None:
        self._failure = failure

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, TimeoutError):
            raise too_slow() from None
        if isinstance(error, OSError):
            raise self._failure() from None


async def _read(response: Response, limit: int) -> bytes:
    """Read a body; of a longer one, little more than `limit` bytes."""
    pieces, size = [], 0
    while size <= limit and (piece := await response.piece()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


async def _json(text: bytes) -> JsonValue:
    value: JsonValue = json.loads(text) if len(text) < _LARGE else await asyncio.to_thread(json.loads, text)
    return value


def _base(url: str) -> str:
    """Check an engine's address, and give it without the path that all end points share."""
    parts = urlsplit(url)
    where = "--engine-url"
    try:
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment:
        raise ConfigurationError(
            "not an address that can be used", where=where, hint="like this: http://127.0.0.1:8000"
        )
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            "a password doesn't belong in an address", where=where, hint="use --engine-key-file"
        )
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
