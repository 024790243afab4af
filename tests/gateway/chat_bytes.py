"""Chat bodies with bytes of them changed, for hypothesis."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gateway.chat_texts import MODEL
from gateway.json_texts import seldom

SEEDS = (
    b'{"model":"instrumented","messages":[{"role":"user","content":"hi"}]}',
    rb'{"model": "instrumented", "stream": true, "stream_options": {"include_usage": true}, "cache_salt": "mine",'
    rb' "messages": [{"role": "user", "content": [{"type": "text", "text": "\u0068i", "uuid": "u"}], "cache_intent":'
    rb' {"version": 1, "constraints": {"retention": {"mode": "allow", "max_age": 60}, "reuse": "exact", "share_max":'
    rb' "tenant", "namespace": "n"}}}], "seed": 12345678901234567890, "temperature": 1.10}',
    rb'{"model":"instrumented","tools":[{"type":"function","function":{"name":"f","parameters":{"cache_intent":1e2}}}],'
    rb'"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":'
    rb'"f","arguments":"{\"cache_salt\":1}"}}],"tenant":"x"},{"role":"tool","tool_call_id":"c","content":"'
    + "é🙂".encode()
    + b'"}],"user":"u"}',
)
PIECES = (
    *(
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\u",
        b"\\ud800",
        b" ",
        b"\n",
        b"1",
        b"-",
        b"e",
        b".",
    ),
    *(b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\xe2\x80\xa8", b"\xc0\x80", b"null"),
    *(b'"cache_intent":', b'"cache_salt":"x",'),
)

seeds = st.sampled_from(SEEDS)
counts = st.integers(1, 4)
places = st.integers(0, 2**16)
lengths = st.integers(0, 8)
pieces = st.one_of(st.binary(max_size=4), st.sampled_from(PIECES))
replaced = st.sampled_from((0, 1, 8))


@st.composite
def mutated(draw: DrawFn, model: str = MODEL) -> bytes:
    """A chat body with bytes of it changed, removed, doubled or put in."""
    body = bytearray(draw(seeds).replace(MODEL.encode(), model.encode()))
    for _ in range(draw(counts)):
        at, length = draw(places) % (len(body) + 1), draw(lengths)
        piece = bytes(body[at : at + length]) if draw(seldom(3)) else draw(pieces)
        body[at : at + draw(replaced)] = piece
    if draw(seldom(10)):
        del body[draw(places) % (len(body) + 1) :]
    return bytes(body)
