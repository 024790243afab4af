"""An OpenAI-compatible engine over HTTP: one client, one deadline for each exchange, no caller's header.

No cookie is kept, no redirect followed, no proxy taken from the environment, and nothing sent twice.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from cctest.contract.source import JsonValue
from reference_gateway.engine_failure import broken_off, no_completion, refused, too_slow, unreachable
from reference_gateway.problem import ConfigurationError
from reference_gateway.refusal import RefusalError

ANSWER_LIMIT: Final = 64 * 1024 * 1024
"""Most bytes of a plain answer."""

_BLOCK_SIZE: Final = re.compile(rb'^vllm:cache_config_info\{[^}\n]*\bblock_size="(\d{1,5})"', re.MULTILINE)
_ERROR_LIMIT: Final = 64 * 1024
_NO_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=10.0)
"""The client's own limit of a whole exchange is rounded up to seconds, and sleeps while nobody reads."""
_ASK_SECONDS: Final = 2.0
_QUESTION_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 4.0
"""Less than the 5 seconds after which the usual servers close an idle connection, maybe as it is used."""
_FINISH_SECONDS: Final = 0.2


class Exchange:
    """The engine's response to one request, whose status is 200 and whose body is yet to be read.

    When its time is up the connection is closed, whoever reads or doesn't, and the engine drops the request.
    """

    def __init__(self, response: aiohttp.ClientResponse, ends_at: float) -> None:
        self._response = response
        self._expired = False
        self._timer = asyncio.get_running_loop().call_at(ends_at, self._expire)

    async def answer(self) -> bytes:
        """Read a plain answer. Raises RefusalError."""
        with told(self._broken_off):
            body = await _read(self._response, ANSWER_LIMIT)
        if len(body) > ANSWER_LIMIT:
            raise no_completion()
        return body

    async def pieces(self) -> AsyncIterator[bytes]:
        """Read a stream as it comes, and no faster than the pieces are taken. Raises RefusalError."""
        with told(self._broken_off):
            async for piece in self._response.content.iter_any():
                yield piece
        if self._expired:
            raise too_slow()

    async def finish(self) -> None:
        """Wait a moment for the end of a stream that is done, so that its connection can be used again."""
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(_FINISH_SECONDS):
                while await self._response.content.readany():
                    pass

    def close(self) -> None:
        """Call the engine's work off, if it isn't done; at any time, and as often as one likes."""
        self._timer.cancel()
        self._response.close()

    def _expire(self) -> None:
        self._expired = True
        self._response.close()

    def _broken_off(self) -> RefusalError:
        return too_slow() if self._expired else broken_off()


class Upstream:
    """An engine at `url`, with or without `/v1`. `deadline` is in seconds, for a whole exchange."""

    def __init__(self, url: str, *, key: str | None = None, deadline: float) -> None:
        self.url: Final = _base(url)
        self.deadline: Final = deadline
        self._headers = {"User-Agent": "reference-gateway", "Accept-Encoding": "identity"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._session: aiohttp.ClientSession | None = None

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep connections while the block runs."""
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
        ) as self._session:
            yield

    async def chat(self, body: bytes, salt: str | None, ends_at: float) -> Exchange:
        """Send a chat request; `ends_at` is the instant of the event loop's clock at which its time is up.

        Raises RefusalError.
        """
        with told(unreachable):
            async with asyncio.timeout_at(ends_at):
                response = await self._post(body)
        exchange = Exchange(response, ends_at)
        if response.status == 200:
            return exchange
        error = b""
        with contextlib.closing(exchange), contextlib.suppress(aiohttp.ClientError, OSError):
            error = await _read(response, _ERROR_LIMIT)  # without it, the status tells enough
        raise refused(response.status, error, response.headers.get("Retry-After"), salt)

    async def models(self) -> tuple[str, ...] | None:
        """Ask for the names of the models; None where no usable answer comes within two seconds."""
        try:
            listed = json.loads(await self._ask("/v1/models"))
            names = tuple(model["id"] for model in listed["data"])
        except (aiohttp.ClientError, OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return names if names and all(isinstance(name, str) for name in names) else None

    async def block_size(self) -> int | None:
        """Ask a vLLM for the tokens in a block of its cache; None where it isn't told within two seconds."""
        try:
            told_sizes = _BLOCK_SIZE.findall(await self._ask("/metrics"))
        except (aiohttp.ClientError, OSError):
            return None
        # Several engines behind one address: with the smallest block, least is claimed.
        return min(map(int, told_sizes), default=None)

    async def _ask(self, path: str) -> bytes:
        """Get a page. Raises aiohttp.ClientError or OSError where there is none."""
        async with self._client.get(
            f"{self.url}{path}", timeout=aiohttp.ClientTimeout(total=_ASK_SECONDS), allow_redirects=False
        ) as response:
            if response.status != 200:
                raise aiohttp.ClientError(f"status {response.status}")
            return await _read(response, ANSWER_LIMIT)

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        """Post a question that isn't a caller's; give status and JSON, or None where none comes in time."""
        try:
            async with self._client.post(
                f"{self.url}{path}",
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=aiohttp.ClientTimeout(total=_QUESTION_SECONDS),
                allow_redirects=False,
            ) as response:
                return response.status, json.loads(await _read(response, ANSWER_LIMIT))
        except (aiohttp.ClientError, OSError, ValueError, RecursionError):
            return None

    async def _post(self, body: bytes) -> aiohttp.ClientResponse:
        return await self._client.post(
            f"{self.url}/v1/chat/completions",
            data=body,
            headers={"Content-Type": "application/json"},
            timeout=_NO_TIMEOUT,
            allow_redirects=False,
        )

    @property
    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the engine's connections are not open")
        return self._session


@contextlib.contextmanager
def told(failure: Callable[[], RefusalError]) -> Iterator[None]:
    """Raise `failure` in place of the client's errors, save for those that say that time is up."""
    try:
        yield
    except TimeoutError:
        raise too_slow() from None
    except (aiohttp.ClientError, OSError):
        raise failure() from None


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read a body; of a longer one, little more than `limit` bytes."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > limit:
            break
    return bytes(body)


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
