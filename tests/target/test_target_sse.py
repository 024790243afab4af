from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.target.sse import SseEvent, read_events


def events(stream: bytes) -> list[SseEvent]:
    return list(read_events([stream]))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_any_of_three_ways(end: bytes) -> None:
    stream = end.join([b"event: note", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    assert events(stream) == [SseEvent(b"a\nb", "note"), SseEvent(b"c")]


def test_comments_ids_and_retries_are_skipped() -> None:
    assert events(b": ping\n\nid: 7\nretry: 10\ndata: x\n: more\n\n") == [SseEvent(b"x")]


def test_only_one_space_after_the_colon_is_dropped() -> None:
    assert events(b"data:a\n\ndata:  b\n\ndata\n\n") == [SseEvent(b"a"), SseEvent(b" b"), SseEvent(b"")]


def test_the_last_event_needs_no_blank_line() -> None:
    assert events(b"data: a\n\ndata: [DONE]") == [SseEvent(b"a"), SseEvent(b"[DONE]")]


def test_an_event_without_data_is_none_and_its_name_is_forgotten() -> None:
    assert events(b"event: empty\n\ndata: x\n\n") == [SseEvent(b"x")]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert events(b"\xef\xbb\xbfdata: x\n\n\xef\xbb\xbfdata: y\n\n") == [SseEvent(b"x")]


def test_data_may_be_any_bytes() -> None:
    assert events(b"data: \xff\xfe\n\n") == [SseEvent(b"\xff\xfe")]


LINES = st.sampled_from(
    [b"data: a", b"data:", b"event: e", b": c", b"", b"", b"\xef\xbb\xbf", b"data: \xc3\xa9"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS).map(b"".join)).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 200)))
def test_any_chunking_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert b"".join(chunks) == stream
    assert list(read_events(chunks)) == events(stream)
    assert list(read_events(stream[i : i + 1] for i in range(len(stream)))) == events(stream)
