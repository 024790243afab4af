"""What arrived at an instrumented engine for a step, by its record; what to say where nothing did."""

from collections.abc import Iterator

from cctest.contract.source import JsonValue
from cctest.instrument.client import EngineRecord
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    inconclusive,
    missing_capability,
)
from cctest.probe.observation import Observation
from cctest.target.chat import Absent
from cctest.verdict import Evidence, Result, Source


def arrival(expectation: Expectation, world: World) -> tuple[Observation, EngineRecord | None, Judgement]:
    """Give the step, what arrived for it, and what to say where nothing did."""
    step = world.observations[str(expectation.step)]
    return step, computed(step), nothing_arrived(step, world)


def computed(step: Observation) -> EngineRecord | None:
    """The last request for an answer that the engine got for a step."""
    return step.asked[-1] if step.asked else None


def last_salts(step: Observation) -> Iterator["JsonValue | Absent"]:
    """Yield the salts under which the ends of a step's prompts stood, and those beside their regions.

    What an engine may read for no time at all is in nobody's partition.
    """
    for entry in step.asked:
        yield entry.cache_salt
        yield from (last.salt for last in entry.in_effect[-1:] if last.max_age_ms != 0)


def nothing_arrived(
    step: Observation, world: World, missing: str = "nothing arrived at the engine"
) -> Judgement:
    """Say why nothing can be judged where nothing arrived, or what else is `missing` of the record."""
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None and not step.answered:
        return Judgement(Result.UNSUPPORTED, quotation)
    return inconclusive(f"{missing} for {step.step.id}: {step.outline}")


def in_words(record: EngineRecord) -> str:
    """Say which partition a request got, without telling it."""
    salt = record.cache_salt
    told = f"cache_salt of {len(salt)} characters" if isinstance(salt, str) else "no cache_salt"
    return f"{told}, {len(record.regions)} regions" if record.regions else told


def salt_evidence(step: Observation) -> Evidence:
    """Give the partition of a step as evidence."""
    record = computed(step)
    return evidence_of(step, in_words(record) if record else "nothing arrived")


def evidence_of(step: Observation, seen: str) -> Evidence:
    """Give what was seen at the engine as evidence."""
    return Evidence(Source.ENGINE, f"{step.step.id}: {seen}")
