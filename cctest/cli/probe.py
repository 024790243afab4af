"""`cctest probe`: a server over HTTP."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from cctest.catalogue import load_catalogue
from cctest.cli.filters import filter_options
from cctest.cli.outputs import Outputs, output_options
from cctest.probe.bundled import MODEL, make_credentials, running_gateway
from cctest.probe.case import Case
from cctest.probe.load import load_cases
from cctest.probe.run import DEFAULT_JOBS, ProbePlan, run_probe
from cctest.report.progress import progress
from cctest.selection import Filter, Wanted
from cctest.target.configuration import Configuration, Overrides, load_configuration
from cctest.verdict import Exit

BY_CASE: Final[Filter[Case]] = Filter(
    "case",
    lambda case: case.id,
    lambda case: case.all_rules,
    lambda case: case.group,
    lambda case: case.checks,
    Case.without,
)


@click.command("probe", short_help="Test a server over HTTP.")
@click.option("--target", metavar="URL", help="The server; wins over the configuration file.")
@click.option("--config", metavar="FILE", help="Target, model and credentials, as YAML or JSON.")
@click.option("--bundled", is_flag=True, help="Start the reference gateway and test it.")
@click.option("--model", metavar="NAME", help="The model to ask for; wins over the configuration file.")
@filter_options
@click.option("--seed", type=int, help="Makes the order and every choice repeatable; random by default.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=DEFAULT_JOBS,
    show_default=True,
    help="Exchanges under way at a time.",
)
@output_options
def command(
    *,
    target: str | None,
    config: str | None,
    bundled: bool,
    model: str | None,
    wanted: Wanted,
    seed: int | None,
    jobs: int,
    json_path: str | None,
    junit: str | None,
    quiet: bool,
) -> Exit:
    """Send requests to a server and judge by its responses whether it keeps the contract.

    Isolation between tenants needs credentials of two tenants in the configuration file.
    """
    outputs = Outputs(json_path, junit, quiet)
    outputs.check()
    everything = load_cases()
    chosen = BY_CASE.narrow(everything, wanted, load_catalogue())
    with _configuration(target, config, model, bundled=bundled) as configuration:
        plan = ProbePlan(
            configuration=configuration,
            cases=chosen,
            total=len(everything),
            seed=secrets.randbelow(2**32) if seed is None else seed,
            jobs=jobs,
        )
        with progress(quiet=quiet) as tell:
            report = run_probe(plan, lambda state: tell(state.cells, state.checks))
    return outputs.publish(report)


@contextmanager
def _configuration(
    target: str | None, config: str | None, model: str | None, *, bundled: bool
) -> Iterator[Configuration]:
    if bundled:
        if target is not None or config is not None:
            raise click.UsageError("--bundled brings its own target: leave out --target and --config")
        credentials = make_credentials()
        with running_gateway(credentials) as url:
            yield Configuration(url, model or MODEL, credentials)
    elif target is None and config is None:
        raise click.UsageError("give --target URL, --config FILE or --bundled")
    else:
        yield load_configuration(Path(config) if config is not None else None, Overrides(target, model))
