"""The command `reference-gateway`."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.backend_options import BACKEND_NAMES, BackendName, backend_options, make_backend
from reference_gateway.callers.limit_options import limit_options, take_limits
from reference_gateway.problem import ConfigurationError

_USAGE: Final = 2
_INTERNAL: Final = 70
_INTERRUPTED: Final = 130
_STDERR: Final = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cctest", prog_name="reference-gateway", message="%(prog)s %(version)s")
def cli() -> None:
    """Run the reference gateway of the cache-intent contract."""


_OPTIONS: Final = (
    click.option(
        "--backend", type=click.Choice(BACKEND_NAMES), default=str(BackendName.EMBEDDED), show_default=True
    ),
    click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free port."
    ),
    click.option(
        "--credentials",
        "credentials_path",
        type=click.Path(path_type=Path),
        required=True,
        help="YAML file of bearer tokens and who they stand for. A change counts for the next request.",
    ),
    click.option(
        "--on-unenforceable",
        type=click.Choice([str(mode) for mode in OnUnenforceable]),
        default=str(OnUnenforceable.BYPASS),
        show_default=True,
        help="What to do with a constraint that the backend can't enforce.",
    ),
    click.option(
        "--approximate",
        type=click.Choice(["exact", "unenforceable"]),
        default="exact",
        show_default=True,
        help="What `reuse: approximate` is taken as by a backend that has only exact reuse.",
    ),
    click.option(
        "--allow-chat-template", is_flag=True, help="Let callers bring chat templates of their own."
    ),
    backend_options,
    limit_options,
    click.option(
        "--metrics-key-file",
        type=click.Path(path_type=Path),
        help="File with a key that /metrics asks for; without it, anybody may look.",
    ),
    click.option(
        "--log",
        "logged",
        type=click.Choice(["requests", "problems", "none"]),
        default="requests",
        show_default=True,
        help="What to log on standard error, a JSON object a line: each request, or only what goes wrong.",
    ),
    click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends."),
)


def _serve_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@cli.command()
@_serve_options
def serve(
    *,
    backend: str,
    host: str,
    port: int,
    credentials_path: Path,
    on_unenforceable: str,
    approximate: str,
    allow_chat_template: bool,
    metrics_key_file: Path | None,
    logged: str,
    stop_with_stdin: bool,
    **special: Any,
) -> None:
    """Serve chat completions; one line on stdout says where."""
    limits = take_limits(special)
    engine = make_backend(BackendName(backend), special, OnUnenforceable(on_unenforceable))

    from reference_gateway import app  # noqa: PLC0415 - --help needs no web server
    from reference_gateway.approximate import Approximate  # noqa: PLC0415
    from reference_gateway.callers import server  # noqa: PLC0415 - --help needs no web server
    from reference_gateway.callers.front import Front  # noqa: PLC0415
    from reference_gateway.callers.live_credentials import LiveCredentials  # noqa: PLC0415
    from reference_gateway.callers.secret_file import read_key  # noqa: PLC0415
    from reference_gateway.telemetry.gatewaylog import open_log  # noqa: PLC0415

    metrics_key = None if metrics_key_file is None else read_key(metrics_key_file)
    with open_log(None if logged == "none" else _STDERR, requests=logged == "requests") as log:
        front = Front(
            LiveCredentials(credentials_path, log),
            log,
            limits,
            metrics_key,
            allow_chat_template=allow_chat_template,
        )
        application = app.create_app(engine, front, Approximate(approximate))
        server.serve(application, front, host, port, stop_with_stdin=stop_with_stdin)


@cli.command("check-config")
@_serve_options
def check_config(*, backend: str, credentials_path: Path, on_unenforceable: str, **special: Any) -> None:
    """Say all that is wrong with a configuration; takes the options of `serve`. Exit code 0 or 2."""
    from reference_gateway.callers.checking import problems_of  # noqa: PLC0415 - --help needs no YAML

    for name in ("host", "port", "approximate", "allow_chat_template", "logged", "stop_with_stdin"):
        del special[name]
    take_limits(special)
    problems = problems_of(BackendName(backend), credentials_path, special, OnUnenforceable(on_unenforceable))
    for problem in problems:
        print(problem)
    if problems:
        raise click.exceptions.Exit(_USAGE)
    print("nothing is wrong")


@cli.command("hash-token")
@click.option(
    "--salt", help="Hex digits of a salt to use again: with one salt in a file, a look-up is one hash."
)
def hash_token(salt: str | None) -> None:
    """Read a token from standard input; print the salted hash that stands for it in a credentials file."""
    from reference_gateway.callers.token_hash import LONGEST_TOKEN, hash_of_line  # noqa: PLC0415

    try:
        # One that never ends is cut behind what shows that it is too long.
        line = sys.stdin.buffer.readline(LONGEST_TOKEN + 2).decode("utf-8", "replace")
        print(hash_of_line(line, salt))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0, 2 usage or configuration, 70 our fault, 130 interrupted."""
    try:
        code: object = cli.main(args=arguments, prog_name="reference-gateway", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return _USAGE
    except ConfigurationError as problem:
        print(f"reference-gateway: {problem}", file=sys.stderr)
        return _USAGE
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except Exception:
        traceback.print_exc()
        return _INTERNAL
    return code if isinstance(code, int) else 0
