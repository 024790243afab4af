"""The vocabulary of expectations: a name in a case file, a small function here."""

from collections.abc import Mapping
from typing import Final

from cctest.probe.judgement import Predicate
from cctest.probe.predicates.answer import answered, handled, not_replayed, refused, refused_or_fallback
from cctest.probe.predicates.approximate import approximate_reported, not_laundered
from cctest.probe.predicates.capability import (
    as_advertised,
    boundary_as_advertised,
    boundary_of_its_own,
    capabilities_exposed,
    capabilities_shape,
    listed_if_reused,
    status_listed,
    status_promised,
)
from cctest.probe.predicates.forwarded import (
    arrives_unchanged,
    intents_removed,
    members_stripped,
    salt_replaced,
    salts_removed,
)
from cctest.probe.predicates.hint import hint_report
from cctest.probe.predicates.kept import not_read_late, not_recalled, retained_as_reported
from cctest.probe.predicates.partitions import partition_safe, partitions_unique, same_partition
from cctest.probe.predicates.relayed import (
    cancelled,
    counts_not_invented,
    error_mapped,
    reached_engine,
    says_unobserved,
)
from cctest.probe.predicates.reuse import not_reused, read_no_further
from cctest.probe.predicates.status import (
    kept_as_reported,
    reported_alone,
    status_honest,
    status_says,
    status_shape,
)

PREDICATES: Final[Mapping[str, Predicate]] = {
    "answered": answered,
    "approximate_reported": approximate_reported,
    "arrives_unchanged": arrives_unchanged,
    "as_advertised": as_advertised,
    "boundary_as_advertised": boundary_as_advertised,
    "boundary_of_its_own": boundary_of_its_own,
    "cancelled": cancelled,
    "counts_not_invented": counts_not_invented,
    "capabilities_exposed": capabilities_exposed,
    "capabilities_shape": capabilities_shape,
    "error_mapped": error_mapped,
    "handled": handled,
    "hint_report": hint_report,
    "intents_removed": intents_removed,
    "kept_as_reported": kept_as_reported,
    "listed_if_reused": listed_if_reused,
    "members_stripped": members_stripped,
    "not_laundered": not_laundered,
    "not_read_late": not_read_late,
    "not_recalled": not_recalled,
    "not_replayed": not_replayed,
    "not_reused": not_reused,
    "partition_safe": partition_safe,
    "partitions_unique": partitions_unique,
    "read_no_further": read_no_further,
    "reached_engine": reached_engine,
    "refused": refused,
    "refused_or_fallback": refused_or_fallback,
    "reported_alone": reported_alone,
    "retained_as_reported": retained_as_reported,
    "salt_replaced": salt_replaced,
    "salts_removed": salts_removed,
    "same_partition": same_partition,
    "says_unobserved": says_unobserved,
    "status_honest": status_honest,
    "status_listed": status_listed,
    "status_promised": status_promised,
    "status_says": status_says,
    "status_shape": status_shape,
}
