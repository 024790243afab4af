"""`cctest validate`: documents of the three kinds, also inside Markdown."""

from collections.abc import Sequence

import click

from cctest.contract.vocabulary import Kind
from cctest.documents import Finding, find_documents, read_source
from cctest.problem import UsageProblem
from cctest.report.destination import complain, say
from cctest.report.plain import plain
from cctest.verdict import Exit


@click.command("validate", short_help="Check documents.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in Kind]),
    help="What the documents are; found out by their wrapper member otherwise.",
)
def command(*, files: Sequence[str], kind: str | None) -> Exit:
    """Check cache_intent, cache_intent_capabilities and cache_status documents.

    FILE is JSON, YAML, Markdown (every fenced json block that holds one of the three objects), or - for
    standard input. In a whole chat request each intent is checked. Prints one line per fault: file, line,
    column, JSON pointer, message. An example in Markdown under `<!-- invalid: INT-12 -->` must break that
    rule and nothing else.
    """
    wanted = Kind(kind) if kind else None
    findings: list[Finding] = []
    problems: list[UsageProblem] = []
    for name in files:
        try:
            findings += find_documents(read_source(name), wanted)
        except UsageProblem as problem:
            problems.append(problem)
    say("".join(f"{plain(line)}\n" for finding in findings for line in finding.lines))
    for told in problems:
        complain(f"error: {plain(str(told))}\n")
    faulty = [finding for finding in findings if finding.faults]
    checked = [finding for finding in findings if finding.kind is not None]
    if not checked and not problems:
        complain(f"error: {plain(', '.join(files))}: no fenced json block holds one of {', '.join(Kind)}\n")
    say(f"{len(checked)} document{'' if len(checked) == 1 else 's'} checked, {len(faulty)} with faults\n")
    if faulty:
        return Exit.FAILED
    return Exit.USAGE if problems or not checked else Exit.OK
