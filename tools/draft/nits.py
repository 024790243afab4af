"""What checkers say of a draft, and the arguments for leaving it so (`nits.yaml`)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cctest import datafile

_MEMBERS: Final = {"code", "about", "because", "sometimes"}


@dataclass(frozen=True, slots=True)
class Nit:
    """One thing that a checker said. `code` is idnits' code, or the name of the tool that said it."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """Why a nit may stay: those of this code that say `about`; an empty one is in every text.

    `sometimes` says that it depends on the day, so that its absence means nothing.
    """

    code: str
    about: str
    because: str
    sometimes: bool = False

    def covers(self, nit: Nit) -> bool:
        """Whether the nit is one of those that it is about."""
        return nit.code == self.code and self.about in nit.text


def nits_of(output: str) -> Iterator[Nit]:
    """Yield what idnits reported in JSON: errors, warnings and comments alike."""
    for nit in json.loads(output)["nits"]:
        path = f" ({nit['path']})" if "path" in nit else ""
        yield Nit(nit["code"], nit["desc"] + path)


def load_arguments(path: Path) -> tuple[Argument, ...]:
    """Read the arguments. Raises UsageProblem, with its place, for one without a code or a reason."""
    file = datafile.read(path)
    content: Any = file.parsed.value
    for index, item in enumerate(content):
        if not _MEMBERS >= item.keys() >= {"code", "because"}:
            raise file.problem(
                f"/{index}", "an argument has `code` and `because`, and maybe `about`, `sometimes`"
            )
    return tuple(
        Argument(item["code"], item.get("about", ""), item["because"], bool(item.get("sometimes", False)))
        for item in content
    )


def judge(nits: Sequence[tuple[str, Nit]], arguments: Sequence[Argument]) -> Iterator[str]:
    """Yield each nit of a draft that nothing argues for, and each argument for what nobody says any more."""
    for name, nit in nits:
        if not any(argument.covers(nit) for argument in arguments):
            yield f"{name}: {nit.code}: {nit.text}"
    for argument in arguments:
        if not argument.sometimes and not any(argument.covers(nit) for _, nit in nits):
            about = f" about {argument.about!r}" if argument.about else ""
            yield f"stale: no draft has {argument.code}{about} any more; take its argument out"
