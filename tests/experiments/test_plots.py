"""Plots are the same for the same figures, and say in words what they show."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from experiments.test_verdicts import outcome, rows, samples
from reference_gateway.live import plots
from reference_gateway.live.experiment import Expected, Experiment, Figure, Seen, Step
from reference_gateway.live.figures import Plot, write


def prefix() -> Plot:
    steps = [("a tenant", Expected.NOTHING, 0), ("a fresh tenant", Expected.PUBLIC, 64)]
    drawn = tuple(
        Figure(Step(name, expected, "", ""), (Seen(reused, 128, reused, "", 64),))
        for name, expected, reused in steps
    )
    return plots.of_public_prefix([Experiment("", drawn)])


DRAWN: dict[str, Callable[[], Plot]] = {
    "public prefix": prefix,
    "policies": lambda: plots.of_policies(rows()),
    "ttft": lambda: plots.of_ttft(samples()),
    "mix": lambda: plots.of_mix(outcome()),
}
drawn = pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)


@drawn
def test_the_same_figures_give_the_same_file(draw: Callable[[], Plot]) -> None:
    first, second = draw(), draw()
    assert first == second
    assert b"dc:date" not in first.svg


@drawn
def test_a_plot_is_wellformed_and_its_words_are_text(draw: Callable[[], Plot]) -> None:
    svg = ET.fromstring(draw().svg)
    words = {"".join(one.itertext()).strip() for one in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert any("token" in word or "hit rate" in word for word in words)


def test_the_words_have_the_figures() -> None:
    assert (
        "intent, with regions: 100% of the ceiling, 0 tokens not permitted" in DRAWN["policies"]().alternative
    )
    assert "tenant salt: median 3.00 s" in DRAWN["ttft"]().alternative


def test_the_report_shows_the_plot_under_its_title(tmp_path: Path) -> None:
    write(tmp_path, "some", "# Title\n\nText.", {"a": 1}, Plot(b"<svg/>", "In words."))
    assert (tmp_path / "some.md").read_text() == "# Title\n\n![In words.](some.svg)\n\nText.\n"
    assert (tmp_path / "some.svg").read_bytes() == b"<svg/>"
