"""The command `reference-gateway`."""

import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.problem import ConfigurationError

if TYPE_CHECKING:
    from reference_gateway.backend import Backend

_USAGE: Final = 2
_INTERNAL: Final = 70
_INTERRUPTED: Final = 130

_EMBEDDED: Final = "embedded"
_VLLM: Final = "vllm"
_LEAST_SECRET: Final = 16


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Run the reference gateway of the cache-intent contract."""


_EMBEDDED_OPTIONS: Final = (
    click.option(
        "--capacity-blocks", type=click.IntRange(0), help="embedded: most blocks retained.  [default: 65536]"
    ),
    click.option(
        "--reuse-within-max",
        type=click.IntRange(0),
        help="embedded: seconds beyond which the hint reuse_within is clipped.  [default: 3600]",
    ),
)
_VLLM_OPTIONS: Final = (
    click.option("--engine-url", help="vllm: the engine's address, with or without /v1."),
    click.option(
        "--engine-key-file",
        type=click.Path(path_type=Path),
        help="vllm: file with the key that the engine asks for.",
    ),
    click.option(
        "--engine-deadline",
        type=click.FloatRange(0.001, 86_400),
        help="vllm: seconds for a whole exchange with the engine.  [default: 600]",
    ),
    click.option(
        "--salt-secret-file",
        type=click.Path(path_type=Path),
        help="vllm: file with the secret behind the engine's partitions, of 16 bytes or more and the same"
        " for all replicas. Without it, a random one for this process.",
    ),
    click.option(
        "--without-intent",
        type=click.Choice(["tenant", "engine-default"]),
        help="vllm: partition of requests without any intent.  [default: tenant]",
    ),
)


def _options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@cli.command()
@click.option("--backend", type=click.Choice([_EMBEDDED, _VLLM]), default=_EMBEDDED, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free port."
)
@click.option(
    "--credentials",
    "credentials_path",
    type=click.Path(path_type=Path),
    required=True,
    help="YAML file of bearer tokens and who they stand for.",
)
@click.option(
    "--on-unenforceable",
    type=click.Choice([str(mode) for mode in OnUnenforceable]),
    default=str(OnUnenforceable.BYPASS),
    show_default=True,
    help="What to do with a constraint that the backend can't enforce.",
)
@click.option(
    "--approximate",
    type=click.Choice(["exact", "unenforceable"]),
    default="exact",
    show_default=True,
    help="What `reuse: approximate` is taken as.",
)
@click.option(
    "--block-size",
    type=click.IntRange(1, 4096),
    default=16,
    show_default=True,
    help="Tokens per block: the embedded engine's, or those of the engine behind.",
)
@_options(_EMBEDDED_OPTIONS)
@_options(_VLLM_OPTIONS)
@click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends.")
def serve(
    *,
    backend: str,
    host: str,
    port: int,
    credentials_path: Path,
    on_unenforceable: str,
    approximate: str,
    block_size: int,
    stop_with_stdin: bool,
    **special: Any,
) -> None:
    """Serve chat completions; one line on stdout says where."""
    given = {name: value for name, value in special.items() if value is not None}
    make = {_EMBEDDED: _embedded, _VLLM: _vllm}[backend]
    engine = make(given, block_size=block_size, on_unenforceable=OnUnenforceable(on_unenforceable))
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"not for the backend {backend}: {names}")

    from reference_gateway import app, credentials, server  # noqa: PLC0415 - --help needs no web server
    from reference_gateway.approximate import Approximate  # noqa: PLC0415

    known = credentials.load_credentials(credentials_path)
    application = app.create_app(engine, known, Approximate(approximate))
    server.serve(application, host, port, stop_with_stdin=stop_with_stdin)


def _embedded(given: dict[str, Any], **common: Any) -> "Backend":
    """Make the embedded engine; takes its options out of `given`."""
    from reference_gateway.embedded import EmbeddedBackend  # noqa: PLC0415 - only where it is chosen

    own = {name: given.pop(name) for name in ("capacity_blocks", "reuse_within_max") if name in given}
    return EmbeddedBackend(**common, **own)


def _vllm(given: dict[str, Any], **common: Any) -> "Backend":
    """Make the engine behind HTTP; takes its options out of `given`. Raises ConfigurationError."""
    from reference_gateway.salt import SECRET_BYTES, Salts  # noqa: PLC0415 - only where it is chosen
    from reference_gateway.secret_file import read_key, read_secret  # noqa: PLC0415
    from reference_gateway.upstream import Upstream  # noqa: PLC0415
    from reference_gateway.vllm import VllmBackend, WithoutIntent  # noqa: PLC0415

    if "engine_url" not in given:
        raise click.UsageError("the backend vllm needs --engine-url")
    key_file, secret_file = given.pop("engine_key_file", None), given.pop("salt_secret_file", None)
    upstream = Upstream(
        given.pop("engine_url"),
        key=None if key_file is None else read_key(key_file),
        deadline=given.pop("engine_deadline", 600.0),
    )
    if secret_file is None:
        secret = secrets.token_bytes(SECRET_BYTES)
        print(
            "reference-gateway: no --salt-secret-file: the secret is random, so no cached state is shared"
            " with another replica or kept over a restart",
            file=sys.stderr,
        )
    else:
        secret = read_secret(secret_file, least=_LEAST_SECRET)
    without_intent = WithoutIntent(given.pop("without_intent", WithoutIntent.TENANT))
    return VllmBackend(upstream, Salts(secret), without_intent=without_intent, **common)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0, 2 usage or configuration, 70 our fault, 130 interrupted."""
    try:
        cli.main(args=arguments, prog_name="reference-gateway", standalone_mode=False)
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
    return 0
