"""All faults and all conforming variants, by name."""

from collections.abc import Mapping
from typing import Final

from . import (
    answers,
    approximate,
    binding,
    bodies,
    composition,
    conforming,
    conforming_forwarding,
    conforming_words,
    hints,
    intake,
    namespaces,
    one_cell,
    partitions,
    permitted,
    refusals,
    replays,
    retention,
    reuse,
    sharing,
    status,
)
from .model import Fault, Variant, faults_of, variants_of

FAULTS: Final[tuple[Fault, ...]] = tuple(
    fault
    for module in (
        sharing,
        namespaces,
        retention,
        reuse,
        composition,
        intake,
        refusals,
        status,
        hints,
        binding,
        one_cell,
        approximate,
        partitions,
        bodies,
        answers,
        replays,
    )
    for fault in faults_of(module)
)

VARIANTS: Final[tuple[Variant, ...]] = tuple(
    variant
    for module in (conforming, conforming_words, conforming_forwarding)
    for variant in variants_of(module)
)

PERMITTED: Final[tuple[Variant, ...]] = tuple(variants_of(permitted))
"""Variants that findings are about; the inputs of these show what they do otherwise."""

_ALL: Final[tuple[Fault | Variant, ...]] = FAULTS + VARIANTS + PERMITTED

BY_NAME: Final[Mapping[str, Fault | Variant]] = {one.id: one for one in _ALL}
