"""`python -m reference_gateway.live`: a real vLLM for whatever is to be shown on one."""

import os
import subprocess
import sys
from typing import Any, Final

import click

from reference_gateway.live import engine
from reference_gateway.live.commands import COMMANDS

_UNVERIFIED: Final = 3


_regions_option = click.option("--regions", is_flag=True, help="With our plugin vllm_cache_regions.")
_model_option = click.option(
    "--model",
    type=click.Choice([model.value for model in engine.Model]),
    default=engine.Model.TINY.value,
    show_default=True,
    callback=lambda _context, _option, name: engine.Model(name),
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Show on a real vLLM what the gateway does.

    It is the one that VLLM_BASE_URL and VLLM_MODEL name, or else one with a model of `make vllm`.
    """


@cli.command("engine", context_settings={"ignore_unknown_options": True})
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0, the default, takes a free one.")
@click.option("--blocks", type=click.IntRange(2), help="Size of its cache in blocks.  [default: 1 GiB]")
@click.option("--without-usage-details", is_flag=True, help="Responses don't tell what was cached.")
@_model_option
@_regions_option
@click.argument("more", nargs=-1, type=click.UNPROCESSED)
def engine_command(*, port: int, without_usage_details: bool, **options: Any) -> None:
    """Run the engine of `make vllm` until interrupted. MORE are further options of vLLM's."""
    given = engine.Options(usage_details=not without_usage_details, **options)
    with engine.running_engine(given, port=port) as running:
        print(
            f"vLLM {running.version()} with the model {running.model}: listening on {running.url}", flush=True
        )
        os.waitpid(running.pid or 0, 0)


@cli.command("run", context_settings={"ignore_unknown_options": True})
@_model_option
@_regions_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run_command(*, model: engine.Model, regions: bool, command: tuple[str, ...]) -> None:
    """Run COMMAND with VLLM_BASE_URL and VLLM_MODEL set to an engine that runs meanwhile."""
    with engine.any_engine(engine.Options(model=model, regions=regions)) as running:
        variables = os.environ | {engine.BASE_URL: running.url, engine.MODEL: running.model}
        sys.exit(subprocess.run(command, env=variables, check=False).returncode)  # noqa: S603 - the caller's own


for _command in COMMANDS:
    cli.add_command(_command)


def main() -> int:
    """Run a command: 1 if something wasn't as expected, 2 usage, 3 if there is no engine to show it on."""
    try:
        return int(cli.main(prog_name="python -m reference_gateway.live", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return 2
    except engine.NoEngineError as problem:
        print(f"UNVERIFIED: {problem}", file=sys.stderr)
        return _UNVERIFIED
    except (click.Abort, KeyboardInterrupt):
        return 130


if __name__ == "__main__":
    sys.exit(main())
