"""A request as a curl command that a shell runs to the same bytes, with credentials as variables."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from cctest.target.credential import Header
from cctest.target.exchange import STANDARD_HEADERS, Request, Target
from cctest.target.proxy import PROXY_VARIABLE

_ARGUMENT_LIMIT: Final = 100_000
"""Bytes of body above which it is piped: Linux takes at most 128 KiB in one argument."""

_EXPECT_LIMIT: Final = 1024
"""Bytes of body above which curl may ask `Expect: 100-continue` first."""


def curl_command(request: Request, url: str, headers: Sequence[Header] = ()) -> str:
    """Write a request to the target at `url`, which needs nothing but these headers, as one shell command."""
    return reproduce(request, Target(url, headers=headers))


def reproduce(request: Request, target: Target) -> str:
    """Write a request as one shell command that sends it to the target in the same way.

    The command runs in any POSIX shell in which the variables of the credential, and of the headers that are
    secret, are set.
    """
    parts = ["curl -sSi", *_options(target), f"-X {shlex.quote(request.method)}"]
    parts += [shlex.quote(target.address(request.path))]
    parts += [f"-H {line}" for line in _header_lines(request, target)]
    body = request.body
    if body is None:
        return " ".join(parts)
    if len(body) > _EXPECT_LIMIT:
        parts.append("-H 'Expect:'")
    text = _readable(body)
    if text is not None and len(body) <= _ARGUMENT_LIMIT:
        return " ".join([*parts, f"--data-raw {shlex.quote(text)}"])
    # The shell's own printf has no limit on its arguments, and no byte that it can't write.
    return f"printf {shlex.quote(_printf_format(body))} | " + " ".join([*parts, "--data-binary @-"])


def _options(target: Target) -> Iterator[str]:
    """Yield the options for a connection that is made otherwise than curl would by itself."""
    tls = target.tls
    for option, path in (
        ("--cacert", tls.ca_file),
        ("--cert", tls.client_certificate),
        ("--key", tls.client_key),
    ):
        if path is not None:
            yield f"{option} {shlex.quote(str(path))}"
    if tls.insecure:
        yield "--insecure"
    if target.proxy is not None:
        yield f"--proxy {shlex.quote(target.proxy.address)}"
        user = urlsplit(target.proxy.url).username
        if user is not None:
            yield f'--proxy-user {shlex.quote(f"{unquote(user)}:")}"${PROXY_VARIABLE}"'


def _header_lines(request: Request, target: Target) -> list[str]:
    lines: dict[str, str] = {}
    credential, style = request.credential, target.authorization
    for name, value in STANDARD_HEADERS:
        lines[name.lower()] = shlex.quote(f"{name}: {value}")
    for header in (*target.headers, *(credential.headers if credential else ())):
        if header.variable:
            lines[header.name.lower()] = f'"{header.name}: ${header.variable}"'
        else:
            lines[header.name.lower()] = shlex.quote(f"{header.name}: {header.value}")
    for name, value in request.headers:
        lines[name.lower()] = shlex.quote(f"{name}: {value}")
    if credential is not None:
        lines[style.header.lower()] = f'"{style.header}: {style.value(f"${credential.variable}")}"'
    if request.body is not None:
        lines.setdefault("content-type", "'Content-Type:'")  # or else curl sends one of its own
    return list(lines.values())


def _readable(body: bytes) -> str | None:
    """Give the body as text if every character of it can be read and copied, None otherwise."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char in "\n\t" for char in text) else None


def _printf_format(body: bytes) -> str:
    plain = {ord("\\"): "\\\\", ord("%"): "%%", ord("\n"): "\\n"}
    return "".join(
        plain.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in body
    )
