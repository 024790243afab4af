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
class Obstacle:
    """Why nothing at all can be tested, what would be right, and the exit code of a command that meets it."""

    why: str
    hint: str
    exit: Exit


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything found out, and the obstacle where nothing can be tested."""

    findings: tuple[Finding, ...]
    obstacle: Obstacle | None = None

    @property
    def exit(self) -> Exit:
        """0 if a full probe is possible, 3 if only a part of one; the obstacle's where none is."""
        if self.obstacle is not None:
            return self.obstacle.exit
        worst = {finding.level for finding in self.findings} & {Level.LACKING, Level.ALARM}
        return Exit.INCOMPLETE if worst else Exit.OK
