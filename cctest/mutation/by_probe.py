"""The probe against a mutant of our gateway, which runs in a process of its own with one source changed."""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cctest.instrument.settings import Settings
from cctest.mutation.mutant import Judge, Setup, SourceChange, described
from cctest.probe.bundled import EMBEDDED, FORWARDING, Bundled, make_credentials, running_gateway
from cctest.probe.case import Case
from cctest.probe.run import ProbePlan, Progress, run_probe
from cctest.problem import Problem
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.verdict import Check

SECONDS: Final = 240.0
"""A probe that takes longer is given up."""
JOBS: Final = 8
"""Exchanges under way at a time: our gateway is fast, and much of a probe is waiting."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe came to, and whether the change was loaded.

    `broke` says why it couldn't be probed; `late` that it was given up. `stopped` tells that it was ended as
    soon as enough was seen.
    """

    checks: tuple[Check, ...] = ()
    applied: bool = False
    broke: str = ""
    late: bool = False
    stopped: bool = False


class _EnoughError(Exception):
    """The probe has shown what was to be seen, or has lasted too long."""


def probe(
    change: SourceChange | None,
    setup: Setup,
    cases: Sequence[Case],
    *,
    engine: str | None = None,
    enough: Callable[[Check], bool] | None = None,
    seconds: float = SECONDS,
) -> Probed:
    """Probe our gateway with one change, or none. `engine` is the URL of the engine that it may forward to.

    As soon as `enough` is true of a check, the rest is left out.
    """
    with tempfile.TemporaryDirectory(prefix="cctest-mutant-") as folder:
        proof = Path(folder, "proof")
        told = Path(folder, "change.json")
        told.write_text(json.dumps(described(change) if change else {}), encoding="utf-8")
        through = ("cctest.mutation.child", str(told), str(proof))
        seen: list[Check] = []
        broke, late, stopped = "", False, False
        until = time.monotonic() + seconds

        def note(progress: Progress) -> None:
            nonlocal late, stopped
            seen.extend(progress.checks)
            late = time.monotonic() > until
            stopped = enough is not None and any(map(enough, progress.checks))
            if late or stopped:
                raise _EnoughError

        try:
            with running_gateway(credentials := make_credentials(), _gateway(setup, engine, through)) as url:
                model = EMBEDDED if setup.judge is Judge.EMBEDDED else Settings().model
                configuration = Configuration(target=url, model=model, credentials=credentials)
                record = engine if setup.judge is Judge.FORWARDING else None
                plan = ProbePlan(configuration, tuple(cases), len(cases), 1, JOBS, engine=record)
                report = run_probe(plan, note)
            seen = list(report.checks)
            if change is None and setup.regions and not _tells_regions(report):
                broke = "the gateway saw no regions on the engine"
        except _EnoughError:
            pass
        except Problem as problem:
            broke = problem.message
        return Probed(tuple(seen), change is None or proof.exists(), broke, late, stopped)


def _tells_regions(report: Report) -> bool:
    told: Any = report.capabilities
    return bool(told["cache_intent_capabilities"]["per_fragment_share"])


def _gateway(setup: Setup, engine: str | None, through: tuple[str, ...]) -> Bundled:
    if setup.judge is Judge.EMBEDDED:
        return Bundled(EMBEDDED, options=setup.options, through=through)
    return Bundled(FORWARDING, engine, setup.options, through)
