"""The credentials and headers that a target file lists, and how the credentials travel."""

import re
from collections.abc import Iterable
from typing import Final

from cctest.contract.source import JsonValue, child
from cctest.problem import UsageProblem
from cctest.target.credential import Authorization, Credential, Header, shell_variable
from cctest.target.target_file import TargetFile

SHORTEST_TOKEN: Final = 8
"""A shorter token can't be kept out of the output: it would turn up in other text by chance."""

_OWN_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host"}
    | {"proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"}
)
_SECRET_NAME: Final = re.compile(r"auth|cookie|key|secret|token|password", re.IGNORECASE)


def read_authorization(file: TargetFile) -> Authorization:
    """Read how tokens travel: as a bearer token, unless the file says otherwise."""
    members, usual = file.object("authorization"), Authorization()
    header = str(members.get("header", usual.header))
    _refuse_own(header, file.place("/authorization/header"))
    scheme = members.get("scheme", usual.scheme if header.lower() == usual.header.lower() else None)
    return Authorization(header, str(scheme) if scheme else None)


def read_headers(file: TargetFile, authorization: Authorization) -> tuple[Header, ...]:
    """Read the headers that are added to every request; values that may be secret get a variable."""
    return _headers(file, "/headers", file.members.get("headers"), authorization, "CCTEST_HEADER")


def read_credentials(file: TargetFile, authorization: Authorization) -> tuple[Credential, ...]:
    """Read the credentials: names distinct, and no token for two identities.

    Raises UsageProblem for the first thing that is wrong.
    """
    known: list[Credential] = []
    for pointer, members in file.objects("credentials"):
        session = members.get("session")
        name = str(members["name"])
        new = Credential(
            name=name,
            token=_token(file, str(members["token"]), f"{pointer}/token"),
            tenant=str(members["tenant"]),
            principal=str(members["principal"]),
            session=session if isinstance(session, str) else None,
            headers=_headers(
                file,
                f"{pointer}/headers",
                members.get("headers"),
                authorization,
                shell_variable("CCTEST_HEADER_OF", name),
            ),
        )
        _refuse_clash(new, known, file, pointer)
        known.append(new)
    return tuple(known)


def _refuse_clash(new: Credential, known: Iterable[Credential], file: TargetFile, pointer: str) -> None:
    for other in known:
        if other.variable == new.variable:
            raise UsageProblem(
                f"the name {new.name!r} is taken by {other.name!r}", where=file.place(f"{pointer}/name")
            )
        same_request = other.token == new.token and _values(other) == _values(new)
        if same_request and _identity(other) != _identity(new):
            raise UsageProblem(
                f"{new.name!r} has the same token as {other.name!r}, but another identity",
                where=file.place(f"{pointer}/token"),
                hint="the server derives one identity from a token, unless headers of its own go with it",
            )


def _identity(credential: Credential) -> tuple[str, str, str | None]:
    return credential.tenant, credential.principal, credential.session


def _values(credential: Credential) -> frozenset[tuple[str, str]]:
    return frozenset((header.name.lower(), header.value) for header in credential.headers)


def _headers(
    file: TargetFile, pointer: str, members: JsonValue, authorization: Authorization, prefix: str
) -> tuple[Header, ...]:
    headers = []
    for name, value in members.items() if isinstance(members, dict) else ():
        place = child(pointer, name)
        _refuse_own(name, file.place(place), authorization.header.lower())
        headers.append(_header(file, name, str(value), place, prefix))
    return tuple(headers)


def _header(file: TargetFile, name: str, raw: str, pointer: str, prefix: str) -> Header:
    value = file.fill(raw, pointer)
    if not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", value):
        raise UsageProblem(f"the value of header {name} must be printable ASCII", where=file.place(pointer))
    secret = value != raw or _SECRET_NAME.search(name)
    return Header(name, value, shell_variable(prefix, name) if secret else None)


def _refuse_own(name: str, where: str, *more: str) -> None:
    if name.lower() in _OWN_HEADERS.union(more):
        raise UsageProblem(f"the header {name} is set by cctest itself", where=where)


def _token(file: TargetFile, raw: str, pointer: str) -> str:
    where = file.place(pointer)
    token = file.fill(raw, pointer)
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise UsageProblem("a token must be printable ASCII without spaces", where=where)
    if len(token) < SHORTEST_TOKEN:
        raise UsageProblem(
            f"a token must have at least {SHORTEST_TOKEN} characters",
            where=where,
            hint="a shorter one can't be kept out of the output",
        )
    return token
