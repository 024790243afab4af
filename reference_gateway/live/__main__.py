"""`python -m reference_gateway.live`: a real vLLM for whatever is to be shown on one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import click

from reference_gateway.live import engine, figures, isolation, max_age, policies

_FAILED: Final = 1
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

    It is the one that VLLM_BASE_URL and VLLM_MODEL name, or else one with the tiny model of `make vllm`.
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


_write_option = click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Also write Markdown and JSON into this folder.",
)


@cli.command("isolation")
@click.option("--trials", type=click.IntRange(1, isolation.MOST_TRIALS), default=5, show_default=True)
@_write_option
def isolation_command(*, trials: int, folder: Path | None) -> int:
    """Two tenants, the same bytes: tokens reused without a gateway, with it, and by those who may.

    Then the same on an engine that evicts, which is always one of `make vllm`.
    """
    with engine.any_engine() as running:
        seen_on = figures.occasion(running)
        experiments = list(isolation.isolation(running, trials))
    with engine.running_engine(isolation.SMALL) as small:
        experiments.append(isolation.isolation_under_eviction(small, trials))
    _publish(
        folder,
        "isolation",
        isolation.markdown(seen_on, experiments),
        isolation.document(seen_on, experiments),
    )
    as_expected = all(figure.as_expected for one in experiments for figure in one.figures)
    return 0 if as_expected else _FAILED


@cli.command("max-age")
@click.option("--trials", type=click.IntRange(20, 1000), default=200, show_default=True)
@_write_option
def max_age_command(*, trials: int, folder: Path | None) -> int:
    """Until when state under a bound on age is reused, if the gateway keeps it by generations.

    First on an idle engine, then on one with a single slot and a full queue, which is one of `make vllm`.
    """
    with engine.any_engine() as running:
        seen_on = figures.occasion(running)
        runs = [max_age.max_age_idle(running, trials)]
    with engine.running_engine(max_age.ONE_SLOT) as slow:
        runs.append(max_age.max_age_queued(slow, trials))
    _publish(folder, "max-age", max_age.markdown(seen_on, runs), max_age.document(seen_on, runs))
    return 0 if all(run.as_expected for run in runs) else _FAILED


@cli.command("policies")
@_write_option
def policies_command(*, folder: Path | None) -> int:
    """Tokens reused with everything shared, with a salt per tenant, and by the application's intent."""
    with engine.any_engine() as running:
        seen_on = figures.occasion(running)
        rows = policies.policies(running)
    _publish(folder, "policies", policies.markdown(seen_on, rows), policies.document(seen_on, rows))
    return 0


def _publish(folder: Path | None, name: str, markdown: str, document: dict[str, Any]) -> None:
    print(markdown)
    if folder is not None:
        figures.write(folder, name, markdown, document)


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
