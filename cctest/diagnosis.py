"""What was found out about a target before a probe, and what it means for one."""

from dataclasses import dataclass
from enum import StrEnum

from cctest.verdict import Exit


class Level(StrEnum):
    """What a finding means for a probe."""

    GOOD = "ok"
    NOTE = "note"
    """Worth knowing; nothing becomes untestable by it."""
    LACKING = "lacking"
    """Part of a probe can't be decided."""
    ALARM = "ALARM"
    """Either the target file is wrong or isolation is broken."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found out, as a plain sentence."""

    level: Level
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything found out. `usable` says whether any credential is accepted."""

    findings: tuple[Finding, ...]
    usable: bool = True

    @property
    def exit(self) -> Exit:
        """0 if a full probe is possible, 3 if only a part of one, 4 if none."""
        if not self.usable:
            return Exit.UNTESTABLE
        worst = {finding.level for finding in self.findings} & {Level.LACKING, Level.ALARM}
        return Exit.INCOMPLETE if worst else Exit.OK
