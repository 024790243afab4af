"""The harness's side of an instrumented engine: its record as evidence, and its misbehaviour on demand."""

import base64
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from cctest.child import running
from cctest.contract.source import JsonValue
from cctest.instrument.record import Ending
from cctest.instrument.regions import Region
from cctest.instrument.settings import NAME, Settings
from cctest.problem import TargetProblem, UsageProblem
from cctest.target.chat import ABSENT, Absent
from cctest.target.exchange import ExchangeError, Request, Response, Target

CHAT_PATH: Final = "/v1/chat/completions"
DEADLINE: Final = 10.0
"""Seconds for one exchange with an engine."""


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """One request that reached the engine, as far as it was served when the record was read.

    `arrived` and `ended` are monotonic seconds of the engine's machine. Header names are in lower case; a
    value that may be a credential is `record.header_digest` of it. `body` is exactly what was received.
    `status` is the HTTP status that was sent. `prompt_tokens` and `cached_tokens` are None where nothing was
    computed, and so are `looked_up`, the instant at which that was done, and `retained`, whether anything was
    kept of it. `recalled` counts the parts whose item came with an earlier request, under the same name.
    `misbehaviour` is the `do` of the rule that was applied, if any. `regions` are those that the
    request brought, `in_effect` those that held; without, `cache_salt` is that of all of it.
    """

    number: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    arrived: float
    ended: float | None
    ending: Ending
    status: int | None
    body: bytes
    body_complete: bool
    cache_salt: "JsonValue | Absent"
    prompt_tokens: int | None
    cached_tokens: int | None
    canaries: tuple[str, ...]
    misbehaviour: JsonValue
    regions: tuple[Region, ...] = ()
    in_effect: tuple[Region, ...] = ()
    looked_up: float | None = None
    retained: bool | None = None
    recalled: int = 0

    @property
    def asks_for_answer(self) -> bool:
        """Whether it is a chat request. A gateway may also have a caller's text rendered, and no more."""
        return self.path.partition("?")[0] == CHAT_PATH

    @property
    def salts(self) -> "tuple[JsonValue | Absent, ...]":
        """All salts that it brought; the first one is `cache_salt`."""
        return (self.cache_salt, *(region.salt for region in self.regions))

    @property
    def partitions(self) -> "tuple[tuple[int, JsonValue | Absent], ...]":
        """The salts that held, each with the token from which on, in order."""
        return tuple((one.start, one.salt) for one in self.in_effect) or ((0, self.cache_salt),)

    def header(self, name: str) -> str | None:
        """Give the first value of a header; `name` in lower case."""
        return next((value for known, value in self.headers if known == name), None)

    def members(self) -> dict[str, JsonValue]:
        """Give the members of the body; none where it is no JSON object."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class About:
    """What an engine says of itself.

    `latest` is the number of its latest entry, `dropped` how many its bounds have dropped, `now` its clock.
    """

    version: str
    settings: Settings
    latest: int
    dropped: int
    now: float


class Engine:
    """An instrumented engine that runs at `url`. Safe to use from several threads.

    Every method raises TargetProblem where no instrumented engine answers.
    """

    def __init__(self, url: str, *, deadline: float = DEADLINE) -> None:
        self.url = url.rstrip("/")
        self._target = Target(self.url, deadline=deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of every thread."""
        self._target.close()

    def about(self) -> About:
        """Ask the engine what it is."""
        told = self._object(self._send("GET", "/cctest/about"))
        try:
            settings = Settings(**{name: told[name] for name in Settings.__slots__})
            if told["name"] == NAME:
                return About(told["version"], settings, told["latest"], told["dropped"], told["now"])
        except KeyError:
            pass
        raise self._stranger("answers in another way")

    def entries(self, after: int = 0) -> tuple[EngineRecord, ...]:
        """Give all entries with numbers above `after`, in order of arrival; open ones too.

        Raises TargetProblem where some of them have been dropped: what is missing would be no evidence.
        """
        entries: list[EngineRecord] = []
        more = True
        while more:
            told = self._object(self._send("GET", f"/cctest/record?after={after}"))
            if told.get("missed"):
                raise TargetProblem(
                    f"the engine's record has lost {told['missed']} entries after number {after}",
                    where=self.url,
                    hint="ask for them more often, or send less through the engine",
                )
            try:
                entries += [_entry(entry) for entry in told["entries"]]
                more = told["more"] is True and bool(told["entries"])
            except (KeyError, TypeError, ValueError):
                raise self._stranger("keeps another kind of record") from None
            after = entries[-1].number if entries else after
        return tuple(entries)

    def misbehave(self, rules: Sequence[Mapping[str, JsonValue]]) -> None:
        """Add rules as `cctest.instrument.misbehaviour` describes them; earlier ones with the same match go.

        Raises UsageProblem where the engine can't read them.
        """
        body = json.dumps([dict(rule) for rule in rules]).encode()
        response = self._send("PUT", "/cctest/misbehaviour", body)
        if response.status == 400:
            raise UsageProblem(f"no such misbehaviour: {self._object(response).get('error')}")
        self._check(response)

    def behave(self, match: str | None = None) -> None:
        """Remove the rules with this match, or all."""
        query = "" if match is None else f"?match={quote(match, safe='')}"
        self._check(self._send("DELETE", f"/cctest/misbehaviour{query}"))

    def clear(self) -> None:
        """Empty the record; numbers go on."""
        self._check(self._send("DELETE", "/cctest/record"))

    def _send(self, method: str, path: str, body: bytes | None = None) -> Response:
        try:
            return self._target.send(Request(method, path, body=body))
        except ExchangeError as error:
            raise self._stranger(error.message) from error

    def _check(self, response: Response) -> None:
        if response.status != 204:
            raise self._stranger(f"status {response.status}")

    def _object(self, response: Response) -> dict[str, Any]:
        try:
            value = json.loads(response.body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._stranger(f"status {response.status}, and no JSON object")
        return value

    def _stranger(self, why: str) -> TargetProblem:
        return TargetProblem(
            f"no instrumented engine can be talked to: {why}",
            where=self.url,
            hint="start one with `cctest engine`",
        )


@contextmanager
def running_engine(
    settings: Settings | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> Iterator[str]:
    """Run an instrumented engine as a process of its own and give its URL; port 0 takes a free one.

    Raises UsageProblem if it can't be installed or doesn't start.
    """
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise UsageProblem("the instrumented engine isn't installed", hint="pip install 'cctest[gateway]'")
    wanted = settings or Settings()
    arguments = ["cctest", "engine", "--host", host, "--port", str(port), "--model", wanted.model]
    arguments += ["--block-size", str(wanted.block_size), "--capacity-blocks", str(wanted.capacity_blocks)]
    arguments += [] if wanted.usage_details else ["--no-usage-details"]
    arguments += ["--regions"] if wanted.regions else []
    with running([*arguments, "--stop-with-stdin"], "the instrumented engine") as url:
        yield url


def _entry(told: Mapping[str, Any]) -> EngineRecord:
    text = told.get("body_text")
    return EngineRecord(
        number=told["number"],
        method=told["method"],
        path=told["path"],
        headers=tuple((name, value) for name, value in told["headers"]),
        arrived=told["arrived"],
        ended=told["ended"],
        ending=Ending(told["ending"]),
        status=told["status"],
        body=base64.b64decode(told["body_base64"]) if text is None else text.encode(),
        body_complete=told["body_complete"],
        cache_salt=told.get("cache_salt", ABSENT),
        prompt_tokens=told["prompt_tokens"],
        cached_tokens=told["cached_tokens"],
        looked_up=told["looked_up"],
        retained=told["retained"],
        recalled=told["recalled"],
        canaries=tuple(told["canaries"]),
        misbehaviour=told["misbehaviour"],
        regions=tuple(Region(**region) for region in told["regions"]),
        in_effect=tuple(Region(**region) for region in told["in_effect"]),
    )
