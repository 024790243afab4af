"""Server-sent events: the same data however they are written and cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_gateway.engine.sse import EVENT_LIMIT, EventError, EventReader

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
EVENTS = st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5)


def read(pieces: list[bytes]) -> list[str]:
    reader = EventReader()
    found = [data for piece in pieces for data in reader.feed(piece)]
    return found + list(reader.end())


@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["data:", "data: "]), st.data())
def test_any_cut_of_any_dialect_gives_the_same_events(
    events: list[list[str]], newline: str, field: str, data: st.DataObject
) -> None:
    # Without the space after the colon, one at the head of the text is taken for it.
    events = [[line.lstrip(" ") for line in lines] for lines in events]
    spelt = [
        [": comment", "event: chunk", "id: 7", *(field + line for line in lines), "", ""] for lines in events
    ]
    stream = "".join(newline.join(lines) for lines in spelt).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(pieces) == ["\n".join(lines) for lines in events]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b": nothing\n\n", []),
        (b"data: a", ["a"]),
        (b"data: a\r", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data\ndatax: 1\nevent: data\n\n", [""]),
        (b"datax: 1\nevent: data\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    ],
)
def test_oddities_are_read_as_the_standard_has_them(stream: bytes, expected: list[str]) -> None:
    assert read([stream]) == expected


@pytest.mark.parametrize(
    "stream", [b"data: " + b"x" * 2 * EVENT_LIMIT + b"\n\n", b"data: x\n" * 800_000, b"data: \xff\n\n"]
)
def test_what_is_too_large_or_no_text_is_refused(stream: bytes) -> None:
    pieces = [stream[start : start + 65536] for start in range(0, len(stream), 65536)]
    with pytest.raises(EventError):
        read(pieces)
