"""`cctest engine`: an instrumented engine to put behind a gateway under test."""

import importlib.util

import click

from cctest.instrument.settings import Settings
from cctest.problem import UsageProblem
from cctest.report.destination import complain, say

_DEFAULT = Settings()


@click.command("engine", short_help="Serve an instrumented engine.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8001, show_default=True, help="0 takes a free port."
)
@click.option(
    "--block-size",
    type=click.IntRange(1, 4096),
    default=_DEFAULT.block_size,
    show_default=True,
    help="Tokens per block; a token is up to 4 bytes of UTF-8.",
)
@click.option(
    "--capacity-blocks",
    type=click.IntRange(0),
    default=_DEFAULT.capacity_blocks,
    show_default=True,
    help="Most blocks retained.",
)
@click.option("--no-usage-details", is_flag=True, help="Don't tell how many tokens were reused.")
@click.option(
    "--regions", is_flag=True, help="Take several salts in one request, as a vLLM with our plugin does."
)
@click.option("--model", default=_DEFAULT.model, show_default=True, help="Name of the model served.")
@click.option("--stop-with-stdin", is_flag=True, help="Stop when standard input ends.")
def command(
    *,
    host: str,
    port: int,
    block_size: int,
    capacity_blocks: int,
    no_usage_details: bool,
    regions: bool,
    model: str,
    stop_with_stdin: bool,
) -> None:
    """Serve an instrumented engine: OpenAI-compatible, with vLLM's cache semantics and no language model.

    Point the gateway under test at it, and the probe with --engine too. It keeps a record of everything that
    reaches it. One line on standard output says where it listens.
    """
    for module in ("starlette", "uvicorn", "httptools"):
        if importlib.util.find_spec(module) is None:
            raise UsageProblem(
                f"the instrumented engine needs {module}", hint="pip install 'cctest[gateway]'"
            )
    from cctest.instrument.server import is_loopback, serve

    if not is_loopback(host):
        complain(
            f"warning: {host} can be reached from other machines; whoever reaches it can read what was sent "
            "to the engine and change how it behaves\n"
        )
    settings = Settings(
        model, block_size, capacity_blocks, usage_details=not no_usage_details, regions=regions
    )
    serve(settings, host, port, lambda url: say(f"listening on {url}\n"), stop_with_stdin=stop_with_stdin)
