"""Chat bodies as texts, for hypothesis: what OpenAI defines, intents good and broken, and much besides."""

import json

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from gateway.json_texts import (
    Member,
    Texts,
    an_object,
    anything,
    arrays,
    booleans,
    names,
    numbers,
    one_of,
    seldom,
    shuffled,
    strings,
    usually,
    values,
)

MODEL = "instrumented"


def some_of(known: dict[str, Texts], most: int) -> SearchStrategy[list[Member]]:
    """Some of the members, in any order."""
    picked = st.lists(st.sampled_from(sorted(known)), max_size=most, unique=True)
    return st.composite(lambda draw: [(name, draw(known[name])) for name in draw(picked)])()


retentions = one_of(
    '{"mode":"allow"}', '{"mode":"allow","max_age":60}', '{"mode":"forbid"}', '{"mode":"allow","max_age":0}'
)
reuses = one_of('"none"', '"exact"', '"approximate"')
shares = one_of('"request"', '"session"', '"principal"', '"tenant"', '"public"')
namespaces = one_of('"n"', '"tools:v7"', '"caf\\u00e9:v1"', '"🙂"', '"\\u0000"')
hints = one_of('{"reuse_within":300}', '{"x":[1e2]}', "{}", '{"reuse_within":-1}')
versions = one_of("1", "1", "1.0")


@st.composite
def intents(draw: DrawFn) -> str:
    constraints = [("retention", draw(retentions)), ("reuse", draw(reuses)), ("share_max", draw(shares))]
    if draw(booleans):
        constraints.append(("namespace", draw(namespaces)))
    members = [("version", draw(versions)), ("constraints", an_object(draw, constraints))]
    if draw(seldom(4)):
        members.append(("hints", draw(hints)))
    if draw(seldom(40)):
        at = draw(seldom(2))
        members[at] = (members[at][0], draw(anything))
    if draw(seldom(40)):
        members.append((draw(names), draw(values)))
    return an_object(draw, members)


an_intent = intents()
partition_names = some_of(
    {
        name: st.one_of(one_of('"mine"', "null", '"@/"'), values)
        for name in ("cache_salt", "tenant", "principal", "session", "group")
    },
    3,
)


def beside(draw: DrawFn, *, misplaced: bool = False) -> list[Member]:
    """Members that may stand anywhere: unknown ones, ones that name a partition, seldom an intent."""
    members = draw(partition_names) if draw(seldom(5)) else []
    if draw(seldom(5)):
        members = [*members, (draw(names), usually(draw, values))]
    if misplaced and draw(seldom(100)):
        members = [*members, ("cache_intent", draw(an_intent))]
    return members


def fragment(draw: DrawFn, members: list[Member]) -> str:
    """Spell a fragment, with or without an intent."""
    members = members + beside(draw)
    if draw(booleans):
        members.append(("cache_intent", usually(draw, an_intent)))
    return an_object(draw, shuffled(draw, members))


kinds = st.sampled_from(
    (
        ("text", '"hi"'),
        ("image_url", '{"url":"data:image/png;base64,AAAA","detail":"low"}'),
        ("input_audio", '{"data":"AAAA","format":"wav"}'),
        ("file", '{"file_id":"f","cache_intent_like":1.10}'),
        ("refusal", '"no"'),
    )
)


@st.composite
def parts(draw: DrawFn) -> str:
    kind, value = draw(kinds)
    members = [("type", json.dumps(kind)), (kind, value if draw(booleans) else usually(draw, strings))]
    if draw(seldom(6)):
        members.append(("uuid", draw(strings)))
    return an_object(draw, members + beside(draw, misplaced=True))


arguments = one_of('"{}"', '"{\\"cache_intent\\": {}}"', '"{\\"a\\": 1.10}"', '{"cache_intent":1e2}')


@st.composite
def tool_calls(draw: DrawFn) -> str:
    function = f'{{"name":"f","arguments":{draw(arguments)}}}'
    call = [("id", '"c"'), ("type", '"function"'), ("function", function)]
    return an_object(draw, call + beside(draw, misplaced=True))


roles = one_of('"user"', '"user"', '"system"', '"developer"', '"assistant"', '"tool"')
contents = st.one_of(strings, strings, st.lists(parts(), max_size=3).map(arrays), one_of("null"))
message_members = some_of(
    {
        "name": strings,
        "refusal": strings,
        "tool_call_id": strings,
        "tool_calls": st.lists(tool_calls(), max_size=2).map(arrays),
        "function_call": one_of('{"name":"f","arguments":"{\\"cache_intent\\":1}"}', "null"),
        "audio": one_of('{"id":"a"}', "null"),
    },
    3,
)


@st.composite
def messages(draw: DrawFn) -> str:
    members = [("role", usually(draw, roles)), ("content", usually(draw, contents))]
    if draw(seldom(4)):
        members += draw(message_members)
    return fragment(draw, members)


schemas = st.one_of(
    one_of('{"properties":{"cache_intent":{"maximum":1e300},"cache_salt":{"const":9007199254740993}}}'),
    values,
)
CUSTOM = '{"name":"c","format":{"type":"text","cache_intent":1}}'


@st.composite
def tools(draw: DrawFn) -> str:
    if draw(seldom(6)):
        return fragment(draw, [("type", '"custom"'), ("custom", CUSTOM)])
    function = [
        ("name", '"f"'),
        ("description", draw(strings)),
        ("parameters", draw(schemas)),
        ("strict", "true"),
    ]
    described = an_object(draw, function + beside(draw, misplaced=True))
    return fragment(draw, [("type", '"function"'), ("function", described)])


openai_members = some_of(
    {
        "temperature": one_of("0", "1.10", "2e0", "null"),
        "top_p": one_of("0.1000000000000000055511151231257827", "1"),
        "n": one_of("1", "1", "2", "null", "null", "1.0", "9"),
        "stop": one_of('"x"', '["\\u0000","🙂"]', "null"),
        "max_tokens": one_of("1", "null"),
        "max_completion_tokens": one_of("100", "1e2"),
        "presence_penalty": one_of("-2.0", "0.5e0"),
        "frequency_penalty": one_of("-0.0", "2"),
        "logit_bias": one_of('{"50256":-1e2,"1":1.50}', "{}"),
        "logprobs": one_of("true", "false"),
        "top_logprobs": one_of("0", "20"),
        "seed": numbers,
        "tool_choice": one_of(
            '"none"', '"auto"', '"required"', '{"type":"function","function":{"name":"f"}}'
        ),
        "parallel_tool_calls": one_of("true", "false"),
        "response_format": one_of(
            '{"type":"json_object"}',
            '{"type":"json_schema","json_schema":{"name":"s","schema":{"properties":{"cache_intent":{}}}}}',
        ),
        "functions": one_of('[{"name":"g","parameters":{"cache_intent":1}}]'),
        "function_call": one_of('"auto"', '{"name":"g"}'),
        "service_tier": one_of('"auto"', '"flex"'),
        "store": one_of("true", "false"),
        "modalities": one_of('["text"]', '["text","audio"]'),
        "audio": one_of('{"voice":"alloy","format":"wav"}'),
        "prediction": one_of('{"type":"content","content":[{"type":"text","text":"1.10"}]}'),
        "reasoning_effort": one_of('"low"', "null"),
        "verbosity": one_of('"low"'),
        "web_search_options": one_of('{"user_location":{"type":"approximate"}}'),
        "user": strings,
        "metadata": one_of('{"cache_intent":"content","tenant":"globex"}', "{}"),
        "safety_identifier": strings,
        "prompt_cache_key": strings,
    },
    5,
)
server_members = some_of(
    {
        **dict.fromkeys(("tenant_id", "session_id", "user_id", "organization", "project_id"), values),
        **dict.fromkeys(("cache_partition", "cache_namespace", "request_id", "prompt_cache_options"), values),
        **dict.fromkeys(("prompt_token_ids", "input_ids", "rid", "extra_key", "session_params"), values),
        "kv_transfer_params": one_of('{"do_remote_prefill":true}', "null"),
        "vllm_xargs": one_of('{"a":1.10}'),
        "top_k": numbers,
        "min_p": numbers,
        "ignore_eos": one_of("true"),
        "documents": one_of('[{"text":"1.10"}]'),
        "chat_template_kwargs": one_of('{"enable_thinking":false}'),
    },
    3,
)
streams = one_of("true", "true", "false", "null")
stream_options = one_of(
    '{"include_usage":true}', '{"include_usage":false,"x":1.10}', "null", "{}", '{"x":[1e2]}'
)
some_messages = st.lists(messages(), min_size=1, max_size=3).map(arrays)
some_tools = st.lists(tools(), max_size=2).map(arrays)


@st.composite
def chat_texts(draw: DrawFn, model: str = MODEL) -> str:
    """A chat body, good more often than not."""
    members = [
        ("model", usually(draw, one_of(json.dumps(model)))),
        ("messages", usually(draw, some_messages)),
        *draw(openai_members),
        *beside(draw, misplaced=True),
    ]
    if draw(seldom(3)):
        members.append(("tools", usually(draw, some_tools)))
    if draw(seldom(3)):
        members += draw(server_members)
    if draw(booleans):
        members.append(("stream", usually(draw, streams)))
        if draw(booleans):
            members.append(("stream_options", usually(draw, stream_options)))
    return an_object(draw, shuffled(draw, members))
