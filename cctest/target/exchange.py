"""One HTTP request and what came back, bounded in time and size."""

import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Final, Self

import requests
import urllib3

from cctest import __version__
from cctest.target.body import BODY_LIMIT, BodyEncodingError, BodyTooLargeError, read_body
from cctest.target.credential import Authorization, Credential, Header
from cctest.target.deadline import Deadline
from cctest.target.proxy import Proxy
from cctest.target.rate import Limiter, Rate
from cctest.target.session import open_session
from cctest.target.sse import SseEvent, read_events
from cctest.target.tls import Tls

DEFAULT_DEADLINE: Final = 30.0
"""Seconds for one whole exchange, from connecting to the last byte of the body."""

CONNECT_TIMEOUT: Final = 5.0
"""Seconds for connecting to one address."""

BASE_PATH: Final = "/v1"
"""What the paths of requests begin with; a target may have it elsewhere."""

STANDARD_HEADERS: Final = (
    ("User-Agent", f"cctest/{__version__}"),
    ("Accept", "*/*"),
    ("Accept-Encoding", "identity"),
)
"""Sent with every request, besides Host and Content-Length."""

_CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """What to send. `path` starts with a slash; `/v1/` at its beginning stands for the target's base path."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    credential: Credential | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whole.

    Header names are in lower case. `started` and `ended` are monotonic seconds: before the first byte was
    sent and after the last one was received. `events` is None unless the content type is an event stream.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    started: float
    ended: float
    events: tuple[SseEvent, ...] | None = None


class ExchangeKind(StrEnum):
    """Why an exchange came to nothing."""

    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    DEADLINE = "deadline"
    TOO_LARGE = "too_large"
    BAD_ENCODING = "bad_encoding"
    BAD_TLS = "bad_tls"
    BROKEN = "broken"
    """The connection broke off, or what came over it is no HTTP."""


class ExchangeError(Exception):
    """There is no response: the exchange broke, or passed one of its bounds."""

    def __init__(self, kind: ExchangeKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Target:
    """The server under test. Safe to use from several threads; each has connections of its own.

    `url` has no trailing slash. `deadline` is in seconds and bounds each exchange as a whole,
    `connect_timeout` the connecting alone; waiting for one's turn, where there is a `rate`, isn't counted.
    """

    def __init__(
        self,
        url: str,
        *,
        base_path: str = BASE_PATH,
        deadline: float = DEFAULT_DEADLINE,
        connect_timeout: float = CONNECT_TIMEOUT,
        headers: Sequence[Header] = (),
        authorization: Authorization | None = None,
        tls: Tls | None = None,
        proxy: Proxy | None = None,
        rate: Rate | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.base_path = base_path.rstrip("/")
        self.deadline = deadline
        self.connect_timeout = connect_timeout
        self.headers = tuple(headers)
        self.authorization = authorization or Authorization()
        self.tls = tls or Tls()
        self.proxy = proxy
        self._limiter = Limiter(rate or Rate())
        self._local = threading.local()
        self._lock = threading.Lock()
        self._sessions: list[requests.Session] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._lock:
            for session in self._sessions:
                session.close()
            self._sessions.clear()

    def address(self, path: str) -> str:
        """Give the URL of a request's path, with the target's base path in it."""
        if path.startswith(f"{BASE_PATH}/"):
            path = self.base_path + path.removeprefix(BASE_PATH)
        return self.url + path

    def send(self, request: Request, *, deadline: float | None = None) -> Response:
        """Send a request and read the whole response, within `deadline` seconds (default: the target's).

        Raises ExchangeError where there is no whole response; any HTTP status is a response.
        """
        seconds = self.deadline if deadline is None else deadline
        with self._limiter.turn(), Deadline(seconds) as watch:
            try:
                response = self._exchange(request, watch)
            except (OSError, urllib3.exceptions.HTTPError) as error:
                if watch.expired:
                    raise _too_late(seconds) from None
                raise self._explain(error, seconds) from error
            except BodyTooLargeError as error:
                raise ExchangeError(ExchangeKind.TOO_LARGE, str(error)) from None
            except BodyEncodingError as error:
                if watch.expired:
                    raise _too_late(seconds) from None
                raise ExchangeError(ExchangeKind.BAD_ENCODING, str(error)) from None
            if watch.expired:  # an end of file that the deadline made looks like the end of a body
                raise _too_late(seconds)
            return response

    def _exchange(self, request: Request, watch: Deadline) -> Response:
        started = time.monotonic()
        with self._session().request(
            request.method,
            self.address(request.path),
            headers=dict(self.header_fields(request)),
            data=request.body,
            timeout=(self.connect_timeout, watch.remaining()),
            allow_redirects=False,
            stream=True,
        ) as answer:
            body = read_body(_chunks(answer.raw), answer.headers.get("content-encoding", ""), BODY_LIMIT)
            ended = time.monotonic()
            headers = {name.lower(): value for name, value in answer.headers.items()}
            streamed = headers.get("content-type", "").lower().startswith("text/event-stream")
            events = tuple(read_events((body,))) if streamed else None
            return Response(answer.status_code, headers, body, started, ended, events)

    def header_fields(self, request: Request) -> Iterator[tuple[str, str]]:
        """Yield the headers of a request, each name once whatever its case: what is more special wins."""
        fields: dict[str, tuple[str, str]] = {}
        own = [*self.headers, *(request.credential.headers if request.credential else ())]
        for name, value in (
            *STANDARD_HEADERS,
            *((header.name, header.value) for header in own),
            *request.headers,
            *self._authorized(request.credential),
        ):
            fields[name.lower()] = (name, value)
        yield from fields.values()

    def _authorized(self, credential: Credential | None) -> Iterator[tuple[str, str]]:
        if credential is not None:
            yield self.authorization.header, self.authorization.value(credential.token)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = open_session(self.tls, self.proxy)
            self._local.session = session
            with self._lock:
                self._sessions.append(session)
        return session

    def _explain(self, error: Exception, seconds: float) -> ExchangeError:
        causes = tuple(_causes(error))
        words = {"url": self.url, "seconds": f"{seconds:g}", "cause": _in_words(causes), "proxy": ""}
        if self.proxy is not None:
            words["proxy"] = f" through the proxy {self.proxy.address}"
            if any(isinstance(cause, urllib3.exceptions.ProxyError) for cause in causes):
                text = "the proxy {address} that {variable} names can't be used: {cause}"
                proxy = {"address": self.proxy.address, "variable": self.proxy.variable}
                return ExchangeError(ExchangeKind.UNREACHABLE, text.format(**words, **proxy))
        if any(getattr(cause, "reason", None) in _PLAIN_HTTP for cause in causes):
            text = (
                "no secure connection to {url}: it seems to speak plain HTTP; write http:// if that is meant"
            )
            return ExchangeError(ExchangeKind.BAD_TLS, text.format(**words))
        for kinds, kind, message in _EXPLANATIONS:
            if any(isinstance(cause, kinds) for cause in causes):
                return ExchangeError(kind, message.format(**words))
        return ExchangeError(ExchangeKind.BROKEN, "the exchange{proxy} broke off: {cause}".format(**words))


_PLAIN_HTTP: Final = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
    "RECORD_LAYER_FAILURE",
)
"""What OpenSSL calls an answer that is no TLS at all."""
_TLS_ERRORS: Final = (ssl.SSLError, ssl.CertificateError, urllib3.exceptions.SSLError)
_NAME_ERRORS: Final = (
    urllib3.exceptions.NameResolutionError,
    urllib3.exceptions.LocationValueError,
    requests.exceptions.InvalidURL,
)
_CONNECT_ERRORS: Final = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
    requests.exceptions.ConnectTimeout,
)
_TIMEOUTS: Final = (TimeoutError, urllib3.exceptions.TimeoutError, requests.exceptions.Timeout)
_EXPLANATIONS: Final = (
    (_TLS_ERRORS, ExchangeKind.BAD_TLS, "no secure connection to {url}: {cause}"),
    ((ConnectionRefusedError,), ExchangeKind.REFUSED, "{url} refuses connections"),
    (_NAME_ERRORS, ExchangeKind.UNREACHABLE, "no address for {url}: {cause}"),
    (_CONNECT_ERRORS, ExchangeKind.UNREACHABLE, "no connection to {url}: {cause}"),
    (_TIMEOUTS, ExchangeKind.DEADLINE, "no complete answer within {seconds} s"),
)
"""What an error is taken for: the first of these that is among its causes."""


def _chunks(raw: urllib3.HTTPResponse) -> Iterator[bytes]:
    while chunk := raw.read(_CHUNK, decode_content=False):
        yield chunk


def _too_late(seconds: float) -> ExchangeError:
    return ExchangeError(ExchangeKind.DEADLINE, f"no complete answer within {seconds:g} s")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and everything that led to it; `urllib3` keeps causes in `args` and `reason`."""
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            waiting += [*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__]


def _in_words(causes: Sequence[BaseException]) -> str:
    """Say what the operating system, or else the last cause, has to say, on one line."""
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    text = str(causes[-1]) or type(causes[-1]).__name__
    return " ".join(text.split())[:200]
