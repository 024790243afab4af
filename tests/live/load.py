"""Requests of several tenants, going on whatever becomes of the engine, and what must hold of each answer."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import requests

from live.site import Site, Tenant, readable, until
from reference_gateway.live.chat import Answer, Client, Json, intent, message, text, tool

BOUND = 2
"""Seconds that bounded state may be read for."""
_PAUSE = 0.1
_AWAY = 0.5
"""Seconds between attempts while nothing answers, each of which takes tenants that are fresh."""


@dataclass(frozen=True)
class Exchange:
    """One request: when it was sent and answered, what it was for, and what was read; None without an answer."""

    sent: float
    answered: float
    purpose: str
    http: int
    cached: int | None
    readable: int


@dataclass
class Load:
    """`public` is what all prompts begin with; `most` tokens of a prompt are nobody's secret."""

    site: Site
    most: int
    public: str
    exchanges: list[Exchange] = field(default_factory=list)
    in_force: list[tuple[float, bool]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _numbers: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[None]:
        work: list[Callable[[], None]] = [
            self._isolation,
            self._isolation,
            self._in_time,
            self._too_late,
            self._too_late,
        ]
        threads = [threading.Thread(target=self._again_and_again, args=(one,)) for one in (*work, self._look)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def between(self, purpose: str, begin: float, end: float) -> list[Exchange]:
        """Exchanges that lie wholly between two instants, and have an answer."""
        return [
            one
            for one in self.exchanges
            if one.purpose == purpose and begin <= one.sent and one.answered <= end and one.cached is not None
        ]

    def wait_for(self, purpose: str, count: int) -> None:
        """Wait for so many more exchanges that read all there was."""
        begin = time.monotonic()
        until(lambda: sum(one.cached == one.readable for one in self.between(purpose, begin, 1e12)) >= count)

    def wait_for_answers(self, purpose: str, count: int) -> None:
        begin = time.monotonic()
        until(lambda: len(self.between(purpose, begin, 1e12)) >= count)

    def _again_and_again(self, work: Callable[[], None]) -> None:
        while not self._over.wait(_PAUSE):
            work()

    def _look(self) -> None:
        self.in_force.append((time.monotonic(), self.site.in_force()))

    def _isolation(self) -> None:
        fragments = self._prompt(intent("tenant"))
        owners, stranger = self._tenant(), self._tenant()
        self._ask("owner", owners.owner, fragments)
        self._ask("stranger", stranger.owner, fragments)
        self._ask("colleague", owners.colleague, fragments)

    def _in_time(self) -> None:
        fragments, owners = self._prompt(intent("tenant", max_age=BOUND)), self._tenant()
        self._ask("owner", owners.owner, fragments)
        self._ask("in time", owners.colleague, fragments)

    def _too_late(self) -> None:
        fragments, owners = self._prompt(intent("tenant", max_age=BOUND)), self._tenant()
        self._ask("owner", owners.owner, fragments)
        computed = time.monotonic()
        time.sleep(max(0.0, computed + BOUND - time.monotonic()))
        self._ask("too late", owners.colleague, fragments)

    def _ask(self, purpose: str, client: Client, fragments: list[Json]) -> None:
        sent = time.monotonic()
        try:
            answer = client.ask(*fragments)
        except requests.RequestException:
            answer = Answer(599, {})
        told = answer.http == 200
        one = Exchange(
            sent,
            time.monotonic(),
            purpose,
            answer.http,
            answer.cached if told else None,
            readable(answer) if told else 0,
        )
        self.exchanges.append(one)
        if not told:
            self._over.wait(_AWAY)

    def _prompt(self, way: Json) -> list[Json]:
        public = tool("look_up", self.public, intent("public"))
        return [public, message(text(12), "system", way), message("And now?")]

    def _tenant(self) -> Tenant:
        with self._numbers:
            return self.site.tenant()
