"""Finding out what one policy does: a writer, and readers after it, on texts that were never sent before."""

import itertools
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cctest.contract.source import JsonValue
from cctest.minimality.behaviour import WRITER, Behaviour, Effect, Observation, Subject
from cctest.minimality.vocabulary import Reader, Vocabulary, merged
from cctest.probe.case import Role
from cctest.probe.prompt import words
from cctest.probe.schedule import Task
from cctest.problem import TargetProblem, UsageProblem
from cctest.target.chat import ChatResult, read_chat
from cctest.target.credential import Credential
from cctest.target.exchange import ExchangeError, Request, Target

ATTEMPTS: Final = 6
"""How often a trial is made anew whose readers came too late."""

_WORDS: Final = 60
_OTHER_WORDS: Final = 6
"""Words of a text, and those at the beginning in which a similar one differs."""

_REUSED_SHARE: Final = 0.75
"""Share of the input from which on all of it was reused: half of it, the first fragment, isn't enough."""

_MARGIN: Final = 0.05
"""Seconds that a later reader waits beyond the bound."""

_HEADERS: Final = (("Content-Type", "application/json"),)


class TooSlowError(Exception):
    """The machine is too busy: the readers who come at once came when `max_age` had passed, every time."""


@dataclass(slots=True)
class Laboratory:
    """Where trials are made: a target, who calls it, and the vocabulary. `hint_max` is in seconds.

    Safe to use from several threads. `requests` counts those that were sent.
    """

    target: Target
    model: str
    callers: Mapping[Role, Credential]
    vocabulary: Vocabulary
    hint_max: int
    nonce: str
    requests: int = 0
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: threading.Event = field(default_factory=threading.Event)

    def behaviour(self, subject: Subject) -> Task[Behaviour]:
        """Make the task that gives the behaviour of a request with these settings.

        The task raises TooSlowError, UsageProblem if the target refuses a setting, and TargetProblem.
        """
        at_once = [reader for reader in self.vocabulary.readers if not reader.later]
        later = [reader for reader in self.vocabulary.readers if reader.later]
        for _ in range(ATTEMPTS):
            name = self._fresh_name()
            started = time.monotonic()
            seen = {WRITER: self._send(subject, name)}
            seen |= {reader.name: self._send(subject, name, reader) for reader in at_once}
            ended = time.monotonic()
            if ended >= started + self.vocabulary.seconds:
                yield ended
                continue
            if later:
                yield ended + self.vocabulary.seconds + _MARGIN
            seen |= {reader.name: self._send(subject, name, reader) for reader in later}
            return Behaviour(tuple(seen.items()))
        raise TooSlowError

    def crossing(self, writer: Subject, reader: Subject) -> Task[Effect]:
        """Make the task that tells what a request gets of what another one retained."""
        yield 0.0
        name = self._fresh_name()
        self._send(writer, name)
        return self._send(reader, name).effect

    def close(self) -> None:
        """End the trials under way: a request now would open a connection that nobody closes."""
        self._closed.set()

    def _fresh_name(self) -> str:
        with self._lock:
            return f"text {next(self._numbers)}"

    def _send(self, subject: Subject, name: str, reader: Reader | None = None) -> Observation:
        """Send a request for the text `name`, as the writer or as a reader of it."""
        if self._closed.is_set():
            raise TargetProblem("the search has ended")
        role = Role.SELF if reader is None else reader.role
        body = json.dumps(self._body(subject, name, reader)).encode()
        request = Request("POST", "/v1/chat/completions", _HEADERS, body, self.callers[role])
        try:
            result = read_chat(self.target.send(request), streamed=False)
        except ExchangeError as error:
            raise TargetProblem(f"the target: {error}") from None
        with self._lock:
            self.requests += 1
        if result.status == 400:
            raise UsageProblem(
                f"the target refuses it: {result.error_code}: {result.error_message}",
                where=" / ".join(map(str, subject)),
                hint="`intent` in the vocabulary says what a value puts into an intent of version 1",
            )
        return _observed(result)

    def _body(self, subject: Subject, name: str, reader: Reader | None) -> JsonValue:
        messages: list[JsonValue] = []
        for place, setting in enumerate(subject):
            intent: JsonValue = self.vocabulary.intent(setting, self.hint_max)
            if reader is not None and reader.intent is not None:
                intent = merged(intent, dict(reader.intent))
            if reader is not None and reader.first is not None and place == 0:
                intent = merged(intent, dict(reader.first))
            similar = reader is not None and reader.similar and place == len(subject) - 1
            text = self._text(f"{name}, fragment {place}", similar=similar)
            messages.append({"role": "user", "content": text, "cache_intent": intent})
        return {"model": self.model, "messages": messages, "max_tokens": 8, "temperature": 0}

    def _text(self, name: str, *, similar: bool) -> str:
        text = words(self.nonce, name, _WORDS)
        if not similar:
            return text
        return (
            f"{words(self.nonce, f'beginning of {name}', _OTHER_WORDS)} {text.split(' ', _OTHER_WORDS)[-1]}"
        )


def _observed(result: ChatResult) -> Observation:
    """Read the observation from a response. Raises TargetProblem if there is none in it."""
    if not result.ok:
        raise TargetProblem(f"the target answers {result.status}: {result.error_message or result.problems}")
    if result.cached_tokens is None or not result.prompt_tokens:
        raise TargetProblem(
            "the target counts no cached tokens, so that nothing can be seen of what it reuses"
        )
    reused = result.cached_tokens >= _REUSED_SHARE * result.prompt_tokens
    entries = result.cache_status if isinstance(result.cache_status, list) else []
    report = json.dumps(entries[-1], sort_keys=True) if entries else "no status"
    return Observation(Effect.REUSED if reused else Effect.COMPUTED, report)
