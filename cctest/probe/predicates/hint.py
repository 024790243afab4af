"""Predicates about hints: they bind nobody, but what became of one is told truly."""

from cctest.probe.case import Expectation
from cctest.probe.judgement import Judgement, World, failed, inconclusive, passed
from cctest.probe.observation import entry_of
from cctest.probe.predicates.status import without_status
from cctest.verdict import Evidence, Result, Source


def hint_report(expectation: Expectation, world: World) -> Judgement:
    """An advertised hint is reported on the entry of its intent, as one of `values` (STA-9, STA-10)."""
    step = world.observations[str(expectation.step)]
    hints = world.advertised.capabilities.hints if world.advertised.capabilities else {}
    if "reuse_within_max" not in hints:
        return Judgement(Result.UNSUPPORTED, "capabilities: hints.reuse_within_max is absent")
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}")
    entry = entry_of(step, str(expectation.arguments["fragment"]))
    if entry is None:
        return without_status(world)
    reports = entry.get("hints")
    report = reports.get("reuse_within") if isinstance(reports, dict) else None
    values = expectation.arguments["values"]
    evidence = Evidence(Source.STATUS, f"{step.step.id}: hints {reports}")
    if report is None:
        return failed("an advertised hint is not reported", "hints.reuse_within", "absent", evidence)
    if not isinstance(values, list) or report not in values:
        expected = f"hints.reuse_within {values}"
        return failed("the hint's report is wrong", expected, str(report), evidence)
    return passed(f"reported as {report}", evidence)
