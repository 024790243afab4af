"""Many callers at once on the same prompts, and what each of them was told about reuse.

A round has prompts that nobody has sent before, and for each tenant a scope in which their state may be shared.
Those who share it are a group: each prompt's first request of a group must find nothing, although other groups have had the very
same prompt computed by then, and all the later ones must find it. Tenants go through the rounds each at
its own pace, so that who is first changes all the time.
"""

import asyncio
import hashlib
import json
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, groupby
from typing import Any

import aiohttp

SCOPES = ("tenant", "principal", "session", "request")
PROMPTS = 4
QUESTION = {"role": "user", "content": "And?"}
"""Short: a gateway can tell from an engine's count only that nothing was read, or all but the last block."""
SECONDS = 100
"""Time for one request."""
IDLE_SECONDS = 1.0
"""A connection that was idle for longer may be closed by the server just as it is used."""

_CANARY = re.compile(r"canary=([0-9a-f]{32})")
_HITS = {"exact_hit", "approximate_hit"}


@dataclass(frozen=True, order=True)
class Someone:
    """A client with a token. Two of them may be of one session."""

    tenant: str
    principal: str
    session: str
    number: int
    token: str

    def within(self, scope: str) -> tuple[str, ...]:
        """What those who share state in a scope have in common."""
        if scope == "request":
            return (self.tenant, self.principal, self.session, str(self.number))
        return (self.tenant, self.principal, self.session)[: 3 - SCOPES[:3][::-1].index(scope)]


@dataclass
class Report:
    """What was seen. `contested` counts the first requests for what somebody else had had computed before."""

    statuses: Counter[int] = field(default_factory=Counter)
    cold: int = 0
    warm: int = 0
    contested: int = 0
    wrong: list[str] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def __str__(self) -> str:
        return (
            f"{self.requests} requests, statuses {dict(self.statuses)}, {self.cold} first ones of which"
            f" {self.contested} contested, {self.warm} later ones, {len(self.wrong)} wrong"
        )


@dataclass
class Crowd:
    """Clients of a gateway at `url`. `words` is the length of a prompt, `max_age` the bound that all ask for."""

    url: str
    model: str
    everyone: Sequence[Someone]
    words: int = 250
    max_age: int | None = None
    nonce: str = field(default_factory=lambda: uuid.uuid4().hex)
    report: Report = field(default_factory=Report)
    _computed: dict[str, set[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(set))
    _turns: Iterable[bool] = field(default_factory=lambda: cycle((False, True, True)))

    def run(self, seconds: float) -> Report:
        """Let them ask for so many seconds, and finish the rounds that they are in."""
        asyncio.run(self._run(seconds))
        return self.report

    async def _run(self, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS), timeout=timeout
        ) as self._session:
            teams = groupby(sorted(self.everyone), key=lambda one: one.tenant)
            async with asyncio.TaskGroup() as tasks:
                for offset, (_, team) in enumerate(teams):
                    tasks.create_task(self._tenant(list(team), offset, until))

    async def _tenant(self, team: list[Someone], offset: int, until: float) -> None:
        number = 0
        while asyncio.get_running_loop().time() < until:
            scope = SCOPES[(number + offset) % len(SCOPES)]
            prompts = [self._prompt(number, index) for index in range(PROMPTS)]
            groups = groupby(team, key=lambda one: one.within(scope))
            await asyncio.gather(*(self._group(list(group), scope, prompts) for _, group in groups))
            number += 1

    async def _group(self, group: list[Someone], scope: str, prompts: list[str]) -> None:
        """The first requests all at once, each of another member if there are enough; then everybody's."""
        firsts = zip(cycle(group), prompts, strict=False)
        await asyncio.gather(*(self._ask(one, scope, prompt, is_first=True) for one, prompt in firsts))
        await asyncio.gather(*(self._repeat(one, scope, prompts) for one in group))

    async def _repeat(self, one: Someone, scope: str, prompts: list[str]) -> None:
        for prompt in prompts:
            await self._ask(one, scope, prompt, is_first=scope == "request")

    async def _ask(self, one: Someone, scope: str, prompt: str, *, is_first: bool) -> None:
        group = one.within(scope)
        self.report.contested += is_first and bool(self._computed[prompt] - {group})
        told = await self._post(one, scope, prompt)
        if told is None:
            return
        self._computed[prompt].add(group)
        cached = told["usage"]["prompt_tokens_details"]["cached_tokens"]
        outcome = told["cache_status"][0]["outcome"]
        self.report.cold += is_first
        self.report.warm += not is_first
        right = (cached == 0 and outcome not in _HITS) if is_first else (cached > 0 and outcome in _HITS)
        if not right:
            kind = "first" if is_first else "later"
            self.report.wrong.append(
                f"{kind} request in scope {scope} of {group}: {cached} tokens, {outcome}"
            )

    async def _post(self, one: Someone, scope: str, prompt: str) -> dict[str, Any] | None:
        retention: dict[str, Any] = {"mode": "allow"}
        if self.max_age is not None:
            retention["max_age"] = self.max_age
        constraints = {"retention": retention, "reuse": "exact", "share_max": scope}
        governed = {
            "role": "system",
            "content": prompt,
            "cache_intent": {"version": 1, "constraints": constraints},
        }
        body: dict[str, Any] = {"model": self.model, "max_tokens": 2, "messages": [governed, QUESTION]}
        if next(iter(self._turns)):
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        async with self._session.post(
            f"{self.url}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {one.token}"}
        ) as response:
            text = await response.text()
        self.report.statuses[response.status] += 1
        if response.status != 200:
            self.report.wrong.append(f"status {response.status}: {text[:200]}")
            return None
        return self._read(text, streamed="stream" in body)

    def _read(self, text: str, *, streamed: bool) -> dict[str, Any]:
        """Read an answer; of a stream, the last chunk, which has both usage and status."""
        if not streamed:
            told: dict[str, Any] = json.loads(text)
            answer = told["choices"][0]["message"]["content"] or ""
        else:
            *events, done, _ = text.split("\n\n")
            if done != "data: [DONE]":
                self.report.wrong.append(f"a stream without an end: {text[-200:]}")
            chunks = [json.loads(event.removeprefix("data: ")) for event in events]
            deltas = [choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]]
            told, answer = chunks[-1], "".join(deltas)
        self.report.canaries += _CANARY.findall(answer)
        return told

    def _prompt(self, number: int, index: int) -> str:
        start = hashlib.sha256(f"{self.nonce} {number} {index}".encode()).hexdigest()
        return " ".join((start, *(f"{start[:6]}-{word}" for word in range(self.words))))
