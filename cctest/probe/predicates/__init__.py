"""The vocabulary of expectations: a name in a case file, a small function here."""

from collections.abc import Mapping
from typing import Final

from cctest.probe.judgement import Predicate
from cctest.probe.predicates.answer import answered, refused, refused_or_fallback
from cctest.probe.predicates.capability import capabilities_exposed, capabilities_shape
from cctest.probe.predicates.reuse import not_reused, reused
from cctest.probe.predicates.status import hint_report, status_honest, status_says, status_shape

PREDICATES: Final[Mapping[str, Predicate]] = {
    "answered": answered,
    "capabilities_exposed": capabilities_exposed,
    "capabilities_shape": capabilities_shape,
    "hint_report": hint_report,
    "not_reused": not_reused,
    "refused": refused,
    "refused_or_fallback": refused_or_fallback,
    "reused": reused,
    "status_honest": status_honest,
    "status_says": status_says,
    "status_shape": status_shape,
}
