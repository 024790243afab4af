"""A finding in words: as `spec/findings.md` has it, for a terminal."""

from collections.abc import Iterator

from cctest.explain.page import heading, item, line
from cctest.findings import Finding


def finding_text(finding: Finding) -> Iterator[str]:
    """Yield the lines of a finding."""
    about = f" ({finding.reading})" if finding.reading is not None else ""
    yield from line(f"{finding.id}{about}: {finding.title}")
    for name, text in finding.parts.items():
        yield from heading(name)
        if name == "Run":
            for command in finding.commands:
                yield from item("$", command)
        else:
            yield from line(text)


def pointer_to(finding: Finding) -> Iterator[str]:
    """Yield the lines that lead from a reading to its finding."""
    yield from heading("What we found")
    yield from item("-", f"{finding.id}: {finding.title} (cctest explain {finding.id})")
