"""Faults of reuse: what a request reads although it mustn't, or takes for its own input although it isn't."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from cctest.contract.intent import Constraints
from cctest.contract.vocabulary import Reuse, Scope
from reference_gateway.plan import Plan
from reference_gateway.request.intake import Kind

from . import edits, seams
from .model import Word, fault


def _exact(stated: Constraints) -> Constraints:
    return replace(stated, reuse=Reuse.EXACT) if stated.reuse is Reuse.NONE else stated


def _render(change: Callable[[str], str]) -> None:
    """Let the engine compute and identify another text than the one it was given."""
    seams.RENDER.wrap(lambda original: lambda fragment: change(original(fragment)))


@fault(
    rules=("REU-1", "FBK-1", "CMP-4", "CMP-1", "STA-4"),
    checks=("reuse-none#fresh-computes", "none-beats-exact#fresh-part-computed"),
)
def none_served_as_exact() -> None:
    """A request that asks for fresh computation is served from the cache."""
    edits.edit_constraints(_exact)


@fault(
    rules=("REU-1", "FBK-1", "CMP-4", "CMP-1", "STA-4"),
    checks=("reuse-none#fresh-computes",),
    cells=({"stream": "streamed"},),
)
def none_served_as_exact_when_streamed() -> None:
    """A streamed request that asks for fresh computation is served from the cache."""
    edits.edit_constraints(_exact, edits.streamed)


@fault(
    rules=("REU-1", "FBK-1", "CMP-4", "CMP-1", "STA-4", "STA-5", "BND-7"),
    checks=("reuse-none#fresh-computes", "status-honest#agrees-with-usage"),
    status=Word.LIES,
)
def none_served_as_exact_and_denied() -> None:
    """A request that asks for fresh computation is served from the cache and told that it wasn't."""
    edits.edit_constraints(_exact)
    edits.edit_entries(
        lambda entry: {**entry, "outcome": "bypass"} if entry["outcome"] == "exact_hit" else entry
    )


@fault(rules=("CMP-4", "CMP-1", "REU-1"), checks=("none-beats-exact#fresh-part-computed",))
def last_reuse_wins() -> None:
    """Fresh computation for one fragment is given up where a later fragment permits reuse."""

    def last(stated: Sequence[Constraints]) -> Callable[[Constraints], Constraints]:
        return lambda one: replace(one, reuse=stated[-1].reuse)

    edits.edit_all_constraints(last)


@fault(
    rules=("STA-4",),
    checks=("reuse-none#reported-bypass",),
    status=Word.LIES,
    public="D29",
)
def miss_reported_without_a_lookup() -> None:
    """A request that never looked is told that it missed."""
    edits.edit_status(
        lambda entries, plan: [
            {**entry, "outcome": "miss"} if planned.policy.reuse is Reuse.NONE else entry
            for entry, planned in zip(
                entries, (planned for planned in plan.fragments if planned.governed), strict=True
            )
        ]
    )


@fault(
    rules=("BND-10", "REU-1", "FBK-1", "INT-2"),
    checks=("reuse-none#repeat-computes",),
    status=Word.LIES,
    public="D04",
)
def bypass_uses_the_shared_partition() -> None:
    """Fresh computation is asked for by leaving the partition out, which selects the one shared by all."""

    def shared(stated: Constraints) -> Constraints:
        if stated.reuse is not Reuse.NONE:
            return stated
        return replace(stated, reuse=Reuse.EXACT, share_max=Scope.PUBLIC)

    edits.edit_constraints(shared)
    edits.default_scope(Scope.PUBLIC)
    edits.edit_entries(
        lambda entry: (
            {**entry, "outcome": "bypass", "effective_share": "request", "retention": "declined"}
            if entry.get("effective_share") == "public"
            else entry
        )
    )


@fault(rules=("REU-2",), checks=("input-spelling#case-counts",), status=Word.LIES, public="D16")
def input_lower_cased() -> None:
    """To raise the hit rate the input is lower-cased before it is looked up."""
    _render(str.lower)


@fault(rules=("REU-2",), checks=("input-spelling#number-counts",), status=Word.LIES, public="D21")
def numbers_left_out_of_the_key() -> None:
    """Input that differs in its numbers only is the same input to the cache."""
    _render(lambda text: text.translate(str.maketrans("0123456789", "0" * 10)))


@fault(
    rules=("REU-2", "CMP-1"),
    checks=("other-prefix#dependent-part-computed",),
    status=Word.LIES,
    cells=({"place": "tools"},),
    public="D18",
)
def first_tool_left_out_of_the_key() -> None:
    """Of two or more tools the first counts in the key by its length alone."""

    def blurred(texts: Sequence[str]) -> list[str]:
        # What is put in its place is another in each case of a probe, so that cases don't meet.
        stuff = sha256(texts[-1].encode()).hexdigest() * (len(texts[0]) // 64 + 1)
        return [stuff[: len(texts[0])], *texts[1:]]

    def make(original: Any) -> Any:
        def compute(self: Any, plan: Plan, texts: Sequence[str]) -> Any:
            tools = sum(planned.fragment.kind is Kind.TOOL for planned in plan.fragments)
            return original(self, plan, blurred(texts) if tools > 1 else texts)

        return compute

    seams.COMPUTE.wrap(make)


@fault(
    rules=("REU-2", "SHR-2", "RET-3"),
    checks=("replayed-answers#foreigner-computed", "replayed-answers#repeat-computed"),
    status=Word.LIES,
    cells=({"stream": "plain"},),
    public="D13",
)
def answers_replayed_to_anybody() -> None:
    """Whole answers are kept by the body that was sent, and replayed to whoever sends it again."""
    kept: dict[bytes, Any] = {}

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            body = await request.body()
            if body not in kept:
                response = await original(self, request)
                if response.status_code != 200 or not hasattr(response, "body"):
                    return response
                kept[body] = response
            return kept[body]

        return chat

    seams.CHAT.wrap(make)
