"""The search: every setting, pair, hint and crossing tried on a target, with overlapping waits."""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import product
from typing import Any, Final, TypeVar

from cctest.minimality.behaviour import Observed, Subject
from cctest.minimality.trial import Laboratory
from cctest.minimality.vocabulary import Composes, Setting, Vocabulary
from cctest.probe.bundled import Bundled, make_credentials, running_gateway
from cctest.probe.callers import cast, lacking
from cctest.probe.case import Role
from cctest.probe.schedule import Task, run_overlapped
from cctest.problem import TargetProblem, UsageProblem
from cctest.target.credential import Credential
from cctest.target.exchange import ExchangeError, Request, Target

JOBS: Final = 4
"""Threads that send requests."""

LARGE: Final = Bundled(options=("--capacity-blocks", "1000000"))
"""Our gateway on its embedded engine, large enough that nothing is evicted, which would look like a bound."""

_T = TypeVar("_T")


class _Trial(Enum):
    SINGLE = "single"
    PAIR = "pair"
    CROSSING = "crossing"
    HINT = "hint"


_Key = tuple[_Trial, Any]


def search(
    vocabulary: Vocabulary, told: Callable[[int], None] = lambda _: None, gateway: Bundled = LARGE
) -> Observed:
    """Start the reference gateway and find out what every setting does there.

    `told` is called with the number of trials before the first, and with 0 after each. Raises TooSlowError,
    UsageProblem and TargetProblem.
    """
    credentials = make_credentials()
    with running_gateway(credentials, gateway) as url, Target(url) as target:
        laboratory = Laboratory(
            target=target,
            model=gateway.model(),
            callers=_callers(vocabulary, credentials),
            vocabulary=vocabulary,
            hint_max=_hint_max(target, credentials[0]),
            nonce=secrets.token_hex(8),
        )
        tasks = dict(_tasks(laboratory))
        told(len(tasks))
        found: dict[_Key, Any] = {}
        try:
            for key, result in run_overlapped([_keyed(key, task) for key, task in tasks.items()], JOBS):
                found[key] = result
                told(0)
        finally:
            laboratory.close()
    in_order = {kind: {key: found[kind, key] for other, key in tasks if other is kind} for kind in _Trial}
    return Observed(
        singles=in_order[_Trial.SINGLE],
        pairs=in_order[_Trial.PAIR],
        hinted=in_order[_Trial.HINT],
        crossings=in_order[_Trial.CROSSING],
        hint_max=laboratory.hint_max,
        requests=laboratory.requests,
    )


def _tasks(laboratory: Laboratory) -> Iterator[tuple[_Key, Task[Any]]]:
    vocabulary = laboratory.vocabulary
    for setting in vocabulary.settings():
        yield (_Trial.SINGLE, setting), laboratory.behaviour((setting,))
    for member in vocabulary.constraints:
        names = [value.name for value in member.values]
        pairs = [(one, other) for one in names for other in names]
        if member.composes is Composes.STRICTEST:
            for one, other in pairs:
                subject = pair_of(vocabulary, member.name, (one, other))
                yield (_Trial.PAIR, (member.name, one, other)), laboratory.behaviour(subject)
        else:
            for writer, reader in product(pairs, repeat=2):
                first, second = (pair_of(vocabulary, member.name, pair) for pair in (writer, reader))
                yield (_Trial.CROSSING, (member.name, writer, reader)), laboratory.crossing(first, second)
    for setting in hint_settings(vocabulary):
        yield (_Trial.HINT, setting), laboratory.behaviour((setting,))


def pair_of(vocabulary: Vocabulary, member: str, values: tuple[str, str]) -> Subject:
    """Give the request of two fragments at the base that have these values of a member."""
    return tuple(vocabulary.base.replacing(member, value) for value in values)


def hint_settings(vocabulary: Vocabulary) -> Iterator[Setting]:
    """Yield every value of every hint at the base, and at the settings that differ from it in one member."""
    around = dict.fromkeys(
        vocabulary.base.replacing(member.name, value.name)
        for member in vocabulary.constraints
        for value in member.values
    )
    for hint in vocabulary.hints:
        for setting in around:
            for value in hint.values:
                yield setting.replacing(hint.name, value.name)


def _keyed(key: _Key, task: Task[_T]) -> Task[tuple[_Key, _T]]:
    result = yield from task
    return key, result


def _callers(vocabulary: Vocabulary, credentials: tuple[Credential, ...]) -> Mapping[Role, Credential]:
    callers = cast(credentials)
    for reader in vocabulary.readers:
        if reader.role not in callers:
            raise UsageProblem(f"the reader `{reader.name}` needs {lacking(reader.role)}")
    return callers


def _hint_max(target: Target, credential: Credential) -> int:
    """Ask the gateway for the most seconds that a `reuse_within` may have; 0 where it advertises none."""
    try:
        response = target.send(Request("GET", "/v1/cache_intent_capabilities", credential=credential))
        capabilities = json.loads(response.body)["cache_intent_capabilities"]
        return int(capabilities.get("hints", {}).get("reuse_within_max", 0))
    except (ExchangeError, ValueError, LookupError, TypeError) as error:
        raise TargetProblem(f"the target tells no capabilities: {error}") from None
