"""Faults of the binding: whom the gateway takes a caller for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cctest.contract.sharing import Context
from reference_gateway.refusal import RefusalError

from . import edits, seams
from .model import Word, fault

_NAMED_TENANT = ("SHR-4", "BND-5", "BND-6")


@fault(rules=_NAMED_TENANT, checks=("named-tenant#impostor-computes",), status=Word.LIES, public="D09")
def tenant_believed_from_the_body() -> None:
    """A body member that names a tenant is believed."""
    edits.believe_member(("tenant",), "tenant")


@fault(rules=_NAMED_TENANT, checks=("named-tenant#impostor-computes",), status=Word.LIES, public="D09")
def tenant_believed_from_the_metadata() -> None:
    """A tenant named in the request's metadata is believed."""
    edits.believe_member(("metadata", "tenant"), "tenant")


@fault(rules=_NAMED_TENANT, checks=("named-by-header#impostor-computes",), status=Word.LIES, public="D09")
def tenant_believed_from_a_header() -> None:
    """A header that a proxy in front was meant to set is believed from anybody."""
    edits.believe_header("x-tenant-id", "tenant")


@fault(rules=_NAMED_TENANT, checks=("named-by-header#impostor-computes",), status=Word.LIES, public="D09")
def organisation_believed_from_a_header() -> None:
    """The organisation that a caller puts in the usual header is taken for its tenant."""
    edits.believe_header("openai-organization", "tenant")


@fault(rules=_NAMED_TENANT, checks=("named-in-fragment#impostor-computes",), status=Word.LIES)
def tenant_believed_from_a_message() -> None:
    """A tenant named in a member of a tool or message is believed."""

    def believing(caller: Context, body: Mapping[str, Any]) -> Context:
        fragments = [*(body.get("tools") or ()), *(body.get("messages") or ())]
        named = [one["tenant"] for one in fragments if isinstance(one, dict) and "tenant" in one]
        return replace(caller, tenant=str(named[0])) if named else caller

    edits.edit_caller(believing)


@fault(rules=_NAMED_TENANT, checks=("named-principal#impostor-computes",), status=Word.LIES, public="D09")
def user_believed_from_the_body() -> None:
    """The body's `user` is taken for the principal."""
    edits.believe_member(("user",), "principal")


@fault(rules=_NAMED_TENANT, checks=("named-principal#impostor-computes",), status=Word.LIES, public="D09")
def user_believed_from_a_header() -> None:
    """A header that names a user is believed."""
    edits.believe_header("x-user-id", "principal")


@fault(rules=_NAMED_TENANT, checks=("named-session#impostor-computes",), status=Word.LIES)
def session_believed_from_a_header() -> None:
    """A header that names a session is believed."""
    edits.believe_header("x-session-id", "session")


def _believe_salt(member: str) -> None:
    """Let whoever supplies the same value share a partition."""

    def salted(caller: Context, body: Mapping[str, Any]) -> Context:
        salt = body.get(member)
        return Context(f"salt {salt}", caller.principal, caller.session) if salt else caller

    edits.edit_caller(salted)


@fault(rules=("BND-6", "SHR-4"), checks=("caller-salt#foreigner-computes",), status=Word.LIES, public="D09")
def salt_of_the_caller_kept() -> None:
    """The caller's `cache_salt` reaches the engine in place of the gateway's own."""
    _believe_salt("cache_salt")


@fault(rules=("BND-6", "SHR-4"), checks=("caller-salt#foreigner-computes",), status=Word.LIES, public="D09")
def prompt_cache_key_is_the_partition() -> None:
    """The caller's `prompt_cache_key` is the partition."""
    _believe_salt("prompt_cache_key")


def take_strangers_for(caller_instead: Any) -> None:
    """Take a caller whom the gateway doesn't know for somebody."""

    def make(original: Any) -> Any:
        def identify(self: Any, authorization: Sequence[str]) -> Context:
            try:
                known: Context = original(self, authorization)
            except RefusalError:
                return caller_instead(self, authorization)  # type: ignore[no-any-return]
            return known

        return identify

    seams.IDENTIFY.wrap(make)


@fault(
    rules=("BND-5", "SHR-3", "SHR-4"),
    checks=("uncredentialed#nobody-gets-nothing",),
    status=Word.LIES,
)
def no_credential_is_the_first_tenant() -> None:
    """A request without a credential is served as the first tenant configured."""

    def first(credentials: Any, authorization: Sequence[str]) -> Context:
        if authorization:
            raise RefusalError(401, "invalid_api_key", "the token is not known")
        context: Context = next(iter(credentials._known.values())).context
        return context

    take_strangers_for(first)


@fault(
    rules=("BND-5", "SHR-3", "FBK-1"),
    checks=("anonymous-callers#second-computes",),
    status=Word.LIES,
    public="D10",
)
def anonymous_callers_share_a_placeholder() -> None:
    """Whoever comes without a known token is served under one and the same placeholder."""
    take_strangers_for(lambda credentials, authorization: Context("anonymous", "anonymous"))


@fault(
    rules=("BND-5", "STA-11", "SHR-3", "SHR-4"),
    checks=("uncredentialed#nobody-gets-nothing", "uncredentialed#stranger-gets-nothing"),
    status=Word.LIES,
    public="D15",
)
def cache_answers_before_the_credential_is_checked() -> None:
    """What is in the cache already is served before anybody asks for the credential."""
    primed: dict[bytes, str] = {}

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            body = await request.body()
            given = request.headers.get("authorization", "")
            try:
                self._credentials.identify(request.headers.getlist("authorization"))
            except RefusalError:
                if body not in primed:
                    raise
                return await original(self, _impersonated(request, body, primed[body]))
            primed[body] = given
            return await original(self, request)

        return chat

    seams.CHAT.wrap(make)


def _impersonated(request: Any, body: bytes, authorization: str) -> Any:
    """The same request with somebody else's Authorization."""
    from starlette.requests import Request

    headers = [(name, value) for name, value in request.scope["headers"] if name != b"authorization"]
    headers.append((b"authorization", authorization.encode()))

    whole: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return whole.pop() if whole else await request.receive()

    return Request({**request.scope, "headers": headers}, receive)


@fault(
    rules=("STA-11", "BND-5", "SHR-3", "SHR-4"),
    checks=("uncredentialed#nobody-gets-nothing", "uncredentialed#stranger-gets-nothing"),
)
def refused_caller_gets_a_status() -> None:
    """A caller who is turned away is told in a status whether the text is cached."""
    from starlette.responses import JSONResponse

    def make(original: Any) -> Any:
        async def refused(_: Any, error: Any) -> Any:
            if error.status != 401:
                return await original(_, error)
            status = [{"outcome": "exact_hit", "constraint_result": "satisfied"}]
            return JSONResponse({**error.body(), "cache_status": status}, 401)

        return refused

    seams.REFUSED.wrap(make)
