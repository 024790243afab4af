"""What a mutant is: one small change of an implementation, and who has to notice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from cctest.contract.vocabulary import Kind


class Judge(StrEnum):
    """What a mutant is judged by."""

    VECTORS = "vectors"
    """The vectors, against the core."""
    EMBEDDED = "embedded"
    """The probe, against our gateway on its embedded engine."""
    FORWARDING = "vllm"
    """The probe at both ends, our gateway between it and an instrumented engine."""


class Family(StrEnum):
    """Where a mutant comes from."""

    RULE = "rule"
    """The catalogue: one rule is inverted in the source."""
    SCHEMA = "schema"
    """The catalogue: one keyword of a contract schema is left out."""
    GOLDEN = "golden"
    """One expected value of a vector is another one."""
    GENERATED = "generated"
    """An operator applied to the source."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Text to put in the place of what stands between two offsets, in code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SourceChange:
    """An edit of one module, whose source must have the SHA-256 `digest`.

    `module` is the dotted name, `path` the file's, relative to the packages.
    """

    module: str
    path: str
    edit: Edit
    digest: str


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A keyword, or an item of one, that is left out of the schema of a document; `pointer` says which."""

    kind: Kind
    pointer: str


def described(change: SourceChange) -> dict[str, str | int]:
    """Spell a change as `patching.install` takes it."""
    edit = change.edit
    return {
        "module": change.module,
        "digest": change.digest,
        "start": edit.start,
        "end": edit.end,
        "text": edit.text,
    }


Change: TypeAlias = SourceChange | SchemaChange


@dataclass(frozen=True, slots=True)
class Setup:
    """What judges, and with which more options the gateway is started.

    With `regions` the engine behind it takes several salts in one request.
    """

    judge: Judge
    options: tuple[str, ...] = ()
    regions: bool = False

    def __str__(self) -> str:
        return " ".join((self.judge, *self.options, *(("with regions",) if self.regions else ())))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mutant.

    `rules` are those that it breaks, `inverts` says in words how; `entails` are more rules, whose checks fail
    too because they rest on what is broken. `caught_by` names the check that has to
    fail: a vector, or `case#expectation`; it is None where any will do. With `cells` it must fail in the
    cells that agree with one of them, and in no other. `setups` are tried in turn until one kills it.
    `operator` is that of a generated mutant; `was` and `becomes` show the change.
    """

    id: str
    family: Family
    rules: tuple[str, ...]
    inverts: str
    change: Change
    setups: tuple[Setup, ...]
    caught_by: str | None = None
    cells: tuple[Mapping[str, str], ...] = ()
    entails: tuple[str, ...] = ()
    operator: str = ""
    was: str = ""
    becomes: str = ""

    def shows_in(self, cell: Mapping[str, str]) -> bool:
        """Whether the mutant must show in this cell."""
        return not self.cells or any(one.items() <= cell.items() for one in self.cells)


class Status(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """The check that it is for failed, or any where none is named."""
    KILLED_BY_ANOTHER = "killed by another check"
    SURVIVED = "survived"
    """All that was run came out as without it."""
    BROKE = "broke"
    """It crashed, answered 500 or didn't start, and no check failed for another reason."""
    TIMED_OUT = "timed out"
    NOT_APPLIED = "not applied"
    """What was changed was never loaded: this says nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A check that failed for a mutant: where, on which rules it rests, and what it said."""

    check: str
    rules: tuple[str, ...]
    message: str
    cell: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one mutant, and what that rests on.

    `findings` are the checks that failed for it, the named one among them or not. `ran` counts the checks
    that were run, `whole` tells whether they were all that there are. A mutant that turns half of all checks
    red is `suspect`: it shows nothing about one rule. `note` says what else was seen.
    """

    mutant: str
    status: Status
    ran: int
    findings: tuple[Finding, ...] = ()
    whole: bool = False
    suspect: bool = False
    note: str = ""
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        """Whether some check failed for it."""
        return self.status in (Status.KILLED, Status.KILLED_BY_ANOTHER)
