"""The engine is started anew without the plugin, and with it again, in front of callers who don't stop asking.

The gateway is one process throughout, and nobody tells it anything.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from live.attack import bounds, seen
from live.load import Load
from live.site import WITH_PLUGIN, WITHOUT_PLUGIN, Site, until, whole
from live.thorough import THOROUGH
from reference_gateway.live.chat import Json, intent, message, text, tool
from reference_gateway.live.model import TEMPLATE

PUBLIC = text(8)
HAPPENED = 3
"""So many times what should be found has to be."""


def prompt() -> tuple[list[Json], str, str]:
    own = text(12)
    fragments = [
        tool("look_up", PUBLIC, intent("public")),
        message(own, "system", intent("tenant")),
        message("And now?"),
    ]
    return fragments, PUBLIC, own


@dataclass(frozen=True)
class Story:
    """What was seen, and the instants at which the engine was stopped and was ready again without the plugin.

    `again` are those of the way back, where that was gone.
    """

    load: Load
    most: int
    began: float
    stopped: float
    ready: float
    over: float
    again: tuple[float, float] | None


@pytest.fixture(scope="module")
def story(standing_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Story:
    site = standing_site
    site.ready()
    most = bounds(site, *prompt()).most
    load = Load(site, most, PUBLIC)
    again = None
    with load.running():
        began = time.monotonic()
        for purpose in ("colleague", "in time", "too late"):
            load.wait_for(purpose, HAPPENED) if purpose != "too late" else load.wait_for_answers(
                purpose, HAPPENED
            )
        stopped = time.monotonic()
        site.stop()
        site.start(WITHOUT_PLUGIN)
        ready = time.monotonic()
        for purpose in ("stranger", "in time", "too late"):
            load.wait_for_answers(purpose, HAPPENED)
        load.wait_for("colleague", HAPPENED)
        over = time.monotonic()
        if THOROUGH:
            again = _back(site, load, tmp_path_factory.mktemp("template"))
    return Story(load, most, began, stopped, ready, over, again)


def _back(site: Site, load: Load, folder: Path) -> tuple[float, float]:
    """The way back, to an engine that has another template as well: all boundaries are elsewhere."""
    template = folder / "template.jinja"
    template.write_text("This is another engine than before, which goes by other words. " * 4 + TEMPLATE)
    site.stop()
    site.start(replace(WITH_PLUGIN, more=(*WITH_PLUGIN.more, "--chat-template", str(template))))
    ready = time.monotonic()
    until(site.in_force)
    load.most = bounds(site, *prompt()).most
    for purpose in ("colleague", "in time"):
        load.wait_for(purpose, HAPPENED)
    load.wait_for_answers("too late", HAPPENED)
    return ready, time.monotonic()


def test_no_private_token_is_read_by_a_stranger_at_any_time(story: Story) -> None:
    read = story.load.between("stranger", story.began, 1e12)
    most = max(story.most, story.load.most)
    assert len(read) >= 2 * HAPPENED
    assert max(one.cached or 0 for one in read) <= most
    before = [one.cached for one in story.load.between("stranger", story.began, story.stopped)]
    assert max(one or 0 for one in before) > 0


def test_nothing_is_read_past_its_bound_at_any_time(story: Story) -> None:
    read = story.load.between("too late", story.began, 1e12)
    assert len(read) >= 2 * HAPPENED
    assert max(one.cached or 0 for one in read) <= max(story.most, story.load.most)


def test_without_the_plugin_bounded_state_is_not_read_at_all(story: Story) -> None:
    read = story.load.between("in time", story.ready, story.over)
    assert {one.cached for one in read} == {0}


def test_every_request_is_answered_while_an_engine_is_ready(story: Story) -> None:
    """Those that were under way when it was stopped, and those that came before it was ready, may fail."""
    served = [(story.began, story.stopped), (story.ready, story.over)]
    if story.again is not None:
        served.append(story.again)
    within = [
        one
        for one in story.load.exchanges
        for begin, end in served
        if begin <= one.sent and one.answered <= end
    ]
    assert len(within) > 6 * HAPPENED
    assert {one.http for one in within} == {200}
    assert {one.http for one in story.load.exchanges} <= {200, 502, 503, 504}


def test_capabilities_are_what_is_in_force(story: Story) -> None:
    told = story.load.in_force
    before = [said for at, said in told if story.began <= at < story.stopped]
    without = [said for at, said in told if story.ready <= at < story.over]
    assert set(before) == {True}
    assert set(without) == {False}
    gone = next(at for at, said in told if at >= story.stopped and not said)
    print(f"\ncapabilities told of it {gone - story.stopped:.1f} s after the engine was stopped")
    print(
        f"without it: ready after {story.ready - story.stopped:.1f} s; {len(story.load.exchanges)} exchanges"
    )


@pytest.mark.skipif(not THOROUGH, reason="LIVE_ATTACKS=short")
def test_boundaries_that_were_known_before_the_template_changed_share_nothing_private(story: Story) -> None:
    assert story.again is not None
    ready, over = story.again
    read = [one.cached or 0 for one in story.load.between("stranger", ready, over)]
    assert max(read) <= story.load.most
    assert max(read) >= whole(story.load.most) > story.most


def test_one_salt_for_all_is_what_is_left(story: Story, standing_site: Site) -> None:
    if standing_site.options is not WITHOUT_PLUGIN:
        pytest.skip("the plugin is there again")
    fragments, _, _ = prompt()
    saw = seen(standing_site, fragments)
    assert saw.stranger == 0
    assert saw.colleague == saw.readable
