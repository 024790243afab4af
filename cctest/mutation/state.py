"""What a run has found out so far, in a file: an interrupted run goes on where it was.

One line for each verdict, behind a line that says what the run is of. Where code, suite or the way of running
have changed since, nothing of it is used, and the file is begun anew. A file of any other kind is left alone.
"""

import hashlib
import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from cctest import bounded
from cctest.bundle import suite_digest
from cctest.mutation.mutant import Finding, Mutant, Status, Verdict
from cctest.problem import UsageProblem

_HINT: Final = "name a new file, or one that `--state` has written"


class State:
    """The file of a run; without a path nothing is kept. Closed with the run.

    Raises UsageProblem if the path leads to anything but such a file, or if that can't be read or written.
    """

    def __init__(self, path: Path | None, mutants: Sequence[Mutant], *, whole: bool) -> None:
        self._file: TextIO | None = None
        self._prints = {mutant.id: _fingerprint(mutant) for mutant in mutants}
        self.known: dict[str, Verdict] = {}
        if path is None:
            return
        key = _key(whole=whole)
        try:
            told = _read(path, key)
            self._file = path.open("a" if told else "w", encoding="utf-8")
            if not told:
                self._write({"key": key})
            self.known = dict(self._verdicts(told[1:]))
        except OSError as error:
            raise UsageProblem(f"can't be written: {error.strerror}", where=str(path)) from None

    def _verdicts(self, told: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Verdict]]:
        """Give the verdicts that hold still; what can't be read as one is found out again."""
        for one in told:
            name = one.get("mutant")
            if name in self._prints and one.pop("print", "") == self._prints[name]:
                with suppress(KeyError, TypeError, ValueError):
                    yield name, _verdict(one)

    def note(self, verdict: Verdict) -> None:
        """Keep a verdict."""
        self._write({"print": self._prints[verdict.mutant], **asdict(verdict)})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _write(self, value: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(value) + "\n")
            self._file.flush()


def _key(*, whole: bool) -> str:
    """Say what verdicts hold for: all our code, the suite, and whether all checks are run."""
    digest = hashlib.sha256(f"{suite_digest()} {whole}".encode())
    for package in ("cctest", "reference_gateway"):
        spec = importlib.util.find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _fingerprint(mutant: Mutant) -> str:
    told = (mutant.change, mutant.setups, mutant.caught_by, mutant.cells, mutant.rules)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _read(path: Path, key: str) -> list[dict[str, Any]]:
    """Give the lines of a file that is of the same run; none where it isn't, or there is no such file.

    Raises UsageProblem for a file that no run has written: it isn't ours to replace.
    """
    if not path.exists():
        return []
    if not path.is_file():
        raise UsageProblem("this is no file", where=str(path), hint=_HINT)
    first, *rest = bounded.read(path, bounded.RESULT_LIMIT).split(b"\n")
    if not first and not any(rest):
        return []
    head = _line(first)
    if head is None or head.keys() != {"key"}:
        raise UsageProblem(
            "is no state of a run of `cctest mutate`; it was left alone", where=str(path), hint=_HINT
        )
    if head["key"] != key:
        return []
    return [head, *filter(None, map(_line, rest))]


def _line(text: bytes) -> dict[str, Any] | None:
    """Read a line; None for one that was being written when the run ended."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _verdict(told: Mapping[str, Any]) -> Verdict:
    findings = tuple(Finding(**{**one, "rules": tuple(one["rules"])}) for one in told["findings"])
    return Verdict(**{**told, "status": Status(told["status"]), "findings": findings})
