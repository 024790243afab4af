"""Conforming implementations that differ from ours in what they say."""

import json
from typing import Any

from cctest.contract.vocabulary import Outcome
from reference_gateway.completion import DONE
from reference_gateway.plan import Plan
from reference_gateway.refusal import RefusalError

from . import edits, seams
from .model import Backend, conforming


@conforming(backends=Backend)
def reports_everything_as_unobserved() -> None:
    """It can't tell what its engine reused or retained, and says so; usage counts are there."""
    edits.exact_reuse_only()  # approximate reuse has to be reported (APX-4)
    edits.edit_entries(_unobserved)


def _unobserved(entry: edits.Entry) -> edits.Entry:
    looked = entry["outcome"] not in ("bypass",)
    retention = "unobserved" if entry.get("retention") in ("retained", "declined") else entry.get("retention")
    return {**entry, "outcome": "unobserved" if looked else "bypass", "retention": retention}


@conforming(reuses=False)
def shows_nothing() -> None:
    """It returns neither a status nor how many tokens were cached."""
    edits.exact_reuse_only()
    seams.CACHE_STATUS.wrap(lambda _: lambda plan, served, reuse_within_max: None)
    edits.uncounted()
    edits.edit_capabilities(status=False)


@conforming(reuses=False)
def tells_nothing() -> None:
    """It says unobserved of everything, null where the number of cached tokens would be, and lists no status."""
    edits.edit_capabilities(status=False)
    edits.edit_entries(_unobserved)
    edits.uncounted()


@conforming(readings=("READ-34",), backends=Backend)
def omits_the_status() -> None:
    """It returns no status."""
    edits.exact_reuse_only()
    seams.CACHE_STATUS.wrap(lambda _: lambda plan, served, reuse_within_max: None)


@conforming()
def omits_usage_details() -> None:
    """It doesn't tell how many tokens were cached."""
    edits.uncounted()


@conforming(readings=("READ-30",))
def any_reuse_is_a_hit() -> None:
    """Its blocks are of one token, and a fragment is a hit as soon as its role's marker was there."""
    _hit_if_any()
    seams.EMBEDDED.wrap(
        lambda original: (
            lambda self, **given: original(self, **{**given, "block_size": 1, "capacity_blocks": 1_000_000})
        )
    )


@conforming(readings=("READ-30",))
def template_is_a_hit() -> None:
    """Its template has a hundred words in front of every text, and calls the first fragment a hit for them."""
    _hit_if_any()
    _with_lead_in()


@conforming(readings=("READ-30",))
def template_is_a_hit_and_nothing_is_counted() -> None:
    """Its template's own words make a hit, too, and no count tells that it was no more than these."""
    _hit_if_any()
    _with_lead_in()
    edits.uncounted()


def _hit_if_any() -> None:
    edits.exact_reuse_only()  # what is approximate behind some exact state has to be called so (APX-4)
    seams.IS_HIT.wrap(lambda _: lambda self, read, span: read > span[0])


def _with_lead_in() -> None:
    lead_in = " ".join(f"rule {number}" for number in range(50)) + " "

    def make(original: Any) -> Any:
        def rendered(plan: Plan) -> list[str]:
            first, *rest = original(plan)
            return [lead_in + first, *rest]

        return rendered

    seams.RENDER_ALL.wrap(make)


@conforming()
def bare_entries() -> None:
    """Its entries have the two members that are required, and the id."""
    edits.edit_entries(
        lambda entry: {
            name: value
            for name, value in entry.items()
            if name in ("id", "outcome", "constraint_result", "hints")
        }
    )


@conforming(readings=("READ-1",))
def entries_for_own_intents_only() -> None:
    """It reports on the fragments that carry an intent."""

    def own(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        governed = [planned for planned in plan.fragments if planned.governed]
        return [
            entry
            for entry, planned in zip(entries, governed, strict=True)
            if planned.fragment.intent is not None
        ]

    edits.edit_status(own)


@conforming(readings=("READ-1", "READ-9"))
def an_entry_for_every_fragment() -> None:
    """It reports on every fragment, on those before the first intent as not shared and not retained."""
    leading = {
        "outcome": "bypass",
        "effective_share": "request",
        "retention": "declined",
        "constraint_result": "satisfied",
    }

    def every(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        return [dict(leading) for _ in range(len(plan.fragments) - len(entries))] + entries

    edits.edit_status(every)


@conforming(readings=("READ-17", "READ-35", "READ-37"))
def other_words_for_nothing_kept() -> None:
    """It says declined for a bound of zero, and miss and forbidden for what is shared with nobody."""

    def other(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        governed = [planned for planned in plan.fragments if planned.governed]
        return [_other(entry, planned) for entry, planned in zip(entries, governed, strict=True)]

    edits.edit_status(other)


def _other(entry: edits.Entry, planned: Any) -> edits.Entry:
    policy = planned.policy
    if policy.retention.max_age == 0:
        return {**entry, "retention": "declined"}
    if policy.share_max == "request" and policy.reuse != "none" and policy.retention.mode == "allow":
        return {**entry, "outcome": str(Outcome.MISS), "retention": "forbidden"}
    return entry


@conforming(readings=("READ-20", "READ-21"))
def hints_on_inheriting_entries() -> None:
    """It reports a hint on the entries of the fragments that follow its own, too."""

    def spread(entries: list[edits.Entry], _: Plan) -> list[edits.Entry]:
        last: Any = None
        filled = []
        for entry in entries:
            last = entry.get("hints", last)
            filled.append({**entry, "hints": last} if last else entry)
        return filled

    edits.edit_status(spread)


@conforming(readings=("READ-20",))
def advertises_no_hints() -> None:
    """It knows no hints, and neither advertises nor reports any."""
    edits.edit_capabilities(hints={})


@conforming()
def extra_response_members() -> None:
    """Its responses and their usage carry members of its own."""
    seams.PLAIN.wrap(
        lambda original: (
            lambda self: {**original(self), "system_fingerprint": "fp_1", "x_gateway": {"node": 7}}
        )
    )

    def make(original: Any) -> Any:
        def usage(self: Any) -> Any:
            found = original(self)
            details = {**found["prompt_tokens_details"], "audio_tokens": 0}
            return {**found, "prompt_tokens_details": details, "cost": 0.25}

        return usage

    seams.USAGE.wrap(make)


@conforming(readings=("READ-10",))
def status_in_the_first_chunk() -> None:
    """In a stream the status rides in the first chunk."""
    _events(lambda chunks, status: [{**chunks[0], "cache_status": status}, *chunks[1:]])


@conforming(readings=("READ-10",))
def status_in_an_event_of_its_own() -> None:
    """In a stream the status comes in an event of its own before the end."""
    _events(lambda chunks, status: [*chunks, {"object": "cache.status", "cache_status": status}])


def _events(place: Any) -> None:
    def make(_: Any) -> Any:
        def events(self: Any, *, include_usage: bool) -> Any:
            chunks = list(self._chunks(include_usage=include_usage))
            for chunk in chunks if self.status is None else place(chunks, self.status):
                yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
            yield DONE

        return events

    seams.EVENTS.wrap(make)


@conforming()
def no_capabilities() -> None:
    """It doesn't expose what it can do."""

    def make(_: Any) -> Any:
        async def capabilities(self: Any, _: Any) -> Any:
            raise RefusalError(404, "not_found", "there is nothing here")

        return capabilities

    seams.CAPABILITIES.wrap(make)


@conforming(readings=("READ-13",))
def answers_403_without_a_credential() -> None:
    """It turns callers away whom it doesn't know with 403, from the capabilities too."""
    from starlette.responses import JSONResponse

    def forbidding(original: Any) -> Any:
        async def refused(_: Any, error: Any) -> Any:
            return JSONResponse(error.body(), 403) if error.status == 401 else await original(_, error)

        return refused

    def guarded(original: Any) -> Any:
        async def capabilities(self: Any, _: Any) -> Any:
            self._credentials.identify(_.headers.getlist("authorization"))
            return await original(self, _)

        return capabilities

    seams.REFUSED.wrap(forbidding)
    seams.CAPABILITIES.wrap(guarded)
