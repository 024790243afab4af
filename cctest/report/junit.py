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
"""

from xml.etree import ElementTree as ET

from cctest.report.model import Report, cell_name
from cctest.report.plain import plain
from cctest.verdict import Check, Outcome, Result, summarise

_ELEMENTS = {
    Result.FAIL: "failure",
    Result.UNSUPPORTED: "skipped",
    Result.INCONCLUSIVE: "error",
    Result.ERROR: "error",
}


def junit_text(report: Report) -> str:
    """Write the report as one JUnit test suite."""
    counts = summarise(report.checks)
    blocked = report.verdict.outcome is Outcome.INCOMPLETE
    numbers = {
        "tests": str(len(report.checks) + blocked),
        "failures": str(counts[Result.FAIL]),
        "errors": str(counts[Result.ERROR] + counts[Result.INCONCLUSIVE] + blocked),
        "skipped": str(counts[Result.UNSUPPORTED]),
        "time": f"{report.seconds:.3f}",
    }
    root = ET.Element("testsuites", {"name": "cctest", **numbers})
    named = {"name": f"cctest {report.command}", "timestamp": report.started}
    suite = ET.SubElement(root, "testsuite", named | numbers)
    _add_properties(suite, report)
    for check in report.checks:
        _add_check(suite, check)
    if blocked:
        case = ET.SubElement(suite, "testcase", name="verdict", classname="cctest", time="0.000")
        reasons = plain("; ".join(report.verdict.reasons))
        ET.SubElement(case, "error", message=reasons, type=str(report.verdict.outcome))
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _add_properties(suite: ET.Element, report: Report) -> None:
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("version", report.tool_version),
        ("suite", report.suite_version),
        ("digest", report.suite_digest),
        ("target", report.target),
        ("seed", report.seed),
        ("outcome", report.verdict.outcome),
    ):
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=plain(str(value)))


def _add_check(suite: ET.Element, check: Check) -> None:
    cell = cell_name(check.cell)
    case = ET.SubElement(
        suite,
        "testcase",
        name=plain(f"{check.id} [{cell}]" if cell else check.id),
        classname=f"cctest.{check.id.partition('#')[0]}",
        time=f"{check.seconds:.3f}",
    )
    element = _ELEMENTS.get(check.result)
    if element is not None:
        finding = ET.SubElement(case, element, message=plain(check.message), type=str(check.result))
        finding.text = plain(_details(check))
    elif check.result is Result.WARN:
        ET.SubElement(case, "system-out").text = plain(f"warning: {check.message}\n{_details(check)}")


def _details(check: Check) -> str:
    lines = [f"rules: {', '.join(check.rules)}"]
    lines += [
        f"{name}: {text}" for name, text in (("expected", check.expected), ("seen", check.seen)) if text
    ]
    lines += [f"evidence ({item.source}): {item.seen}" for item in check.evidence]
    return "\n".join([*lines, *check.reproduce])
