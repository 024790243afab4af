"""The command `reference-gateway`."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.problem import ConfigurationError

_USAGE: Final = 2
_INTERNAL: Final = 70
_INTERRUPTED: Final = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Run the reference gateway of the cache-intent contract."""


@cli.command()
@click.option("--backend", type=click.Choice(["embedded"]), default="embedded", show_default=True)
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
    "--block-size", type=click.IntRange(1, 4096), default=16, show_default=True, help="Tokens per block."
)
@click.option(
    "--capacity-blocks",
    type=click.IntRange(0),
    default=65536,
    show_default=True,
    help="Most blocks retained.",
)
@click.option(
    "--reuse-within-max",
    type=click.IntRange(0),
    default=3600,
    show_default=True,
    help="Seconds beyond which the hint reuse_within is clipped.",
)
@click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends.")
def serve(
    *,
    backend: str,
    host: str,
    port: int,
    credentials_path: Path,
    on_unenforceable: str,
    block_size: int,
    capacity_blocks: int,
    reuse_within_max: int,
    stop_with_stdin: bool,
) -> None:
    """Serve chat completions; one line on stdout says where."""
    del backend  # there is one so far
    from reference_gateway import app, credentials, embedded, server  # noqa: PLC0415 - --help needs no web server

    engine = embedded.EmbeddedBackend(
        block_size=block_size,
        capacity_blocks=capacity_blocks,
        reuse_within_max=reuse_within_max,
        on_unenforceable=OnUnenforceable(on_unenforceable),
    )
    known = credentials.load_credentials(credentials_path)
    server.serve(app.create_app(engine, known), host, port, stop_with_stdin=stop_with_stdin)


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
