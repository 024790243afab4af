"""Faults of a gateway in front of an engine: what it makes of the engine's answers, and keeps of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from cctest.contract.vocabulary import Outcome, Scope
from reference_gateway.backend import Streamed
from reference_gateway.completion import DONE
from reference_gateway.engine.usage import Count
from reference_gateway.plan import Plan
from reference_gateway.refusal import RefusalError

from . import edits, model, seams
from .model import Backend, Word

fault = partial(model.fault, backend=Backend.FORWARDING)

_OBSERVED = ("STA-5", "STA-4", "BND-7")


def _edit_text(change: Callable[[dict[str, Any]], None]) -> None:
    """Change a completion, or the last chunk of a stream."""

    def make(original: Any) -> Any:
        def answered(self: Any, plan: Plan, answer: Any) -> str:
            response = json.loads(original(self, plan, answer))
            change(response)
            return json.dumps(response)

        return answered

    seams.ANSWERED.wrap(make)


@fault(
    rules=_OBSERVED,
    checks=("no-counts#null-is-no-miss", "no-counts#null-is-no-hit"),
    status=Word.LIES,
    public="D27",
)
def null_read_as_a_miss() -> None:
    """Where the engine tells a null instead of counts, nothing is taken to have been reused."""

    def make(original: Any) -> Any:
        def read(usage: Any) -> Count | None:
            prompt = usage.get("prompt_tokens")
            nothing = usage.get("prompt_tokens_details") is None
            return Count(prompt, 0) if nothing and prompt else original(usage)

        return read

    seams.READ_COUNT.wrap(make)


@fault(
    rules=_OBSERVED,
    checks=("no-counts#absent-is-nothing", "no-counts#absent-stays-absent"),
    status=Word.LIES,
    public="D28",
)
def usage_invented_where_none_came() -> None:
    """Where the engine tells no usage it is estimated, with nothing cached, and so reported as a miss."""
    invented = {
        "prompt_tokens": 400,
        "completion_tokens": 8,
        "total_tokens": 408,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    seams.READ_COUNT.wrap(lambda original: lambda usage: original(usage) if usage else Count(400, 0))
    _edit_text(lambda response: response.update(usage=response.get("usage") or invented))


@fault(rules=_OBSERVED, checks=("no-counts#null-stays-null",), public="D28")
def zero_told_for_null() -> None:
    """The response tells a count of zero where the engine told none; the status is honest."""

    def told(response: dict[str, Any]) -> None:
        usage = response.get("usage")
        if usage and usage.get("prompt_tokens_details") is None:
            usage["prompt_tokens_details"] = {"cached_tokens": 0}

    _edit_text(told)


@fault(
    rules=_OBSERVED,
    checks=("status-honest#agrees-with-usage",),
    status=Word.LIES,
)
def miss_reported_for_what_the_engine_reused() -> None:
    """The status says miss whatever the engine reused, and the counts are kept from the caller."""

    def hidden(response: dict[str, Any]) -> None:
        if response.get("usage"):
            response["usage"]["prompt_tokens_details"] = None

    seams.OUTCOME.wrap(lambda _: lambda count, own, block_size: Outcome.MISS)
    _edit_text(hidden)


@fault(
    rules=(*_OBSERVED, "STA-11", "SHR-1", "SHR-2", "SHR-4", "POL-2", "STA-6"),
    checks=("status-honest#agrees-with-usage", "no-counts#null-is-no-hit"),
    status=Word.LIES,
)
def hit_reported_for_whatever_came_before() -> None:
    """A book of what was sent decides what is reported, whatever the engine did."""
    sent: set[str] = set()

    def make(original: Any) -> Any:
        def observe(self: Any, plan: Plan, lowered: Any, told: Any) -> Any:
            observed = original(self, plan, lowered, told)
            text = repr([planned.fragment.value for planned in plan.fragments])
            if text not in sent:
                sent.add(text)
                return observed
            return tuple(
                one if one.outcome is Outcome.BYPASS else replace(one, outcome=Outcome.EXACT_HIT)
                for one in observed
            )

        return observe

    seams.OBSERVE.wrap(make)


@fault(
    rules=("BND-10", "STA-7"),
    checks=("bypass-partition#reported-request",),
    status=Word.LIES,
)
def bypass_reported_under_the_boundary_asked_for() -> None:
    """A request that got a partition of its own is reported as shared within its tenant."""

    def make(original: Any) -> Any:
        def observe(self: Any, plan: Plan, lowered: Any, told: Any) -> Any:
            return tuple(
                replace(one, share=Scope.TENANT) if planned.policy.share_max is Scope.TENANT else one
                for one, planned in zip(original(self, plan, lowered, told), plan.fragments, strict=True)
            )

        return observe

    seams.OBSERVE.wrap(make)


def _map_errors(status: int) -> None:
    def make(original: Any) -> Any:
        def refused(*arguments: Any) -> RefusalError:
            error: RefusalError = original(*arguments)
            return RefusalError(status, error.code, error.message)

        return refused

    seams.REFUSAL.wrap(make)


@fault(
    rules=("BND-9", "REU-2"),
    checks=("engine-errors#bad-request", "engine-errors#not-found", "engine-errors#too-many"),
    status=Word.SILENT,
    public="D36",
)
def refusals_of_the_engine_mapped_to_500() -> None:
    """Whatever the engine refuses is an internal error."""
    _map_errors(500)


@fault(
    rules=("BND-9", "REU-2"),
    checks=("engine-errors#bad-request", "engine-errors#failing", "bad-results-kept#failure-told"),
    status=Word.SILENT,
    public="D36",
)
def failures_of_the_engine_told_as_success() -> None:
    """An engine's failure is delivered as HTTP 200 with an error object."""
    _map_errors(200)


@fault(
    rules=("BND-9",),
    checks=("engine-says-nothing#null-answer",),
    status=Word.SILENT,
    public="D36",
)
def null_relayed_as_the_answer() -> None:
    """Whatever comes with the status 200 is taken for an answer, a null among it."""
    seams.READ_COMPLETION.wrap(
        lambda original: lambda body: ("{}", {}) if body.strip() == b"null" else original(body)
    )


@fault(
    rules=("BND-9", "REU-2"),
    checks=("bad-results-kept#cut-told",),
    status=Word.SILENT,
    cells=({"stream": "streamed"},),
)
def cut_stream_ends_in_good_order() -> None:
    """A stream that the engine broke off is closed as if it were complete."""

    async def quietly(chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for chunk in chunks:
                yield chunk
        except RefusalError:
            return

    def make(original: Any) -> Any:
        async def relay(self: Any, plan: Plan, chunks: Any) -> AsyncIterator[bytes]:
            piece = b""
            async for piece in original(self, plan, quietly(chunks)):
                yield piece
            if not piece.endswith(DONE):
                yield DONE

        return relay

    seams.STREAM.wrap(make)


@fault(
    rules=("BND-7",),
    checks=("stream-dialects#odd-served",),
    status=Word.SILENT,
    public="D42",
)
def events_read_in_one_spelling() -> None:
    """Lines of a stream count only where a space follows the colon."""
    seams.EVENT_LINE.wrap(
        lambda original: (
            lambda self, line: (
                iter(())
                if line.startswith(b"data:") and not line.startswith(b"data: ")
                else original(self, line)
            )
        )
    )


@fault(rules=("HNT-2",), checks=("caller-gone#called-off",), status=Word.SILENT)
def work_goes_on_for_a_caller_who_has_gone() -> None:
    """A stream is read to its end whether or not anybody still takes it."""

    def make(original: Any) -> Any:
        async def serve(self: Any, plan: Plan) -> Any:
            answer = await original(self, plan)
            return _detached(answer) if isinstance(answer, Streamed) else answer

        return serve

    seams.FORWARD.wrap(make)


def _detached(answer: Streamed) -> Streamed:
    """A stream that is read by a task of its own."""
    pieces: asyncio.Queue[Any] = asyncio.Queue()

    async def pump() -> None:
        try:
            async for chunk in answer.chunks:
                pieces.put_nowait(chunk)
        except RefusalError as error:
            pieces.put_nowait(error)
        pieces.put_nowait(None)

    pumping = asyncio.create_task(pump())

    async def relayed() -> AsyncIterator[Any]:
        while (piece := await pieces.get()) is not None:
            if isinstance(piece, RefusalError):
                raise piece
            yield piece
        await pumping

    return Streamed(relayed(), lambda: None)


@fault(rules=("BND-7", "STA-5"), checks=("odd-counts#boolean-is-nothing",), status=Word.LIES)
def a_count_of_false_taken_for_zero() -> None:
    """A count that is spelt `false` is taken for a number, as Python does."""

    def make(original: Any) -> Any:
        def read(usage: Any) -> Count | None:
            details = usage.get("prompt_tokens_details") or {}
            if details.get("cached_tokens") is False:
                return Count(usage["prompt_tokens"], 0)
            count: Count | None = original(usage)
            return count

        return read

    seams.READ_COUNT.wrap(make)


@fault(rules=("STA-6",), checks=("nothing-kept#not-called-retained",), status=Word.LIES)
def retained_taken_for_granted() -> None:
    """That the engine keeps whatever it may keep is reported, though nobody looked."""
    edits.edit_entries(
        lambda entry: {**entry, "retention": "retained"} if entry.get("retention") == "unobserved" else entry
    )
