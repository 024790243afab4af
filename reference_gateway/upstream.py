"""An OpenAI-compatible engine over HTTP: one client, one deadline for each exchange, no caller's header.

No cookie is kept, no redirect followed, no proxy taken from the environment, and nothing sent twice.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from reference_gateway.engine_failure import broken_off, no_completion, refused, too_slow, unreachable
from reference_gateway.problem import ConfigurationError
from reference_gateway.refusal import RefusalError

ANSWER_LIMIT: Final = 64 * 1024 * 1024
"""Most bytes of a plain answer."""

_ERROR_LIMIT: Final = 64 * 1024
_CONNECT_SECONDS: Final = 10.0
_ASK_SECONDS: Final = 2.0
_IDLE_SECONDS: Final = 4.0
"""Less than the 5 seconds after which the usual servers close an idle connection, maybe as it is used."""
_FINISH_SECONDS: Final = 0.2


class Upstream:
    """An engine at `url`, with or without `/v1`. `deadline` is in seconds, for a whole exchange."""

    def __init__(self, url: str, *, key: str | None = None, deadline: float) -> None:
        self.url: Final = _base(url)
        self._deadline = aiohttp.ClientTimeout(total=deadline, sock_connect=_CONNECT_SECONDS)
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

    async def chat(self, body: bytes, salt: str | None) -> aiohttp.ClientResponse:
        """Send a chat request and give the response to it, whose status is 200. Its body is yet to be read.

        Raises RefusalError.
        """
        response = await self._post(body)
        if response.status == 200:
            return response
        error = b""
        with contextlib.closing(response), contextlib.suppress(aiohttp.ClientError, OSError):
            error = await _read(response, _ERROR_LIMIT)  # without it, the status tells enough
        raise refused(response.status, error, response.headers.get("Retry-After"), salt)

    async def models(self) -> tuple[str, ...] | None:
        """Ask for the names of the models; None where no usable answer comes within two seconds."""
        try:
            async with self._client.get(
                f"{self.url}/v1/models",
                timeout=aiohttp.ClientTimeout(total=_ASK_SECONDS),
                allow_redirects=False,
            ) as response:
                listed = json.loads(await _read(response, ANSWER_LIMIT))
                names = [model["id"] for model in listed["data"]]
        except (aiohttp.ClientError, OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        usable = response.status == 200 and all(isinstance(name, str) for name in names)
        return tuple(names) if usable and names else None

    async def _post(self, body: bytes) -> aiohttp.ClientResponse:
        with told(unreachable):
            return await self._client.post(
                f"{self.url}/v1/chat/completions",
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=self._deadline,
                allow_redirects=False,
            )

    @property
    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the engine's connections are not open")
        return self._session


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read a plain answer. Raises RefusalError."""
    with told(broken_off):
        body = await _read(response, ANSWER_LIMIT)
    if len(body) > ANSWER_LIMIT:
        raise no_completion()
    return body


async def read_pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Read a stream as it comes, and no faster than the pieces are taken. Raises RefusalError."""
    with told(broken_off):
        async for piece in response.content.iter_any():
            yield piece


async def finish(response: aiohttp.ClientResponse) -> None:
    """Wait a moment for the end of a stream that is done, so that its connection can be used again."""
    with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(_FINISH_SECONDS):
            while await response.content.readany():
                pass


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
