"""Finding out, before any case runs, whether the target speaks the binding at all."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cctest.contract import strict_json
from cctest.contract.capabilities import read_capabilities
from cctest.contract.source import DocumentError, JsonValue, SourceError
from cctest.contract.vocabulary import ErrorCode
from cctest.probe.case import Case, FragmentSpec, Role, Step
from cctest.probe.courier import TURNED_AWAY, asked_to_wait
from cctest.probe.judgement import Advertised
from cctest.probe.performing import CHAT_PATH
from cctest.probe.prompt import Setting, build
from cctest.problem import TargetProblem
from cctest.target.chat import ABSENT, read_chat
from cctest.target.credential import Credential
from cctest.target.exchange import ExchangeError, Request, Response, Target
from cctest.verdict import Reading

CAPABILITIES_PATH: Final = "/v1/cache_intent_capabilities"

_INVALID: Final = Case(
    id="preflight",
    title="A plainly invalid intent",
    rules=(),
    texts={"question": 0.05},
    intents={"invalid": {"version": 0, "constraints": "none"}},
    steps=(Step("ask", Role.SELF, (FragmentSpec("question", "invalid"),)),),
    expectations=(),
)


@dataclass(frozen=True, slots=True)
class Survey:
    """What the target advertises, and whether it implements the binding at all.

    `obstacle` says why not, in words; `notes` are warnings about a target that does.
    """

    advertised: Advertised
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    obstacle: str | None = None


def reach(target: Target) -> Response:
    """Ask for the capabilities without a credential. Raises TargetProblem if the target can't be reached."""
    return _send(target, Request("GET", CAPABILITIES_PATH))


def survey(target: Target, credential: Credential, model: str, nonce: str, *, openly: int) -> Survey:
    """Ask for the capabilities (BND-8) and, where there are none, send one plainly invalid intent.

    `openly` is the HTTP status that asking without a credential has got; a plain question with this one was
    answered. Raises TargetProblem if the target can't be reached.
    """
    response = _patiently(target, Request("GET", CAPABILITIES_PATH, credential=credential))
    advertised = _read(response)
    if advertised.exposed:
        taken = _READ_13.get(openly, str(openly))
        return Survey(advertised, (Reading("READ-13", taken, "preflight#capabilities"),))
    return _without_capabilities(target, credential, model, nonce, advertised)


def _without_capabilities(
    target: Target, credential: Credential, model: str, nonce: str, advertised: Advertised
) -> Survey:
    callers: Mapping[Role, Credential] = {Role.SELF: credential}
    setting = Setting(case=_INVALID, cell={}, nonce=nonce, model=model, callers=callers)
    body = build(setting, _INVALID.steps[0]).body
    headers = (("Content-Type", "application/json"),)
    response = _patiently(target, Request("POST", CHAT_PATH, headers, body, credential))
    chat = read_chat(response, streamed=False)
    coded = response.status == 400 and chat.error_code in tuple(ErrorCode)
    if coded or chat.cache_status is not ABSENT:
        note = f"{CAPABILITIES_PATH} gave {advertised.outline}: CAP-1 says that it should be there"
        return Survey(advertised, notes=(note,))
    obstacle = (
        f"{target.url} does not implement the binding: {CAPABILITIES_PATH} gave {advertised.outline}, and a"
        f" plainly invalid cache_intent got HTTP {response.status} with neither one of the three error codes"
        " nor a cache_status"
    )
    return Survey(advertised, obstacle=obstacle)


def _read(response: Response) -> Advertised:
    if response.status != 200:
        return Advertised(response.status)
    try:
        document = strict_json.loads(response.body)
    except SourceError as error:
        faults = (f"no acceptable JSON: {error}",) if response.body.lstrip().startswith(b"{") else ()
        return Advertised(200, faults=faults)
    return _interpret(document)


def _interpret(document: JsonValue) -> Advertised:
    name = "cache_intent_capabilities"
    if not isinstance(document, dict) or document.keys() != {name}:
        return Advertised(200, document, faults=(f"the document must be an object with one member, {name}",))
    try:
        return Advertised(200, document, read_capabilities(document[name], f"/{name}"))
    except DocumentError as error:
        return Advertised(200, document, faults=tuple(str(fault) for fault in error.faults))


_READ_13: Final = {200: "open", 401: "unauthorized", 403: "forbidden"}


def _patiently(target: Target, request: Request) -> Response:
    """Send a request again for as long as it is put off with 429."""
    response = _send(target, request)
    for _ in range(TURNED_AWAY):
        delay = asked_to_wait(response)
        if delay is None:
            break
        time.sleep(delay)
        response = _send(target, request)
    return response


def _send(target: Target, request: Request) -> Response:
    try:
        return target.send(request)
    except ExchangeError as error:
        raise TargetProblem(str(error), hint=_HINTS.get(str(error.kind), "")) from None


_HINTS: Final[Mapping[str, Any]] = {
    "refused": "is it running, and is the port right?",
    "deadline": "a slow target can be given more time with `timeouts.exchange` in the target file",
}
