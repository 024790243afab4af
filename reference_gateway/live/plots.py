"""Plots of what experiments saw, as SVG: the same for the same figures, and readable without colour.

matplotlib draws them: the extra `live`.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from reference_gateway.live import mix, policies, ttft
from reference_gateway.live.experiment import Experiment
from reference_gateway.live.figures import Plot
from reference_gateway.live.policy import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK: Final = "#222222"
_FILLS: Final = {
    Policy.SHARED: "#bdbdbd",
    Policy.SALT: "#737373",
    Policy.INTENT: "#a6cee3",
    Policy.REGIONS: "#1f5f99",
}
_DASHES: Final = {Policy.SHARED: ":", Policy.SALT: "--", Policy.INTENT: "-.", Policy.REGIONS: "-"}
_METADATA: Final = {"Date": None, "Creator": None}
_SECONDS: Final = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def need_matplotlib() -> None:
    """Raise a click.UsageError if plots can't be drawn, before anything is measured for them."""
    try:
        import matplotlib  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise click.UsageError("plots need matplotlib: pip install 'cctest[live]'") from None


def of_public_prefix(experiments: Sequence[Experiment]) -> Plot:
    """Draw tokens reused at each step, beside what could be reused."""
    steps = [figure for experiment in experiments for figure in experiment.figures]
    names = [figure.step.what for figure in steps]
    reused = [figure.trials[0].reused or 0 for figure in steps]
    could = [figure.trials[0].could for figure in steps]
    public = steps[-1].trials[0].public
    with _drawn(1, (7.2, 2.8)) as (buffer, (axes,)):
        rows = range(len(steps))
        axes.barh(rows, could, color="white", edgecolor=_INK, label="could be reused")
        axes.barh(rows, reused, color=_FILLS[Policy.REGIONS], edgecolor=_INK, label="reused")
        axes.axvline(public, color=_INK, linestyle="--", linewidth=1, label="end of the public prefix")
        _name(axes, names)
        axes.set_xlabel("tokens, in the first trial")
        axes.legend(loc="upper center", bbox_to_anchor=(0.3, -0.22), ncols=3, frameon=False)
    told = "; ".join(
        f"{name}: {tokens} of {most}" for name, tokens, most in zip(names, reused, could, strict=True)
    )
    return Plot(buffer.getvalue(), f"Bars of tokens reused. {told}. The public prefix ends at {public}.")


def of_policies(rows: Sequence[policies.Row]) -> Plot:
    """Draw, for each policy, a new tenant's share of the ceiling, and what was reused without permission."""
    totals = policies.totals(rows)
    shares = {total.policy: 100 * total.share for total in totals}
    beyond = {total.policy: float(total.beyond) for total in totals}
    with _drawn(2, (7.2, 2.0)) as (buffer, (left, right)):
        _bars(left, shares, "{:.0f} %")
        left.set_xlabel("% of what everything shared reuses")
        left.set_title("A new tenant behind public tools")
        _bars(right, beyond, "{:.0f}")
        right.set_yticklabels([])
        right.set_xlabel("tokens, in all situations together")
        right.set_title("Reused without permission")
    told = "; ".join(
        f"{total.policy}: {total.share:.0%} of the ceiling, {total.beyond} tokens not permitted"
        for total in totals
    )
    return Plot(buffer.getvalue(), f"Bars for each policy. {told}.")


def of_ttft(samples: ttft.Samples) -> Plot:
    """Draw all times, with median and quartiles, on a logarithmic scale."""
    spreads = {policy: ttft.spread(of) for policy, of in samples.items()}
    with _drawn(1, (7.2, 2.2)) as (buffer, (axes,)):
        for row, (policy, seen) in enumerate(spreads.items()):
            axes.barh(
                row,
                seen.upper - seen.lower,
                left=seen.lower,
                height=0.55,
                color=_FILLS[policy],
                edgecolor=_INK,
                linewidth=0.8,
            )
            axes.plot([seen.median] * 2, [row - 0.38, row + 0.38], color=_INK, linewidth=2)
            axes.plot(
                [sample.seconds for sample in samples[policy]],
                [row] * len(samples[policy]),
                linestyle="none",
                marker="o",
                markersize=2.5,
                markerfacecolor="white",
                markeredgecolor=_INK,
                markeredgewidth=0.6,
            )
        _name(axes, list(spreads))
        _seconds(axes, [sample.seconds for of in samples.values() for sample in of])
        axes.set_xlabel("seconds to the first token: all, median, quartiles")
    told = "; ".join(
        f"{policy}: median {seen.median:.2f} s, quartiles {seen.lower:.2f} and {seen.upper:.2f} s"
        for policy, seen in spreads.items()
    )
    return Plot(buffer.getvalue(), f"Times to the first token. {told}.")


def of_mix(outcome: mix.Outcome) -> Plot:
    """Draw how many requests have their first token by when, and the hit rates."""
    summaries = {policy: mix.summary(policy, served) for policy, served in outcome.items()}
    with _drawn(2, (7.2, 3.0)) as (buffer, (left, right)):
        every = []
        for policy, served in outcome.items():
            times = sorted(one.first for one in served if one.first is not None)
            shares = [100 * (number + 1) / len(times) for number in range(len(times))]
            left.step(times, shares, where="post", color=_INK, linestyle=_DASHES[policy], label=policy)
            every += times
        _seconds(left, every)
        left.tick_params(axis="x", labelsize=7)
        left.set_xlabel("seconds to the first token")
        left.set_ylabel("% of requests")
        left.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=2,
            frameon=False,
            fontsize=7,
            handlelength=3,
        )
        _bars(right, {policy: 100 * one.hit_rate for policy, one in summaries.items()}, "{:.0f} %")
        right.set_xlabel("hit rate, %")
    told = "; ".join(
        f"{policy}: hit rate {one.hit_rate:.0%}, median {one.median:.2f} s, 90 % within {one.slow:.2f} s"
        for policy, one in summaries.items()
    )
    return Plot(buffer.getvalue(), f"Times to the first token, cumulated, and hit rates. {told}.")


@contextmanager
def _drawn(columns: int, inches: tuple[float, float]) -> Iterator[tuple[io.BytesIO, Sequence["Axes"]]]:
    """Give axes side by side, and where the SVG of them is afterwards."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415

    buffer = io.BytesIO()
    with rc_context(
        {
            "svg.hashsalt": "cctest",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": _INK,
        }
    ):
        figure = Figure(figsize=inches, layout="constrained")
        axes = [figure.add_subplot(1, columns, number + 1) for number in range(columns)]
        yield buffer, axes
        figure.savefig(buffer, format="svg", metadata=_METADATA)


def _bars(axes: "Axes", values: Mapping[Policy, float], spelling: str) -> None:
    """Draw a bar for each policy, with its value in words at its end."""
    for row, (policy, value) in enumerate(values.items()):
        axes.barh(row, value, color=_FILLS[policy], edgecolor=_INK, linewidth=0.8)
        told = spelling.format(value)
        axes.annotate(told, (value, row), (4, 0), textcoords="offset points", va="center")
    axes.set_xlim(0, max([*values.values(), 1]) * 1.25)
    _name(axes, list(values))


def _name(axes: "Axes", names: Sequence[str]) -> None:
    """Name the rows, the first one on top."""
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def _seconds(axes: "Axes", times: Sequence[float]) -> None:
    """Make the lower axis one of seconds, logarithmic, with round ticks around the times."""
    least, most = min(times, default=0.1) * 0.8, max(times, default=1.0) * 1.25
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    ticks = [tick for tick in _SECONDS if least <= tick <= most]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
