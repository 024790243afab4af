"""The prefix cache against a tiny model of it: a set of whole prefixes, each with its last use."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.source import JsonValue
from cctest.instrument.prefix_cache import PrefixCache
from cctest.instrument.regions import Region
from cctest.instrument.template import execution_identity, render, tokenize

Prefix = tuple[str | None, tuple[bytes, ...]]

requests = st.lists(
    st.tuples(
        st.lists(st.sampled_from([b"a", b"b", b"ab"]), max_size=12), st.sampled_from([None, "x", "salt:x"])
    ),
    max_size=25,
)


class Model:
    def __init__(self, block_size: int, capacity: int) -> None:
        self.block_size = block_size
        self.capacity = capacity
        self.uses: dict[Prefix, tuple[int, int]] = {}
        self.now = 0

    def serve(self, tokens: Sequence[bytes], salt: str | None) -> int:
        self.now += 1
        size = self.block_size
        prefixes = [(salt, tuple(tokens[: k * size])) for k in range(1, len(tokens) // size + 1)]
        known = [prefix in self.uses for prefix in prefixes] + [False]
        reused = min(known.index(False) * size, (len(tokens) - 1) // size * size)
        for depth, prefix in enumerate(prefixes):
            self.uses[prefix] = (self.now, -depth)
        while len(self.uses) > self.capacity:
            del self.uses[min(self.uses, key=self.uses.__getitem__)]
        return max(reused, 0)


@given(requests, st.integers(1, 3), st.integers(0, 8))
def test_the_cache_reuses_what_the_model_reuses(
    served: list[tuple[list[bytes], str | None]], block_size: int, capacity: int
) -> None:
    cache, model = PrefixCache(block_size, capacity), Model(block_size, capacity)
    for tokens, salt in served:
        assert cache.serve(tokens, () if salt is None else (Region(0, salt),)) == model.serve(tokens, salt)
        assert len(cache) <= capacity


@given(st.lists(st.binary(min_size=1, max_size=4), max_size=60), st.integers(1, 16))
def test_reuse_is_whole_blocks_and_leaves_a_token_to_compute(tokens: list[bytes], block_size: int) -> None:
    cache = PrefixCache(block_size, 1000)
    assert cache.serve(tokens) == 0
    assert cache.serve(tokens) == max(len(tokens) - 1, 0) // block_size * block_size


def test_how_bytes_are_cut_into_tokens_is_identity() -> None:
    cache = PrefixCache(2, 10)
    cache.serve([b"ab", b"c", b"d"])
    assert cache.serve([b"a", b"bc", b"d"]) == 0


def test_another_execution_identity_shares_nothing() -> None:
    cache = PrefixCache(1, 10)
    cache.serve([b"a", b"b"], identity=b"one")
    assert cache.serve([b"a", b"b"], identity=b"two") == 0
    assert cache.serve([b"a", b"b"], identity=b"one") == 1


@given(st.text(st.characters()))
def test_tokens_are_a_text_in_pieces_of_four_bytes(text: str) -> None:
    tokens = tokenize(text)
    assert b"".join(tokens) == text.encode("utf-8", "surrogatepass")
    assert all(len(token) == 4 for token in tokens[:-1])


def test_tools_are_rendered_in_order_and_before_the_messages() -> None:
    tools: list[JsonValue] = [
        {"type": "function", "function": {"name": name}} for name in ("second", "first")
    ]
    spelt = b"".join(render([*tools], [{"role": "user", "content": "hello"}]))
    assert spelt == (
        b'<|tool|>{"type":"function","function":{"name":"second"}}<|end|>'
        b'<|tool|>{"type":"function","function":{"name":"first"}}<|end|>'
        b'<|message|>{"role":"user","content":"hello"}<|end|><|answer|>'
    )


def test_what_no_template_reads_is_no_model_input() -> None:
    marked: JsonValue = {"role": "user", "content": "hello", "cache_intent": {}, "cache_salt": "x"}
    assert render([], [marked]) == render([], [{"role": "user", "content": "hello"}])


def test_what_a_tool_parameter_is_called_is_content() -> None:
    def tool(name: str) -> list[bytes]:
        function: JsonValue = {"name": "f", "parameters": {"properties": {name: {"type": "string"}}}}
        return render([{"type": "function", "function": function}], [])

    assert tool("cache_salt") != tool("other")


def test_body_members_that_change_the_rendering_are_execution_identity() -> None:
    plain = execution_identity("m", {})
    assert execution_identity("m", {"temperature": 0, "documents": None}) == plain
    assert execution_identity("m", {"documents": [{"text": "x"}]}) != plain
    assert execution_identity("n", {}) != plain
