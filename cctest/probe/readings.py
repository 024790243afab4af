"""Telling which permitted reading (section 12 of the contract) a target takes. Never a failure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.probe.case import ReadingSpec
from cctest.probe.enforceability import all_bypassed, told_as_bypass
from cctest.probe.judgement import World, missing_capability
from cctest.probe.observation import Observation, entry_of, governed_candidates
from cctest.probe.witness import WITNESSES, Reuse, Witness, rests_on_word
from cctest.verdict import Reading

OTHERWISE: Final = "*"
"""The option for every observation that has none of its own."""

REUSED: Final = "reused"
NOT_REUSED: Final = "not_reused"


@dataclass(frozen=True, slots=True)
class Taken:
    """A reading, and the step and the fragment on whose outcome `exact_hit` alone it rests, if it does."""

    reading: Reading
    rests_on: tuple[str, str] | None = None


def take(spec: ReadingSpec, world: World, check: str) -> Taken | None:
    """Return the reading that the target takes, or None if the cell doesn't show it."""
    if not _refused(spec.arguments.get("only_if_refused"), world):
        return None
    if not _lacks(spec.arguments.get("only_if_lacking"), world):
        return None
    observed = _OBSERVERS[spec.observe](spec, world)
    taken = spec.options.get(observed, spec.options.get(OTHERWISE)) if observed is not None else None
    if taken is None:
        return None
    rests_on = _word_for_reuse(spec, world) if observed == REUSED else None
    return Taken(Reading(spec.id, taken, check, world.setting.cell), rests_on)


def without_noise(
    readings: Sequence[Reading], specs: Mapping[str, ReadingSpec], cells: Mapping[str, int]
) -> tuple[Reading, ...]:
    """Leave out what shows in an absence of reuse, if it may be chance: caches evict.

    It may be where the same reading shows otherwise in a reuse, and where it shows in no more than half of
    the case's cells. `specs` has the specification of each reading by the `check` that it names, `cells` the
    number of cells that were run of each case.
    """

    def way(reading: Reading, observed: str) -> bool:
        spec = specs.get(reading.check)
        return spec is not None and spec.observe == "reuse" and spec.options.get(observed) == reading.taken

    reused = {reading.id for reading in readings if way(reading, REUSED)}
    absences = Counter(one.check for one in readings if way(one, NOT_REUSED))

    def chance(one: Reading) -> bool:
        seldom = 2 * absences[one.check] <= cells.get(one.check.partition("#")[0], 0)
        return way(one, NOT_REUSED) and (seldom or one.id in reused)

    return tuple(one for one in readings if not chance(one))


def _lacks(need: JsonValue, world: World) -> bool:
    """Whether the target says that it lacks what the reading is about."""
    return need is None or missing_capability((str(need),), world.advertised) is not None


def _refused(step: JsonValue, world: World) -> bool:
    """Whether the step from whose refusal the reading shows was refused."""
    if step is None:
        return True
    observation = world.observations[str(step)]
    return observation.response is not None and not observation.answered


def _reuse(spec: ReadingSpec, world: World) -> str | None:
    text = str(spec.arguments["fragment"])
    for _, witness in WITNESSES:
        if not _drew(spec.arguments.get("drawn_from"), witness, world):
            continue
        if witness(world.observations[str(spec.control)], text)[0] is not Reuse.SEEN:
            continue
        reuse = witness(world.observations[spec.step], text)[0]
        if reuse in (Reuse.SEEN, Reuse.UNSEEN):
            return REUSED if reuse is Reuse.SEEN else NOT_REUSED
    return None


def _word_for_reuse(spec: ReadingSpec, world: World) -> tuple[str, str] | None:
    """Name the step and the fragment if nothing but a word of the target's tells that it was reused."""
    step, text = world.observations[spec.step], str(spec.arguments["fragment"])
    known = [witness for _, witness in WITNESSES if witness(step, text)[0] is Reuse.SEEN]
    return rests_on_word(known[0], step, text) if known else None


def _drew(source: JsonValue, witness: Witness, world: World) -> bool:
    """Whether the step from which the reading shows reused what it is about."""
    if not isinstance(source, dict):
        return True
    return witness(world.observations[str(source["step"])], str(source["fragment"]))[0] is Reuse.SEEN


def _answer(spec: ReadingSpec, world: World) -> str | None:
    step = world.observations[spec.step]
    if step.response is None:
        return None
    if not step.answered:
        return "refused"
    if told_as_bypass(step, world):
        return "bypassed"
    return "unclear" if all_bypassed(step) or not step.entries else "served"


def _treatment(spec: ReadingSpec, world: World) -> str | None:
    """Tell the code of a refusal, or how the step was served."""
    answer = _answer(spec, world)
    return _code(spec, world) if answer == "refused" else answer


def _code(spec: ReadingSpec, world: World) -> str | None:
    step = world.observations[spec.step]
    if step.chat is None or step.response is None:
        return None
    return step.chat.error_code or ("served" if step.answered else f"HTTP {step.response.status}")


def _http(spec: ReadingSpec, world: World) -> str | None:
    response = world.observations[spec.step].response
    return str(response.status) if response else None


def _entries(spec: ReadingSpec, world: World) -> str | None:
    step = world.observations[spec.step]
    if step.entries is None:
        return None
    candidates = governed_candidates(step.built.fragments)
    matching = [name for name, indexes in candidates.items() if len(indexes) == len(step.entries)]
    return matching[0] if len(matching) == 1 else None


def _member(spec: ReadingSpec, world: World) -> str | None:
    source = spec.arguments.get("drawn_from")
    if not any(_drew(source, witness, world) for _, witness in WITNESSES):
        return None
    entry = _entry(world.observations[spec.step], str(spec.arguments["fragment"]))
    member = str(spec.arguments["member"])
    return None if entry is None or member not in entry else str(entry[member])


def _hint(spec: ReadingSpec, world: World) -> str | None:
    entry = _entry(world.observations[spec.step], str(spec.arguments["fragment"]))
    if entry is None:
        return None
    hints = entry.get("hints")
    return str(hints.get(str(spec.arguments["hint"]), "absent")) if isinstance(hints, dict) else "absent"


def _entry(step: Observation, text: str) -> Mapping[str, object] | None:
    return entry_of(step, text) if step.answered else None


def _place(spec: ReadingSpec, world: World) -> str | None:
    chat = world.observations[spec.step].chat if world.setting.streamed else None
    return chat.status_place if chat and chat.ok else None


def _forwarded(spec: ReadingSpec, world: World) -> str | None:
    """Whether a member of the body reached the engine."""
    records = world.observations[spec.step].asked
    return None if not records else str(spec.arguments["member"] in records[-1].members()).lower()


def _partition(spec: ReadingSpec, world: World) -> str | None:
    """How the partitions of two requests compare, by the engine's record."""
    first, second = world.observations[spec.step].asked, world.observations[str(spec.control)].asked
    if not first or not second:
        return None
    one, other = first[-1].partitions, second[-1].partitions
    if not all(isinstance(salt, str) for _, salt in (*one, *other)):
        return "absent"
    return "same" if one == other else "different"


_OBSERVERS: Final[Mapping[str, Callable[[ReadingSpec, World], str | None]]] = {
    "answer": _answer,
    "code": _code,
    "entries": _entries,
    "forwarded": _forwarded,
    "hint": _hint,
    "http": _http,
    "member": _member,
    "partition": _partition,
    "place": _place,
    "reuse": _reuse,
    "treatment": _treatment,
}
