"""The experiments as commands: each ends in 1 if something wasn't as expected."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from reference_gateway.live import (
    engine,
    experiment,
    figures,
    hashing,
    isolation,
    max_age,
    mix,
    plots,
    policies,
    public_prefix,
    ttft,
)

_FAILED: Final = 1
_REGIONS: Final = engine.Options(regions=True)
_LARGER: Final = engine.Options(regions=True, model=engine.Model.LARGER)
_VERDICTS: Final = {True: "As expected.", False: "NOT AS EXPECTED."}

_write_option = click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Also write Markdown and JSON, and plots as SVG, into this folder.",
)


@click.command("isolation")
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
        experiment.document(seen_on, experiments),
    )
    return _code(all(one.as_expected for one in experiments))


@click.command("max-age")
@click.option("--trials", type=click.IntRange(20, 1000), default=200, show_default=True)
@click.option("--idle", is_flag=True, help="Only on the idle engine.")
@_write_option
def max_age_command(*, trials: int, idle: bool, folder: Path | None) -> int:
    """Until when state under a bound on age is reused, if the gateway keeps it by generations.

    First on an idle engine, then on one with a single slot and a full queue, which is one of `make vllm`.
    Where those who ask wait for a processor themselves, nothing is shown.
    """
    with engine.any_engine() as running:
        seen_on = figures.occasion(running)
        runs = [max_age.max_age_idle(running, trials)]
    if not idle:
        with engine.running_engine(max_age.ONE_SLOT) as slow:
            runs.append(max_age.max_age_queued(slow, trials))
    _publish(folder, "max-age", max_age.markdown(seen_on, runs), max_age.document(seen_on, runs))
    return _code(all(run.as_expected for run in runs))


@click.command("policies")
@_write_option
def policies_command(*, folder: Path | None) -> int:
    """Tokens reused with everything shared, with a salt per tenant, and by the application's intent.

    On an engine with the plugin, by the intent both with one partition for each request and with regions.
    """
    _prepare_plots(folder)
    given = engine.given_engine()
    with engine.any_engine(None if given else _REGIONS) as running:
        seen_on = figures.occasion(running)
        rows = policies.policies(running)
    document = policies.document(seen_on, rows)
    _publish(folder, "policies", policies.markdown(seen_on, rows), document, lambda: plots.of_policies(rows))
    return _code(policies.as_expected(rows))


@click.command("public-prefix")
@click.option("--trials", type=click.IntRange(1, public_prefix.MOST_TRIALS), default=5, show_default=True)
@_write_option
def public_prefix_command(*, trials: int, folder: Path | None) -> int:
    """Public tools in front of private text: a fresh tenant gets the whole blocks of the tools, and no more.

    The engine needs the plugin.
    """
    _prepare_plots(folder)
    with engine.any_engine(_REGIONS) as running:
        seen_on = figures.occasion(running)
        experiments = list(public_prefix.public_prefix(running, trials))
    markdown = public_prefix.markdown(seen_on, experiments)
    document = experiment.document(seen_on, experiments)
    _publish(folder, "public-prefix", markdown, document, lambda: plots.of_public_prefix(experiments))
    return _code(all(one.as_expected for one in experiments))


@click.command("ttft")
@click.option("--repetitions", type=click.IntRange(2, ttft.MOST_REPETITIONS), default=15, show_default=True)
@click.option("--reuse-only", is_flag=True, help="Judge what was reused, and no times: for a tiny model.")
@_write_option
def ttft_command(*, repetitions: int, reuse_only: bool, folder: Path | None) -> int:
    """How long a new tenant waits for the first token, behind 4,000 public tokens, under each policy.

    The engine needs the plugin; without one that is named it has the larger model of `make vllm`.
    """
    _prepare_plots(folder)
    with engine.any_engine(_LARGER) as running:
        seen_on = figures.occasion(running)
        samples = ttft.ttft(running, repetitions)
    as_expected = ttft.reused_as_expected(samples, seen_on.block_size) and (
        reuse_only or ttft.times_as_expected(samples)
    )
    verdict = f"{_VERDICTS[as_expected]}{' Times were not judged.' if reuse_only else ''}"
    markdown = ttft.markdown(seen_on, samples, verdict)
    _publish(folder, "ttft", markdown, ttft.document(seen_on, samples), lambda: plots.of_ttft(samples))
    return _code(as_expected)


@click.command("mix")
@click.option(
    "--seconds", type=click.FloatRange(5, 3600), default=120.0, show_default=True, help="Of each policy."
)
@click.option(
    "--rate", type=click.FloatRange(0.1, 100), default=mix.RATE, show_default=True, help="Requests a second."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of who asks what, and when.")
@_write_option
def mix_command(*, seconds: float, rate: float, seed: int, folder: Path | None) -> int:
    """Hit rates, and how long people wait, under a mixed load of 20 tenants, under each policy.

    The engine needs the plugin; without one that is named it has the larger model of `make vllm`.
    """
    _prepare_plots(folder)
    with engine.any_engine(_LARGER) as running:
        seen_on = figures.occasion(running)
        outcome = mix.mix(running, seconds, rate, seed)
    markdown = mix.markdown(seen_on, outcome, seconds, rate)
    document = mix.document(seen_on, outcome, seconds, rate)
    _publish(folder, "mix", markdown, document, lambda: plots.of_mix(outcome))
    return _code(mix.as_expected(outcome))


@click.command("hashing")
@click.argument("environments", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@_write_option
def hashing_command(*, environments: tuple[Path, ...], folder: Path | None) -> int:
    """What regions add to vLLM's hashing of a prompt. ENVIRONMENTS have a vLLM each, with the plugin."""
    measured = hashing.hashing(environments)
    _publish(folder, "hashing", hashing.markdown(measured), hashing.document(measured))
    return _code(all(map(hashing.as_expected, measured)))


COMMANDS: Final = (
    isolation_command,
    max_age_command,
    policies_command,
    public_prefix_command,
    ttft_command,
    mix_command,
    hashing_command,
)


def _prepare_plots(folder: Path | None) -> None:
    """Find out before anything is measured whether what was seen can be drawn."""
    if folder is not None:
        plots.need_matplotlib()


def _publish(
    folder: Path | None,
    name: str,
    markdown: str,
    document: dict[str, Any],
    draw: Callable[[], figures.Plot | None] = lambda: None,
) -> None:
    print(markdown)
    if folder is not None:
        figures.write(folder, name, markdown, document, draw())


def _code(as_expected: bool) -> int:  # noqa: FBT001 - the one thing that it is about
    return 0 if as_expected else _FAILED
