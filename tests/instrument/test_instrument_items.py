"""What the engine keeps under names that callers give: as in vLLM, for everybody and in every partition."""

from typing import Any

import pytest

from cctest.instrument.client import Engine
from cctest.instrument.intake import RefusalError
from cctest.instrument.items import NamedItems
from instrument.talk import Json, ask, body, nonce, recorded, text


def image(name: str | None, url: str | None = "data:,one", **more: Any) -> Json:
    told: Json = {} if name is None else {"uuid": name}
    return {"type": "image_url", "image_url": None if url is None else {"url": url}, **told, **more}


def saying(own: str, *parts: Json, **members: Any) -> Json:
    return body([*parts, {"type": "text", "text": own}], **members)


def test_what_came_first_under_a_name_is_what_the_name_stands_for(engine: Engine) -> None:
    name, own = nonce(), text()
    first = ask(engine.url, saying(own, image(name)))
    again = ask(engine.url, saying(own, image(name, "data:,another")))
    without = ask(engine.url, saying(own, image(name, None)))
    assert first.prompt_tokens == again.prompt_tokens == without.prompt_tokens
    assert again.cached_tokens == without.cached_tokens != 0
    assert [entry.recalled for entry in recorded(engine, own, count=3)] == [0, 1, 1]


def test_a_name_reaches_across_partitions(engine: Engine) -> None:
    name, own = nonce(), text()
    ask(engine.url, saying(own, image(name), cache_salt="one"))
    assert ask(engine.url, saying(own, image(name, None), cache_salt="other")).cached_tokens == 0
    assert [entry.recalled for entry in recorded(engine, own, count=2)] == [0, 1]


def test_what_has_no_name_is_kept_for_nobody(engine: Engine) -> None:
    own = text()
    for url in ("data:,one", "data:,one", "data:,another"):
        ask(engine.url, saying(own, image(None, url), image(None, url)))
    assert [entry.recalled for entry in recorded(engine, own, count=3)] == [0, 0, 0]


def test_a_name_for_nothing_is_refused(engine: Engine) -> None:
    assert ask(engine.url, saying(text(), image(nonce(), None))).status == 400


def test_a_name_on_a_text_or_on_something_of_another_type_is_none(engine: Engine) -> None:
    name, own = nonce(), text()
    ask(engine.url, saying(own, image(name)))
    ask(engine.url, saying(own, {"type": "text", "text": "x", "uuid": name}))
    ask(engine.url, saying(own, {"type": "input_audio", "input_audio": {"data": "eA=="}, "uuid": name}))
    assert [entry.recalled for entry in recorded(engine, own, count=3)] == [0, 0, 0]


def test_the_item_that_was_used_least_recently_goes_first() -> None:
    items = NamedItems(capacity=2)

    def recalled(name: str, url: str | None = "data:,x") -> int:
        return items.recall(saying("", image(name, url))).count

    assert [recalled("a"), recalled("b"), recalled("a"), recalled("c"), recalled("a", None)] == [
        0,
        0,
        1,
        0,
        1,
    ]
    with pytest.raises(RefusalError):
        recalled("b", None)


def test_a_body_of_another_shape_is_left_as_it_is() -> None:
    shapes: list[Json] = [
        {},
        {"messages": None},
        {"messages": [1, {"content": [2, {"type": 3, "uuid": "x"}]}]},
    ]
    for members in shapes:
        recalled = NamedItems().recall(members)
        assert (recalled.members, recalled.count) == (members, 0)
