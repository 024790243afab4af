"""Faults of namespaces: state of different namespaces that meets."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cctest.contract.digest import namespace_digest
from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import Scope
from reference_gateway.plan import Plan, PlannedFragment
from reference_gateway.request.intake import ChatRequest

from . import edits, pool, seams
from .model import Word, fault


def _respell(change: Callable[[str], str]) -> None:
    """Read every namespace as another one."""
    edits.edit_constraints(
        lambda stated: (
            stated if stated.namespace is None else replace(stated, namespace=change(stated.namespace))
        )
    )


def _rearrange(change: Callable[[list[str]], list[str]]) -> None:
    """Give all of a request the digest of another sequence than that of its namespaces (READ-36)."""

    def rearranged(plan: Plan, request: ChatRequest) -> Plan:
        intents = [fragment.intent for fragment in request.fragments if fragment.intent]
        stated = [one.constraints.namespace for one in intents if one.constraints.namespace is not None]
        digest = namespace_digest(change(stated)) if stated else None
        return replace(plan, fragments=tuple(_moved(planned, digest) for planned in plan.fragments))

    edits.edit_plan(rearranged)


def _moved(planned: PlannedFragment, digest: str | None) -> PlannedFragment:
    place = replace(planned.terms.partition, namespace_digest=digest)
    return replace(planned, terms=replace(planned.terms, partition=place))


@fault(
    rules=("NS-1", "NS-2", "POL-2", "DIG-1", "DIG-3", "NS-3"),
    checks=("namespace-change#changed-computes", "namespace-dropped#unnamed-computes"),
    status=Word.SILENT,
)
def namespace_ignored() -> None:
    """The namespace is read, advertised as supported, and no part of any key."""
    edits.edit_constraints(lambda stated: replace(stated, namespace=None))


@fault(
    rules=("NS-1", "INT-2", "CAP-3", "POL-2", "DIG-1", "DIG-3", "NS-3"),
    checks=("namespace-change#changed-computes", "supported-is-listed#namespace"),
    status=Word.SILENT,
)
def namespace_unsupported_and_ignored() -> None:
    """The capabilities don't list namespaces, yet a request with one is served without it."""
    edits.edit_constraints(lambda stated: replace(stated, namespace=None))
    edits.edit_capabilities(namespace=False)


@fault(
    rules=("NS-1", "POL-2"),
    checks=("namespace-change#changed-computes", "namespace-dropped#unnamed-computes"),
    status=Word.SILENT,
    public="D14",
)
def second_layer_knows_no_namespace() -> None:
    """One layer of the cache separates namespaces, and the layer behind it finds state by scope alone."""
    pool.install(pool.inside, namespaces=False)


@fault(
    rules=("NS-1", "DIG-3", "POL-2"),
    checks=("namespace-dropped#unnamed-computes",),
    status=Word.SILENT,
)
def no_namespace_matches_all() -> None:
    """A request without a namespace is taken to ask for state of any."""
    pool.install(
        lambda recorded, reader, depth: (
            pool.inside(recorded, reader, depth)
            and reader.namespace_digest in (None, recorded.namespace_digest)
        ),
        namespaces=False,
    )


@fault(
    rules=("NS-1", "DIG-1"),
    checks=("namespace-seams#shifted-computes",),
    status=Word.SILENT,
    public="D03",
)
def namespaces_joined_without_lengths() -> None:
    """The namespaces of a request are joined as they are, so that ab, c is a, bc."""
    _rearrange(lambda heard: ["".join(heard)])


@fault(rules=("NS-1", "NS-3"), checks=("namespace-spelling#case-counts",), status=Word.SILENT, public="D16")
def namespace_case_folded() -> None:
    """Namespaces are compared without regard to case."""
    _respell(str.casefold)


@fault(
    rules=("NS-1", "NS-3"),
    checks=("namespace-spelling#unicode-form-counts",),
    status=Word.SILENT,
    public="D16",
)
def namespace_normalised() -> None:
    """Namespaces are brought into Unicode's composed form."""
    _respell(lambda namespace: unicodedata.normalize("NFC", namespace))


@fault(
    rules=("NS-1", "NS-3"),
    checks=("namespace-spelling#white-space-counts",),
    status=Word.SILENT,
    public="D16",
)
def namespace_trimmed() -> None:
    """White space around a namespace is dropped."""
    _respell(lambda namespace: namespace.strip() or namespace)


@fault(
    rules=("NS-1", "NS-3"),
    checks=("namespace-lengths#last-character-counts",),
    status=Word.SILENT,
    public="D05",
)
def namespace_cut_to_fit_the_engine() -> None:
    """Namespaces are cut to the 128 characters that the engine's partition value has room for."""
    _respell(lambda namespace: namespace[:128])


@fault(
    rules=("NS-1", "NS-3"),
    checks=("namespace-alphabet#replaced-character-counts",),
    status=Word.SILENT,
    public="D05",
)
def namespace_made_safe_for_the_engine() -> None:
    """Characters that the engine's partition value can't hold are all replaced by the same one."""
    _respell(lambda namespace: namespace.translate(str.maketrans("/\\@\0", "____")))


@fault(rules=("NS-1", "DIG-1"), checks=("namespace-order#both-count",), status=Word.SILENT)
def first_namespace_only() -> None:
    """Only the first namespace of a request counts."""
    _rearrange(lambda heard: heard[:1])


@fault(rules=("NS-1", "DIG-1"), checks=("namespace-order#order-counts",), status=Word.SILENT)
def namespaces_sorted() -> None:
    """The order of a request's namespaces doesn't count."""
    _rearrange(sorted)


@fault(rules=("NS-1", "DIG-1"), checks=("namespace-order#duplicates-count",), status=Word.SILENT)
def namespaces_deduplicated() -> None:
    """A namespace given by two fragments counts once."""
    _rearrange(lambda heard: list(dict.fromkeys(heard)))


@fault(
    rules=("NS-2", "SHR-2", "SHR-4"),
    checks=("namespace-shared-name#foreigner-computes",),
    status=Word.LIES,
)
def namespace_replaces_the_boundary() -> None:
    """Where there is a namespace it is the whole key, and whoever knows it is inside."""

    def make(original: Any) -> Any:
        def partition(self: Any, scope: Scope, namespace_digest: str | None) -> Any:
            found = original(self, scope, namespace_digest)
            if namespace_digest is None or scope is Scope.REQUEST:
                return found
            return replace(found, boundary=Boundary(found.boundary.scope, ()))

        return partition

    seams.PARTITION.wrap(make)
