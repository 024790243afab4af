"""The report as JUnit XML, for continuous integration.

| result       | element                                                        |
|--------------|----------------------------------------------------------------|
| pass         | none                                                           |
| warn         | none; the warning is in `system-out`                           |
| fail         | `failure`                                                      |
| unsupported  | `skipped`                                                      |
| inconclusive | `error`: a CI that shows skipped tests as green must not hide it |
| error        | `error`                                                        |

A run that is incomplete for another reason than its checks has one more test case, `verdict`, in error.
What a baseline knows is `skipped`, with the reason; each of its entries that doesn't hold is one more failed
test case.
"""

from xml.etree import ElementTree as ET

from cctest.baseline.entry import Entry, Flaw
from cctest.report.model import Report, cell_name
from cctest.report.plain import plain
from cctest.verdict import Check, Exit, Outcome, Result

_ELEMENTS = {
    Result.FAIL: "failure",
    Result.UNSUPPORTED: "skipped",
    Result.INCONCLUSIVE: "error",
    Result.ERROR: "error",
}


def junit_text(report: Report) -> str:
    """Write the report as one JUnit test suite."""
    suite = ET.Element("testsuite", {"name": f"cctest {report.command}", "timestamp": report.started})
    _add_properties(suite, report)
    for check in report.checks:
        entry = report.baseline.entry_for(check) if report.baseline else None
        _add_check(suite, check, entry)
    for flaw in report.baseline.flaws if report.baseline else ():
        _add_flaw(suite, flaw)
    if report.verdict.outcome is Outcome.INCOMPLETE and report.verdict.exit is not Exit.OK:
        case = ET.SubElement(suite, "testcase", name="verdict", classname="cctest", time="0.000")
        reasons = plain("; ".join(report.verdict.reasons))
        ET.SubElement(case, "error", message=reasons, type=str(report.verdict.outcome))
    numbers = _numbers(suite) | {"time": f"{report.seconds:.3f}"}
    suite.attrib.update(numbers)
    root = ET.Element("testsuites", {"name": "cctest", **numbers})
    root.append(suite)
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _numbers(suite: ET.Element) -> dict[str, str]:
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    return {name: str(sum(1 for _ in suite.iter(tag))) for name, tag in counted.items()}


def _add_properties(suite: ET.Element, report: Report) -> None:
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("version", report.tool_version),
        ("suite", report.suite_version),
        ("digest", report.suite_digest),
        ("target", report.target),
        ("implementation", report.implementation),
        ("seed", report.seed),
        ("outcome", report.verdict.outcome),
    ):
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=plain(str(value)))


def _add_check(suite: ET.Element, check: Check, known: Entry | None) -> None:
    cell = cell_name(check.cell)
    case = ET.SubElement(
        suite,
        "testcase",
        name=plain(f"{check.id} [{cell}]" if cell else check.id),
        classname=f"cctest.{check.id.partition('#')[0]}",
        time=f"{check.seconds:.3f}",
    )
    element = _ELEMENTS.get(check.result)
    if known is not None:
        message = f"known to be {check.result} until {known.expires}: {known.reason} ({known.link})"
        skipped = ET.SubElement(case, "skipped", message=plain(message), type=str(check.result))
        skipped.text = plain(f"{check.message}\n{_details(check)}")
    elif element is not None:
        finding = ET.SubElement(case, element, message=plain(check.message), type=str(check.result))
        finding.text = plain(_details(check))
    elif check.result is Result.WARN:
        ET.SubElement(case, "system-out").text = plain(f"warning: {check.message}\n{_details(check)}")


def _add_flaw(suite: ET.Element, flaw: Flaw) -> None:
    entry = flaw.entry
    cell = cell_name(entry.cell)
    name = plain(f"{entry.check} [{cell}]" if cell else entry.check)
    case = ET.SubElement(suite, "testcase", name=name, classname="cctest.baseline", time="0.000")
    failure = ET.SubElement(case, "failure", message=plain(flaw.why), type="baseline")
    failure.text = plain(f"{entry.where}\n{entry.reason} ({entry.link})")


def _details(check: Check) -> str:
    lines = [f"rules: {', '.join(check.rules)}"]
    lines += [
        f"{name}: {text}" for name, text in (("expected", check.expected), ("seen", check.seen)) if text
    ]
    lines += [f"evidence ({item.source}): {item.seen}" for item in check.evidence]
    return "\n".join([*lines, *check.reproduce])
