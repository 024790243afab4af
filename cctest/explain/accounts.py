"""What each predicate demands, in words (`spec/predicates.yaml`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from cctest import bundle, datafile
from cctest.contract.source import JsonValue
from cctest.probe.case import Expectation
from cctest.probe.predicates import PREDICATES
from cctest.verdict import Source

EVIDENCE: Final[Mapping[Source, str]] = {
    Source.ENGINE: "the engine's own record",
    Source.CANARY: "a mark unique to each computation",
    Source.USAGE: "token counts in the response",
    Source.STATUS: "the target's own status",
    Source.TIMING: "timing",
    Source.RESPONSE: "the response as such",
    Source.COMPUTATION: "a computed value",
}
"""What a verdict may rest on, in words."""


@dataclass(frozen=True, slots=True)
class Account:
    """A predicate in words: what it demands (with names in braces), what decides it, what often breaks it."""

    demands: str
    judged_by: tuple[Source, ...] = ()
    causes: tuple[str, ...] = ()

    def of(self, expectation: Expectation) -> str:
        """Say what one expectation demands."""
        words = {name: _argument(name, value) for name, value in expectation.arguments.items()}
        words |= {"step": expectation.step or "each step", "control": expectation.control or "nothing"}
        return self.demands.format_map(_Words(words))


class _Words(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return _UNGIVEN.get(name, f"any {name}")


_ALL: Final = frozenset({"steps", "uses"})
"""Arguments whose every item is meant."""

_UNGIVEN: Final = {"codes": "one of the three of BND-9"}


@cache
def load_accounts() -> Mapping[str, Account]:
    """Read the accounts by predicate. Raises UsageProblem as every data file does."""
    file = datafile.read(bundle.PREDICATES)
    datafile.require(file, datafile.validator("predicates.schema.json"), file.parsed.value)
    content: Any = file.parsed.value
    return {
        item["predicate"]: Account(
            item["demands"], tuple(map(Source, item["judged_by"])), tuple(item["causes"])
        )
        for item in content["predicates"]
    }


def account_of(predicate: str) -> Account:
    """Give a predicate's account; what its function says of itself where there is none."""
    found = load_accounts().get(predicate)
    if found is not None:
        return found
    said = " ".join((PREDICATES[predicate].__doc__ or predicate).partition("\n\n")[0].split())
    return Account(said.replace("{", "{{").replace("}", "}}"))


def _argument(name: str, value: JsonValue) -> str:
    return all_of(value) if name in _ALL else in_words(value)


def all_of(value: JsonValue) -> str:
    """Say an array all of which is meant."""
    return " and ".join(map(in_words, value)) if isinstance(value, list) else in_words(value)


def in_words(value: JsonValue) -> str:
    """Say a value: `a or b` for an array, `name value` for the members of an object."""
    if isinstance(value, list):
        return " or ".join(in_words(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{name} {in_words(member)}" for name, member in value.items())
    return str(value)
