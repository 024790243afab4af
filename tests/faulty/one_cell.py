"""Faults that show in one cell only: on one route, one kind of fragment, one place, one scope."""

from dataclasses import replace
from typing import Any

from cctest.contract.intent import Constraints, Retention
from cctest.contract.sharing import Context
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope
from reference_gateway.plan import Plan
from reference_gateway.request.intake import ChatRequest, Fragment, Kind

from . import edits, seams
from .model import Word, fault

_SHARING = ("SHR-1", "SHR-2", "POL-2", "CMP-5", "CMP-1", "CMP-8", "STA-7")


def _open(stated: Constraints) -> Constraints:
    return replace(stated, share_max=Scope.PUBLIC)


def _lifted(stated: Constraints) -> Constraints:
    forbidden = stated.retention.mode is RetentionMode.FORBID
    return replace(stated, retention=Retention(RetentionMode.ALLOW)) if forbidden else stated


def _unbounded(stated: Constraints) -> Constraints:
    return replace(stated, retention=replace(stated.retention, max_age=None))


def _intents(request: ChatRequest) -> list[Fragment]:
    return [fragment for fragment in request.fragments if fragment.intent]


@fault(
    rules=("SHR-1", "SHR-2", "SHR-4", "POL-2", "INT-2"),
    checks=("tenant-boundary#foreigner-computes", "namesake#namesake-computes"),
    status=Word.LIES,
    cells=({"stream": "streamed"},),
    public="D11",
)
def streams_have_no_tenant() -> None:
    """The route of streams looks the tenant up under a name that it isn't kept under, and finds none."""
    edits.edit_caller(
        lambda caller, body: replace(caller, tenant="none") if body.get("stream") is True else caller
    )


@fault(
    rules=(*_SHARING, "BND-1"),
    checks=("boundary-anywhere#outsider-computes", "principal-boundary#colleague-computes"),
    cells=({"place": "tools"},),
    public="D31",
)
def boundary_overlooked_on_tools() -> None:
    """The boundary of an intent is read on messages and not on tools."""
    edits.edit_constraints(_open, edits.in_tools)


@fault(
    rules=_SHARING,
    checks=("boundary-anywhere#outsider-computes",),
    cells=({"place": "tools", "stream": "streamed"},),
    public="D31",
)
def boundary_overlooked_on_streamed_tools() -> None:
    """The boundary of an intent is overlooked on tools where a stream is asked for."""
    edits.edit_constraints(_open, lambda fragment, request: request.stream and fragment.kind is Kind.TOOL)


@fault(
    rules=_SHARING,
    checks=("boundary-anywhere#outsider-computes",),
    cells=({"place": "assistant"},),
    public="D31",
)
def boundary_overlooked_on_the_assistant() -> None:
    """The boundary of an intent is overlooked on messages of the assistant."""
    edits.edit_constraints(_open, edits.in_role("assistant"))


@fault(
    rules=_SHARING,
    checks=("boundary-anywhere#outsider-computes",),
    cells=({"count": "many", "position": "middle"}, {"count": "many", "position": "last"}),
)
def boundary_overlooked_past_the_eighth_fragment() -> None:
    """The boundary of an intent is read on the first eight fragments of a request."""
    edits.edit_constraints(_open, edits.beyond(8))


@fault(
    rules=("SHR-1", "SHR-2", "POL-2", "BND-3"),
    checks=("parts-intent#foreigner-computes",),
    status=Word.LIES,
    public="D11",
)
def content_parts_have_no_tenant() -> None:
    """Requests with content in parts take another path, on which the tenant is the same for everybody."""

    def placed(caller: Context, body: Any) -> Context:
        messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
        in_parts = any(isinstance(message.get("content"), list) for message in messages)
        return replace(caller, tenant="none") if in_parts else caller

    edits.edit_caller(placed)


@fault(
    rules=("RET-1", "CMP-1", "CMP-2", "STA-6"),
    checks=("forbid-anywhere#read-computes",),
    cells=({"place": "system"},),
    public="D26",
)
def forbid_overlooked_on_the_system_message() -> None:
    """The prohibition to retain is overlooked on system messages."""
    edits.edit_constraints(_lifted, edits.in_role("system"))


@fault(
    rules=("RET-1", "CMP-1", "CMP-2", "FBK-1", "STA-6"),
    checks=("forbid-anywhere#read-computes", "forbid#read-computes"),
    cells=({"stream": "streamed"},),
    public="D26",
)
def forbid_overlooked_when_streamed() -> None:
    """The prohibition to retain is overlooked where a stream is asked for."""
    edits.edit_constraints(_lifted, edits.streamed)


@fault(
    rules=("RET-1", "CMP-1", "CMP-2", "STA-6"),
    checks=("forbid-anywhere#read-computes",),
    cells=({"count": "many", "position": "middle"},),
)
def forbid_overlooked_in_the_middle() -> None:
    """The prohibition to retain counts on the first four intents of a request and on its last four."""

    def between(fragment: Fragment, request: ChatRequest) -> bool:
        return fragment in _intents(request)[4:-4]

    edits.edit_constraints(_lifted, between)


@fault(
    rules=("REU-1", "CMP-1", "CMP-4"),
    checks=("fresh-anywhere#fresh-computes",),
    cells=({"place": "user"},),
)
def fresh_computation_overlooked_on_the_user() -> None:
    """The wish for fresh computation is overlooked on messages of the user whose content is a string."""

    def plain_user(fragment: Fragment, request: ChatRequest) -> bool:
        return edits.in_role("user")(fragment, request) and not edits.in_parts(fragment, request)

    edits.edit_constraints(lambda stated: replace(stated, reuse=Reuse.EXACT), plain_user)


@fault(
    rules=("REU-1", "CMP-1", "CMP-4"),
    checks=("fresh-anywhere#fresh-computes",),
    cells=({"count": "many", "position": "last"},),
)
def fresh_computation_overlooked_past_the_sixteenth_fragment() -> None:
    """The wish for fresh computation is overlooked past the first sixteen fragments."""
    edits.edit_constraints(lambda stated: replace(stated, reuse=Reuse.EXACT), edits.beyond(16))


@fault(
    rules=("RET-3", "CMP-1", "CMP-3"),
    checks=("bound-anywhere#late-computes",),
    status=Word.SILENT,
    cells=({"place": "result"},),
)
def bound_overlooked_on_tool_results() -> None:
    """The bound on age is overlooked on the results of tools."""
    edits.edit_constraints(_unbounded, edits.in_role("tool"))


@fault(
    rules=("RET-3", "CMP-1", "CMP-3"),
    checks=("bound-anywhere#late-computes",),
    status=Word.SILENT,
    cells=({"count": "many"},),
)
def bound_overlooked_in_long_requests() -> None:
    """The bound on age is overlooked in requests of more than sixteen fragments."""
    edits.edit_constraints(_unbounded, lambda _, request: len(request.fragments) > 16)


@fault(
    rules=("NS-1", "CMP-1", "DIG-1", "POL-2"),
    checks=("namespace-anywhere#other-computes",),
    status=Word.SILENT,
    cells=({"place": "parts"},),
)
def namespace_overlooked_on_parts() -> None:
    """The namespace is overlooked on messages whose content is an array of parts."""
    edits.edit_constraints(lambda stated: replace(stated, namespace=None), edits.in_parts)


@fault(
    rules=("NS-1", "CMP-1", "DIG-1", "POL-2"),
    checks=("namespace-anywhere#other-computes",),
    status=Word.SILENT,
    cells=({"scope": "session"},),
)
def namespace_overlooked_within_a_session() -> None:
    """State of a session is kept under the session alone, without the namespace."""
    edits.edit_constraints(
        lambda stated: replace(stated, namespace=None) if stated.share_max is Scope.SESSION else stated
    )


@fault(
    rules=("INT-7", "INT-12"),
    checks=("invalid-anywhere#refused-or-fallback",),
    cells=({"place": "result"},),
)
def unknown_constraint_ignored_on_tool_results() -> None:
    """A constraint that isn't known is dropped on the results of tools."""

    def make(original: Any) -> Any:
        def fragment(kind: Kind, index: int, value: Any) -> Any:
            intent = value.get("cache_intent") if value.get("role") == "tool" else None
            if intent is not None:
                known = {name: item for name, item in intent["constraints"].items() if name != "share_min"}
                value = {**value, "cache_intent": {**intent, "constraints": known}}
            return original(kind, index, value)

        return fragment

    seams.FRAGMENT.wrap(make)


@fault(
    rules=("STA-2", "STA-3", "STA-4", "STA-5", "BND-1", "BND-7", "STA-7", "STA-9", "STA-10"),
    checks=("status-anywhere#well-formed",),
    status=Word.LIES,
    cells=({"place": "tools"},),
)
def entries_of_tools_come_last() -> None:
    """The status goes through the messages first and through the tools then."""

    def messages_first(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        governed = [planned.fragment.kind for planned in plan.fragments if planned.governed]
        placed = sorted(zip(governed, entries, strict=True), key=lambda pair: pair[0] is Kind.TOOL)
        return [entry for _, entry in placed]

    edits.edit_status(messages_first)


@fault(
    rules=("STA-2", "STA-12"),
    checks=("status-anywhere#well-formed",),
    status=Word.LIES,
    cells=({"count": "many", "position": "first"}, {"count": "many", "position": "middle"}),
)
def entries_past_the_eighth_left_out() -> None:
    """The status has room for eight entries."""
    edits.edit_status(lambda entries, _: entries[:8])
