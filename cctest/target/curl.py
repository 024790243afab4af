"""A request as a curl command that a shell runs to the same bytes, with credentials as variables."""

import shlex
from collections.abc import Sequence
from typing import Final

from cctest.target.credential import Header
from cctest.target.exchange import STANDARD_HEADERS, Request

_ARGUMENT_LIMIT: Final = 100_000
"""Bytes of body above which it is piped: Linux takes at most 128 KiB in one argument."""

_EXPECT_LIMIT: Final = 1024
"""Bytes of body above which curl may ask `Expect: 100-continue` first."""


def curl_command(request: Request, url: str, headers: Sequence[Header] = ()) -> str:
    """Write a request to the target at `url` as one shell command.

    `headers` are those that the configuration adds. The command runs in any POSIX shell in which the
    variables of the credential, and of the headers that are secret, are set.
    """
    parts = ["curl -sSi", f"-X {shlex.quote(request.method)}", shlex.quote(url + request.path)]
    parts += [f"-H {line}" for line in _header_lines(request, headers)]
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


def _header_lines(request: Request, configured: Sequence[Header]) -> list[str]:
    lines: dict[str, str] = {}
    for name, value in STANDARD_HEADERS:
        lines[name.lower()] = shlex.quote(f"{name}: {value}")
    for header in configured:
        if header.variable:
            lines[header.name.lower()] = f'"{header.name}: ${header.variable}"'
        else:
            lines[header.name.lower()] = shlex.quote(f"{header.name}: {header.value}")
    for name, value in request.headers:
        lines[name.lower()] = shlex.quote(f"{name}: {value}")
    if request.credential is not None:
        lines["authorization"] = f'"Authorization: Bearer ${request.credential.variable}"'
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
