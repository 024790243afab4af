"""Ways in which a patch changes the gateway: what it takes in, what it makes of it, what it says.

Every edit wraps what is there, so several of them add up. What an edit leaves alone stays as it was.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import Any, TypeAlias

from cctest.contract.intent import CacheIntent, Constraints
from cctest.contract.sharing import Boundary, Context
from cctest.contract.vocabulary import Reuse, Scope
from reference_gateway.plan import WITHOUT_INTENT, Plan
from reference_gateway.request.intake import ChatRequest, Fragment, Kind

from . import seams

Where: TypeAlias = Callable[[Fragment, ChatRequest], bool]
Entry: TypeAlias = dict[str, Any]


def everywhere(_: Fragment, __: ChatRequest) -> bool:
    """Every fragment."""
    return True


def streamed(_: Fragment, request: ChatRequest) -> bool:
    """Fragments of requests that ask for a stream."""
    return request.stream


def plain(_: Fragment, request: ChatRequest) -> bool:
    """Fragments of requests that ask for no stream."""
    return not request.stream


def in_tools(fragment: Fragment, _: ChatRequest) -> bool:
    """Tool definitions."""
    return fragment.kind is Kind.TOOL


def in_parts(fragment: Fragment, _: ChatRequest) -> bool:
    """Messages whose content is an array."""
    return isinstance(fragment.value.get("content"), list)


def in_role(role: str) -> Where:
    """Messages of one role."""
    return lambda fragment, _: fragment.value.get("role") == role


def beyond(count: int) -> Where:
    """Fragments past the first `count`."""
    return lambda fragment, request: fragment in request.fragments[count:]


def edit_request(change: Callable[[ChatRequest], ChatRequest]) -> None:
    """Change a request after it was read and before it is planned."""
    seams.MAKE_PLAN.wrap(
        lambda make: (
            lambda request, caller, request_id, capabilities, order: make(
                change(request), caller, request_id, capabilities, order
            )
        )
    )


def edit_intents(change: Callable[[CacheIntent], CacheIntent | None], where: Where = everywhere) -> None:
    """Change intents, or drop them."""

    def edited(fragment: Fragment, request: ChatRequest) -> Fragment:
        if fragment.intent is None or not where(fragment, request):
            return fragment
        return replace(fragment, intent=change(fragment.intent))

    edit_request(
        lambda request: replace(
            request, fragments=tuple(edited(fragment, request) for fragment in request.fragments)
        )
    )


def edit_constraints(change: Callable[[Constraints], Constraints], where: Where = everywhere) -> None:
    """Change the constraints of intents."""
    edit_intents(lambda intent: replace(intent, constraints=change(intent.constraints)), where)


def edit_all_constraints(
    change: Callable[[Sequence[Constraints]], Callable[[Constraints], Constraints]],
) -> None:
    """Change the constraints of every intent in the light of all of the request's, in fragment order."""

    def edited(request: ChatRequest) -> ChatRequest:
        stated = [fragment.intent.constraints for fragment in request.fragments if fragment.intent]
        if not stated:
            return request
        new = change(stated)
        fragments = [
            fragment
            if fragment.intent is None
            else replace(
                fragment, intent=replace(fragment.intent, constraints=new(fragment.intent.constraints))
            )
            for fragment in request.fragments
        ]
        return replace(request, fragments=tuple(fragments))

    edit_request(edited)


def widest_boundary() -> None:
    """Put the widest of a request's boundaries in the place of all."""

    def widest(stated: Sequence[Constraints]) -> Callable[[Constraints], Constraints]:
        scope = max((one.share_max for one in stated), key=lambda scope: scope.rank)
        return lambda one: replace(one, share_max=scope)

    default_scope(Scope.PUBLIC)
    edit_all_constraints(widest)


def rescope(asked: Scope, served: Scope, where: Where = everywhere) -> None:
    """Serve one scope as another."""
    edit_constraints(
        lambda stated: replace(stated, share_max=served) if stated.share_max is asked else stated, where
    )


def edit_boundary(change: Callable[[Boundary], Boundary]) -> None:
    """Change where a scope is placed; the request's own boundary stays."""

    def make(original: Any) -> Any:
        def placed(scope: Scope, context: Context, request: str) -> Boundary:
            found: Boundary = original(scope, context, request)
            return found if found.scope is Scope.REQUEST else change(found)

        return placed

    seams.BOUNDARY.wrap(make)


def replace_boundary(place: Callable[[Scope, Context], Boundary | None]) -> None:
    """Place some scopes otherwise; None leaves a scope where it is."""
    seams.BOUNDARY.wrap(
        lambda original: (
            lambda scope, context, request: place(scope, context) or original(scope, context, request)
        )
    )


def default_policy(constraints: Constraints) -> None:
    """Give fragments without an intent another policy than the operator's."""
    default = constraints
    seams.COMPOSE.wrap(
        lambda add: (
            lambda self, constraints: add(self, default if constraints is WITHOUT_INTENT else constraints)
        )
    )


def default_scope(scope: Scope) -> None:
    """Give fragments without an intent another scope than the tenant."""
    default_policy(replace(WITHOUT_INTENT, share_max=scope))


def edit_intent_json(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change an intent's JSON before it is read; what is no object is left to the reader."""
    seams.READ_INTENT.wrap(
        lambda read: lambda value, pointer: read(change(value) if isinstance(value, dict) else value, pointer)
    )


def edit_constraints_json(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change the JSON of an intent's constraints before it is read."""

    def edited(intent: dict[str, Any]) -> dict[str, Any]:
        stated = intent.get("constraints")
        return {**intent, "constraints": change(stated)} if isinstance(stated, dict) else intent

    edit_intent_json(edited)


def edit_caller(change: Callable[[Context, Mapping[str, Any]], Context]) -> None:
    """Change who the caller is taken for, in the light of the body (its top-level members)."""
    import json

    def make(original: Any) -> Any:
        def take(self: Any, body: bytes, caller: Context) -> Any:
            try:
                members = json.loads(body)
            except ValueError:
                members = None
            return original(self, body, change(caller, members) if isinstance(members, dict) else caller)

        return take

    seams.TAKE.wrap(make)


def believe_header(header: str, member: str) -> None:
    """Take `member` of the caller's context from a header where there is one."""
    asserted: ContextVar[str | None] = ContextVar(header, default=None)

    def listening(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            asserted.set(request.headers.get(header))
            return await original(self, request)

        return chat

    def believing(original: Any) -> Any:
        def identify(self: Any, authorization: Sequence[str]) -> Context:
            caller: Context = original(self, authorization)
            value = asserted.get()
            return _with(caller, member, value) if value else caller

        return identify

    seams.CHAT.wrap(listening)
    seams.IDENTIFY.wrap(believing)


def believe_member(path: Sequence[str], member: str) -> None:
    """Take `member` of the caller's context from a member of the body where there is one."""

    def believing(caller: Context, body: Mapping[str, Any]) -> Context:
        value: Any = body
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return _with(caller, member, value) if isinstance(value, str) and value else caller

    edit_caller(believing)


def _with(caller: Context, member: str, value: str) -> Context:
    members = {"tenant": caller.tenant, "principal": caller.principal, "session": caller.session}
    changed = {**members, member: value}
    return Context(str(changed["tenant"]), str(changed["principal"]), changed["session"])


def edit_status(change: Callable[[list[Entry], Plan], Any]) -> None:
    """Change the status entries of a response that has any."""

    def make(original: Any) -> Any:
        def status(plan: Plan, served: Any, reuse_within_max: int | None) -> Any:
            entries = original(plan, served, reuse_within_max)
            return None if entries is None else change(entries, plan)

        return status

    seams.CACHE_STATUS.wrap(make)


def edit_entries(change: Callable[[Entry], Entry]) -> None:
    """Change each status entry by itself."""
    edit_status(lambda entries, _: [change(entry) for entry in entries])


def uncounted() -> None:
    """Leave out how many tokens were cached."""

    def make(original: Any) -> Any:
        def usage(self: Any) -> Any:
            return {**original(self), "prompt_tokens_details": None}

        return usage

    seams.USAGE.wrap(make)


def exact_reuse_only() -> None:
    """Take approximate reuse out, and say so."""
    edit_capabilities(reuse=(Reuse.NONE, Reuse.EXACT))


def edit_capabilities(**changes: Any) -> None:
    """Change what the backend can do, and so what is advertised and enforced."""

    def make(original: Any) -> Any:
        @wraps(original)
        def gateway(self: Any, backend: Any, front: Any, approximate: Any) -> None:
            capabilities = replace(backend.capabilities, **changes)
            if isinstance(getattr(type(backend), "capabilities", None), property):
                of_its_own = {"capabilities": capabilities}
                backend.__class__ = type(type(backend).__name__, (type(backend),), of_its_own)
            else:
                backend.capabilities = capabilities
            original(self, backend, front, approximate)

        return gateway

    seams.GATEWAY.wrap(make)


def edit_advertised(change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what is advertised, and nothing that is done."""
    seams.ADVERTISE.wrap(lambda original: lambda capabilities: change(original(capabilities)))


def edit_plan(change: Callable[[Plan, ChatRequest], Plan]) -> None:
    """Change a finished plan."""
    seams.MAKE_PLAN.wrap(
        lambda make: (
            lambda request, caller, request_id, capabilities, order: change(
                make(request, caller, request_id, capabilities, order), request
            )
        )
    )
