"""Faults of `cache_status`: what is said about what was done."""

from typing import Any

from cctest.contract.vocabulary import Scope
from cctest.engine.cache import Reused
from reference_gateway.plan import Plan

from . import edits, seams
from .model import Word, fault

_SHAPE = ("status-shape#well-formed",)
_HONEST = ("STA-4", "STA-5", "BND-7")
"""Entries in the wrong place claim of one fragment what happened to another."""


@fault(
    rules=("STA-4", "STA-5", "BND-7"),
    checks=("status-honest#agrees-with-usage",),
    status=Word.LIES,
)
def hit_reported_as_miss() -> None:
    """What was reused is reported as a miss."""
    edits.edit_entries(
        lambda entry: {**entry, "outcome": "miss"} if entry["outcome"] == "exact_hit" else entry
    )


@fault(
    rules=("STA-4", "STA-5", "BND-7"),
    checks=("status-honest#agrees-with-usage",),
    status=Word.LIES,
    cells=({"stream": "streamed"},),
)
def hit_reported_as_miss_when_streamed() -> None:
    """In a stream, which begins before the engine has told, everything is reported as a miss."""
    import dataclasses

    def make(original: Any) -> Any:
        def events(self: Any, *, include_usage: bool) -> Any:
            status = self.status and [
                {**entry, "outcome": "miss"} if entry["outcome"] == "exact_hit" else entry
                for entry in self.status
            ]
            return original(dataclasses.replace(self, status=status), include_usage=include_usage)

        return events

    seams.EVENTS.wrap(make)


@fault(
    rules=("STA-4", "STA-5", "BND-7", "STA-11", "SHR-2", "POL-2"),
    checks=("status-honest#agrees-with-usage",),
    status=Word.LIES,
)
def miss_reported_as_hit() -> None:
    """What was looked up and not found is reported as a hit."""
    edits.edit_entries(
        lambda entry: {**entry, "outcome": "exact_hit"} if entry["outcome"] == "miss" else entry
    )


@fault(
    rules=("STA-11", "SHR-2", "SHR-4", "POL-2", "STA-4", "STA-5", "BND-7", "SHR-1"),
    checks=("tenant-boundary#foreigner-told-nothing", "status-honest#agrees-with-usage"),
    status=Word.LIES,
)
def hit_of_others_revealed() -> None:
    """A hit is reported where anybody has sent the same before, though nothing is shared."""
    sent: set[str] = set()

    def revealed(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        text = repr([planned.fragment.value for planned in plan.fragments])
        if text in sent:
            return [{**entry, "outcome": "exact_hit"} for entry in entries]
        sent.add(text)
        return entries

    edits.edit_status(revealed)


@fault(
    rules=("STA-11", "SHR-2", "SHR-3", "SHR-4", "POL-2", "STA-4", "STA-5", "BND-7", "SHR-1", "APX-2"),
    checks=("tenant-boundary#foreigner-told-nothing", "tenant-boundary#foreigner-computes"),
    status=Word.LIES,
)
def hit_of_another_tenant_revealed_by_the_word_alone() -> None:
    """A hit is reported where another tenant has sent the same before, and no tokens are counted."""
    sent: dict[str, str] = {}

    def revealed(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        text = repr([planned.fragment.value for planned in plan.fragments])
        if sent.setdefault(text, plan.caller.tenant) == plan.caller.tenant:
            return entries
        return [{**entry, "outcome": "exact_hit"} for entry in entries]

    edits.edit_status(revealed)
    edits.uncounted()


@fault(rules=("STA-2",), checks=_SHAPE, status=Word.LIES)
def entry_left_out_for_lack_of_an_id() -> None:
    """Fragments without an id get no entry."""
    edits.edit_status(lambda entries, _: [entry for entry in entries if "id" in entry])


@fault(
    rules=("CAP-6", "STA-7", "STA-2", "STA-3", "STA-9", "STA-10", *_HONEST), checks=_SHAPE, status=Word.LIES
)
def entries_in_reverse_order() -> None:
    """The entries come last fragment first."""
    edits.edit_status(lambda entries, _: entries[::-1])


@fault(rules=("STA-2", "STA-3", *_HONEST), checks=_SHAPE, status=Word.LIES)
def entries_with_an_id_first() -> None:
    """The entries that have an id come before the others."""
    edits.edit_status(lambda entries, _: sorted(entries, key=lambda entry: "id" not in entry))


@fault(rules=("STA-3",), checks=_SHAPE, status=Word.LIES)
def id_not_repeated() -> None:
    """Ids are left out."""
    edits.edit_entries(lambda entry: {name: value for name, value in entry.items() if name != "id"})


@fault(rules=("STA-3",), checks=_SHAPE, status=Word.LIES)
def id_invented() -> None:
    """Fragments without an id are given one."""
    edits.edit_status(
        lambda entries, _: [{"id": f"fragment-{number}", **entry} for number, entry in enumerate(entries)]
    )


@fault(rules=("STA-3",), checks=_SHAPE, status=Word.LIES)
def id_shared_by_all_entries() -> None:
    """Every entry that has an id carries the first one."""

    def first(entries: list[edits.Entry], _: Plan) -> list[edits.Entry]:
        ids = [entry["id"] for entry in entries if "id" in entry]
        return [{**entry, "id": ids[0]} if "id" in entry else entry for entry in entries]

    edits.edit_status(first)


@fault(rules=("STA-8",), checks=_SHAPE)
def constraint_result_left_out() -> None:
    """Entries don't say that the constraints were satisfied."""
    edits.edit_entries(
        lambda entry: {name: value for name, value in entry.items() if name != "constraint_result"}
    )


@fault(rules=("STA-12",), checks=_SHAPE)
def outcome_in_own_words() -> None:
    """A hit is called a hit, which is no word of the vocabulary."""
    edits.edit_entries(lambda entry: {**entry, "outcome": str(entry["outcome"]).removeprefix("exact_")})


@fault(rules=("STA-12",), checks=_SHAPE)
def entry_with_a_member_too_many() -> None:
    """Entries carry a member of the implementation's own."""
    edits.edit_entries(lambda entry: {**entry, "backend": "b7"})


@fault(rules=("STA-12",), checks=_SHAPE)
def status_as_an_object() -> None:
    """The status is an object that holds the entries instead of an array of them."""
    edits.edit_status(lambda entries, _: {"entries": entries})


@fault(
    rules=("STA-7", "SHR-2", "CMP-5", "CMP-8"),
    checks=("status-boundary#principal", "status-boundary#session"),
    status=Word.LIES,
)
def boundary_reported_one_too_wide() -> None:
    """The boundary reported is the next wider one; the state itself is where it should be."""
    wider = dict(zip(list(Scope)[:-1], list(Scope)[1:], strict=True))
    edits.edit_entries(
        lambda entry: {**entry, "effective_share": str(wider.get(Scope(entry["effective_share"]), "public"))}
    )


@fault(rules=("STA-7",), checks=("sessionless#reported-request",), status=Word.LIES)
def boundary_reported_as_asked() -> None:
    """The boundary reported is the one permitted, even where a narrower one was used."""

    def permitted(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        governed = [planned for planned in plan.fragments if planned.governed]
        return [
            {**entry, "effective_share": str(planned.policy.share_max)}
            for entry, planned in zip(entries, governed, strict=True)
        ]

    edits.edit_status(permitted)


@fault(rules=("STA-7",), checks=("status-alone#reported-request",), status=Word.LIES)
def boundary_reported_where_nothing_is_kept() -> None:
    """It keeps and reads nothing at all, and reports what must not be retained as shared in the tenant."""
    edits.exact_reuse_only()
    seams.LOOKUP.wrap(lambda _: lambda self, blocks: Reused(0, self._tick(), None))
    seams.PUBLISH.wrap(lambda _: lambda self, blocks, reused: 0)
    edits.edit_entries(
        lambda entry: (
            {**entry, "effective_share": "tenant"} if entry.get("retention") == "forbidden" else entry
        )
    )


@fault(rules=("STA-6",), checks=("forbid#reported-forbidden",), status=Word.LIES)
def forbidden_reported_as_retained() -> None:
    """State that must not be retained is reported as retained, though it isn't."""
    edits.edit_entries(
        lambda entry: {**entry, "retention": "retained"} if entry.get("retention") == "forbidden" else entry
    )


@fault(rules=("STA-6",), checks=("status-retention#reused-was-not-declined",), status=Word.LIES)
def retained_reported_as_declined() -> None:
    """State that is retained, and reused by the next request, is reported as declined."""
    edits.edit_entries(
        lambda entry: {**entry, "retention": "declined"} if entry.get("retention") == "retained" else entry
    )


@fault(rules=("STA-6",), checks=("status-retention#permitted-is-not-forbidden",), status=Word.LIES)
def permitted_reported_as_forbidden() -> None:
    """Retention that the constraints permit is reported as prohibited by them."""
    edits.edit_entries(
        lambda entry: {**entry, "retention": "forbidden"} if entry.get("retention") == "retained" else entry
    )


@fault(rules=("STA-6",), checks=("status-permitted#not-called-forbidden",), status=Word.LIES)
def nothing_kept_and_that_called_forbidden() -> None:
    """Every request is alone, and what could have been kept is reported as if that were prohibited."""

    def make(original: Any) -> Any:
        def terms(self: Any, policy: Any, *, fallback: bool) -> Any:
            return original(self, policy, fallback=True)

        return terms

    seams.TERMS.wrap(make)
    edits.edit_entries(lambda entry: {**entry, "retention": "forbidden"})
