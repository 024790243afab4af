"""The options that set limits."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

import click

from reference_gateway.callers.limits import Limits

_SIZE: Final = click.IntRange(1, 2**31)
_SECONDS: Final = click.FloatRange(0.1, 86_400)

_OPTIONS: Final = (
    ("--max-body-bytes", "body_bytes", _SIZE, "most bytes in a request's body (413)"),
    ("--body-deadline", "body_seconds", _SECONDS, "seconds in which a body must have come (408)"),
    ("--max-bodies-bytes", "bodies_bytes", _SIZE, "most bytes in all bodies under way (503)"),
    ("--max-fragments", "fragments", click.IntRange(1, 4096), "most tools and messages in a request (400)"),
    (
        "--max-header-bytes",
        "header_bytes",
        click.IntRange(1024, 2**24),
        "most bytes in a request's head (431)",
    ),
    ("--max-headers", "header_count", click.IntRange(8, 10_000), "most headers of a request (431)"),
    ("--head-deadline", "head_seconds", _SECONDS, "seconds in which a request's head must have come"),
    (
        "--keep-alive",
        "idle_seconds",
        click.IntRange(1, 86_400),
        "seconds for which a connection without a request is kept",
    ),
    ("--stall-deadline", "stall_seconds", _SECONDS, "seconds in which a caller must take some of an answer"),
    ("--max-connections", "connections", click.IntRange(1, 10**6), "most open connections (503)"),
    (
        "--max-concurrency",
        "concurrency",
        click.IntRange(1, 10**6),
        "most requests of a principal at once (429)",
    ),
    ("--max-rate", "rate", click.FloatRange(0.001, 10**6), "most requests of a principal per second (429)"),
    (
        "--max-namespaces",
        "namespaces",
        click.IntRange(1, 10**7),
        "most namespaces of a tenant in the time of --namespace-window (429)",
    ),
    ("--namespace-window", "namespace_seconds", _SECONDS, "seconds for which a used namespace counts"),
)


def limit_options(command: Any) -> Any:
    """Put the options on a command, which gets them as keyword arguments; None is one that wasn't given."""
    defaults = Limits()
    for flag, name, kind, text in reversed(_OPTIONS):
        default = getattr(defaults, name)
        shown = "none" if default is None else f"{default:g}" if isinstance(default, float) else default
        option = click.option(flag, name, type=kind, help=f"limit: {text}.  [default: {shown}]")
        command = option(command)
    return command


def take_limits(options: dict[str, Any]) -> Limits:
    """Make the limits of a command's keyword arguments, and take those out."""
    given = {one.name: options.pop(one.name) for one in fields(Limits)}
    return Limits(**_only_given(given))


def _only_given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
