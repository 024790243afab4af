"""Every misbehaviour, as the client of the engine sees it."""

import json
import time
from typing import Any

import pytest

from cctest.instrument.client import Engine
from cctest.instrument.misbehaviour import RULE_LIMIT, MisbehaviourError, Rules, read_rules
from cctest.instrument.record import Ending
from cctest.problem import UsageProblem
from cctest.target.exchange import ExchangeError, ExchangeKind, Response
from instrument.talk import Json, ask, body, hang_up, nonce, recorded, send, shape, streaming, text

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])


def rule(own: str, do: Json, times: int | None = None) -> Json:
    return {"match": own, "times": times, "do": do}


def provoke(engine: Engine, do: Json, *, stream: bool) -> Response:
    """The response to a request that is answered in this way."""
    own = nonce()
    engine.misbehave([rule(own, do)])
    return send(engine.url, shape(own, stream=stream))


def chunks(response: Response) -> list[Json]:
    assert response.events is not None
    return [json.loads(event.data) for event in response.events if event.data != b"[DONE]"]


def broken(engine: Engine, do: Json, *, stream: bool) -> ExchangeKind:
    with pytest.raises(ExchangeError) as caught:
        provoke(engine, do, stream=stream)
    return caught.value.kind


@BOTH
@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422, 429, 500, 503])
def test_an_error_status_has_an_error_object(engine: Engine, code: int, stream: bool) -> None:
    response = provoke(engine, {"status": {"code": code}}, stream=stream)
    assert response.status == code
    assert json.loads(response.body)["error"]["code"] == code


def test_an_error_may_say_when_to_try_again(engine: Engine) -> None:
    response = provoke(engine, {"status": {"code": 429, "retry_after": 3}}, stream=False)
    assert response.headers["retry-after"] == "3"


@pytest.mark.parametrize(("kind", "length"), [("broken", 33), ("empty", 0)])
def test_an_error_body_may_be_no_json(engine: Engine, kind: str, length: int) -> None:
    response = provoke(engine, {"status": {"code": 500, "body": kind}}, stream=False)
    assert (response.status, len(response.body)) == (500, length)
    with pytest.raises(ValueError, match=r"."):
        json.loads(response.body)


def test_a_refused_request_computes_nothing(engine: Engine) -> None:
    own = nonce()
    engine.misbehave([rule(own, {"status": {"code": 500}}, 1)])
    assert ask(engine.url, body(text(own))).status == 500
    assert ask(engine.url, body(text(own))).cached_tokens == 0
    refused, served = recorded(engine, own, count=2)
    assert (refused.ending, refused.prompt_tokens, refused.canaries) == (Ending.REFUSED, None, ())
    assert served.ending is Ending.COMPLETED


@BOTH
def test_the_first_byte_can_be_late(engine: Engine, stream: bool) -> None:
    started = time.monotonic()
    assert provoke(engine, {"delay": {"first": 0.3}}, stream=stream).status == 200
    assert time.monotonic() - started >= 0.3


@BOTH
def test_a_request_can_wait_before_anything_is_looked_up(engine: Engine, stream: bool) -> None:
    own, queued = text(), nonce()
    engine.misbehave([rule(queued, {"delay": {"look_up": 0.3}})])
    assert send(engine.url, shape(f"{own} {queued}", stream=stream)).status == 200
    (waited,) = recorded(engine, queued)
    assert waited.looked_up is not None
    assert waited.looked_up - waited.arrived >= 0.3
    assert send(engine.url, shape(own, stream=stream)).status == 200
    at_once = recorded(engine, own, count=2)[1]
    assert at_once.cached_tokens


@BOTH
def test_nothing_is_looked_up_for_who_has_left_the_queue(engine: Engine, stream: bool) -> None:
    own = text()
    engine.misbehave([rule(own, {"delay": {"look_up": 5}})])
    hang_up(engine.url, shape(own, stream=stream), after=b"")
    (left,) = recorded(engine, own)
    assert (left.ending, left.looked_up, left.prompt_tokens) == (Ending.CLIENT_GONE, None, None)
    engine.behave(own)
    assert ask(engine.url, body(own)).cached_tokens == 0


@BOTH
def test_nothing_may_be_kept(engine: Engine, stream: bool) -> None:
    own, short = text(), nonce()
    engine.misbehave([rule(own, {"retain": False}, 1)])
    counts = [ask(engine.url, shape(own, stream=stream)).cached_tokens for _ in range(3)]
    assert [bool(count) for count in counts] == [False, False, True]
    assert [entry.retained for entry in recorded(engine, own, count=3)] == [False, True, True]
    engine.misbehave([rule(short, {"status": {"code": 500}})])
    ask(engine.url, body(short))
    assert recorded(engine, short)[0].retained is None


def test_what_was_kept_before_stays(engine: Engine) -> None:
    own, longer = text(), nonce()
    ask(engine.url, body(own))
    engine.misbehave([rule(longer, {"retain": False})])
    assert ask(engine.url, body(f"{own} {longer}")).cached_tokens
    assert recorded(engine, longer)[0].retained


def test_chunks_can_be_slow(engine: Engine) -> None:
    started = time.monotonic()
    count = len(chunks(provoke(engine, {"delay": {"between": 0.03}}, stream=True)))
    assert time.monotonic() - started >= 0.03 * count


def test_a_connection_can_break_in_an_answer(engine: Engine) -> None:
    for stream in (False, True):
        assert broken(engine, {"cut": {"after": 2}}, stream=stream) is ExchangeKind.BROKEN


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_stream_can_end_without_done(engine: Engine, after: int) -> None:
    response = provoke(engine, {"cut": {"after": after, "how": "end"}}, stream=True)
    assert len(response.events or ()) == after
    assert b"[DONE]" not in response.body


def test_a_stream_can_end_in_an_error(engine: Engine) -> None:
    response = provoke(engine, {"cut": {"after": 2, "how": "error"}}, stream=True)
    *_, last = chunks(response)
    assert last["error"]["code"] == 500
    assert (response.events or ())[-1].data == b"[DONE]"


def test_a_plain_answer_can_be_half_or_an_error(engine: Engine) -> None:
    half = provoke(engine, {"cut": {"after": 0, "how": "end"}}, stream=False)
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(half.body)
    error = provoke(engine, {"cut": {"after": 0, "how": "error"}}, stream=False)
    assert error.status == 200
    assert json.loads(error.body)["error"]["code"] == 500


@pytest.mark.parametrize("how", ["close", "end", "error"])
@BOTH
def test_an_answer_that_was_cut_is_recorded_as_such(engine: Engine, how: str, stream: bool) -> None:
    own = nonce()
    engine.misbehave([rule(own, {"cut": {"after": 2, "how": how}})])
    try:
        send(engine.url, shape(own, stream=stream))
    except ExchangeError:
        assert how == "close"
    (entry,) = recorded(engine, own)
    assert (entry.ending, entry.status, len(entry.canaries)) == (Ending.CUT, 200, 1)
    assert entry.misbehaviour == {"cut": {"after": 2, "how": how}}


def usages(response: Response) -> list[Any]:
    if response.events is None:
        return [json.loads(response.body).get("usage", "absent")]
    return [chunk["usage"] for chunk in chunks(response) if "usage" in chunk] or ["absent"]


@BOTH
def test_usage_can_be_wrong(engine: Engine, stream: bool) -> None:
    def usage(fault: str) -> Any:
        (told,) = usages(provoke(engine, {"usage": fault}, stream=stream))
        return told

    assert usage("absent") == "absent"
    assert usage("null_details")["prompt_tokens_details"] is None
    assert usage("string")["prompt_tokens_details"] == {"cached_tokens": "0"}
    assert usage("boolean")["prompt_tokens_details"] == {"cached_tokens": False}
    larger = usage("larger_than_prompt")
    assert larger["prompt_tokens_details"]["cached_tokens"] > larger["prompt_tokens"]


def test_usage_can_be_split_over_chunks(engine: Engine) -> None:
    told = usages(provoke(engine, {"usage": "split"}, stream=True))
    assert [list(part) for part in told] == [
        ["prompt_tokens"],
        ["completion_tokens"],
        ["prompt_tokens_details"],
    ]


def test_usage_can_be_in_every_chunk(engine: Engine) -> None:
    response = provoke(engine, {"usage": "every_chunk"}, stream=True)
    told = usages(response)
    assert len(told) == len(chunks(response))
    assert told[0]["completion_tokens"] == 0
    assert sorted(usage["completion_tokens"] for usage in told) == [
        usage["completion_tokens"] for usage in told
    ]


@pytest.mark.parametrize("fault", ["split", "every_chunk"])
def test_faults_of_streamed_usage_leave_a_plain_answer_alone(engine: Engine, fault: str) -> None:
    (usage,) = usages(provoke(engine, {"usage": fault}, stream=False))
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}


@BOTH
@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_the_reason_for_finishing_can_be_another(engine: Engine, reason: str, stream: bool) -> None:
    assert f'"{reason}"'.encode() in provoke(engine, {"finish_reason": reason}, stream=stream).body


@pytest.mark.parametrize(
    ("dialect", "sign"),
    [
        ("no_space", b'data:{"id"'),
        ("crlf", b"}\r\n\r\ndata: "),
        ("comments", b"\n: a comment"),
        ("multi_line", b"\ndata: }\n\n"),
        ("event_names", b"event: chat.completion.chunk\ndata: "),
        ("pings", b"event: ping\n"),
        ("empty_choices", b'"choices":[]'),
    ],
)
def test_a_stream_can_be_in_a_dialect(engine: Engine, dialect: str, sign: bytes) -> None:
    own = nonce()
    engine.misbehave([rule(own, {"sse": [dialect]})])
    response = send(engine.url, body(own, stream=True))
    assert sign in response.body
    (entry,) = recorded(engine, own)
    spoken = [
        chunk["choices"][0]["delta"].get("content", "") for chunk in chunks(response) if chunk.get("choices")
    ]
    assert "".join(spoken).endswith(f" canary={entry.canaries[0]}")


def test_dialects_go_together(engine: Engine) -> None:
    dialects = ["no_space", "crlf", "comments", "multi_line", "event_names", "empty_choices"]
    own = nonce()
    engine.misbehave([rule(own, {"sse": [*dialects]})])
    assert ask(engine.url, streaming(own)).ok


@BOTH
@pytest.mark.parametrize("answer", ["empty", "null"])
def test_an_answer_can_be_nothing(engine: Engine, answer: str, stream: bool) -> None:
    response = provoke(engine, {"answer": answer}, stream=stream)
    assert response.status == 200
    expected = {("empty", False): b"", ("empty", True): b"", ("null", False): b"null"}
    assert response.body == expected.get((answer, stream), b"data: null\n\ndata: [DONE]\n\n")


def test_only_requests_with_the_text_are_touched_and_only_so_often(engine: Engine) -> None:
    own = nonce()
    fail = {"status": {"code": 500}}
    engine.misbehave([rule(own, fail, 1), rule(own, {"status": {"code": 503}}, 1)])
    assert ask(engine.url, body(nonce())).status == 200
    assert [ask(engine.url, body(own)).status for _ in range(3)] == [500, 503, 200]


def test_rules_of_several_tests_stand_side_by_side(engine: Engine) -> None:
    one, other = nonce(), nonce()
    engine.misbehave([rule(one, {"status": {"code": 500}})])
    engine.misbehave([rule(other, {"status": {"code": 503}})])
    assert [ask(engine.url, body(own)).status for own in (one, other)] == [500, 503]
    engine.misbehave([rule(one, {"status": {"code": 429}})])
    assert [ask(engine.url, body(own)).status for own in (one, other)] == [429, 503]
    engine.behave(one)
    assert [ask(engine.url, body(own)).status for own in (one, other)] == [200, 503]


def test_a_text_is_found_however_it_is_spelt(engine: Engine) -> None:
    own = f'"{nonce()}" é'
    engine.misbehave([rule(own, {"status": {"code": 500}})])
    assert ask(engine.url, body(own)).status == 500
    engine.behave(own)
    assert ask(engine.url, body(own)).status == 200


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ({}, "an array"),
        ([1], "/0: "),
        ([{"do": {}}], "/0/match"),
        ([{"match": "x"}], "/0/do"),
        ([{"match": "x", "do": {}, "often": 1}], "/0/often"),
        ([{"match": "x", "do": {}, "times": 0}], "/0/times"),
        ([{"match": "x", "do": {"sleep": 1}}], "/0/do/sleep"),
        ([{"match": "x", "do": {"delay": {"first": -1}}}], "/0/do/delay/first"),
        ([{"match": "x", "do": {"delay": {"first": 1e9}}}], "/0/do/delay/first"),
        ([{"match": "x", "do": {"delay": {"look_up": -1}}}], "/0/do/delay/look_up"),
        ([{"match": "x", "do": {"retain": 0}}], "/0/do/retain"),
        ([{"match": "x", "do": {"status": {"code": 200}}}], "/0/do/status/code"),
        ([{"match": "x", "do": {"status": {"code": 500, "body": "odd"}}}], "/0/do/status/body"),
        ([{"match": "x", "do": {"cut": {"after": 1.5}}}], "/0/do/cut/after"),
        ([{"match": "x", "do": {"cut": {"after": 1, "how": "odd"}}}], "/0/do/cut/how"),
        ([{"match": "x", "do": {"usage": None}}], "/0/do/usage"),
        ([{"match": "x", "do": {"finish_reason": 1}}], "/0/do/finish_reason"),
        ([{"match": "x", "do": {"sse": "crlf"}}], "/0/do/sse"),
        ([{"match": "x", "do": {"sse": [[]]}}], "/0/do/sse"),
        ([{"match": "x", "do": {"answer": "odd"}}], "/0/do/answer"),
    ],
)
def test_rules_that_cannot_be_read_are_named(rules: Any, where: str) -> None:
    with pytest.raises(MisbehaviourError, match=where):
        read_rules(rules)


def test_the_client_is_told_what_is_wrong_with_its_rules(engine: Engine) -> None:
    with pytest.raises(UsageProblem, match="/0/do/sleep: unknown; known: answer, cut"):
        engine.misbehave([rule("x", {"sleep": 1})])


def test_there_is_a_bound_on_rules() -> None:
    rules = Rules()
    rules.put(read_rules([rule(str(number), {}) for number in range(RULE_LIMIT)]))
    with pytest.raises(MisbehaviourError, match="1000 are allowed"):
        rules.put(read_rules([rule("one more", {})]))
    rules.remove(None)
    assert rules.rules == []
