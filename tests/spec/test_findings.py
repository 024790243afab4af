"""spec/findings.md: every entry is whole, can be run, and is found from its reading."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cctest import bundle
from cctest.catalogue import load_catalogue, load_readings
from cctest.cli.main import cli
from cctest.explain.finding import finding_text
from cctest.explain.topic import explain
from cctest.findings import Finding, finding_of, load_findings
from cctest.probe.load import finding_cases, load_cases
from cctest.problem import UsageProblem
from cctest.vectors.load import bundled_vectors, finding_vectors
from cctest.verdict import Exit

ROOT = Path(__file__).resolve().parent.parent.parent
FINDINGS, READINGS, RULES = load_findings(), load_readings(), load_catalogue()
OF_FINDINGS = finding_cases()
CASES = {False: {case.id for case in load_cases()}, True: {case.id for case in OF_FINDINGS}}
VECTORS = {
    False: {vector.name for vector in bundled_vectors()},
    True: {vector.name for vector in finding_vectors()},
}

CHECKS = {check for case in load_cases() for check in case.checks}
RECORDING = {case.id: case.readings for case in (*load_cases(), *OF_FINDINGS)}
EXCLUDED = re.compile(r"\*Excluded by (?P<rule>[A-Z]+-\d+)[^`]*: `(?P<check>[^`]+)` fails it[^*]*\*")
SETTLED = {"F-52"}
"""Entries about two rules that say the same only together: one reading stands, and the text could be plainer."""
BY_CHECK = {"F-20", "F-64"}
"""Entries whose case shows by its results what an implementation does: what the entry says of them is all there is."""

ENTRY = """\
<a id="f-1"></a>

### F-1 (READ-1): one

**Text at issue.** a **Readings.** b **Observable.** c
**Input that tells them apart.** d **Run.** `e` **Our choice.** f **Proposed change.** g
"""


each_finding = pytest.mark.parametrize("finding", FINDINGS.values(), ids=list(FINDINGS))


def options_of(subcommand: str) -> set[str]:
    command = cli.get_command(click.Context(cli), subcommand)
    assert command is not None
    return {name for parameter in command.params for name in parameter.opts}


def test_numbers_have_no_gap_and_stand_in_order() -> None:
    assert list(FINDINGS) == [f"F-{number}" for number in range(1, len(FINDINGS) + 1)]


def test_every_open_question_has_one_finding_and_many_are_our_own() -> None:
    about = [finding.reading for finding in FINDINGS.values() if finding.reading is not None]
    assert sorted(about) == sorted(READINGS)
    assert sum(finding.reading is None for finding in FINDINGS.values()) >= 15


@each_finding
def test_an_entry_says_all_that_it_should(finding: Finding) -> None:
    assert all(finding.parts.values())
    assert finding.parts["Observable"].startswith(("From outside", "At the engine only", "Not at all"))
    options = READINGS[finding.reading].options if finding.reading is not None else ()
    keys = [option.key for option in options] if len(options) > 1 else []
    shown = [each for case in OF_FINDINGS for each in case.readings if each.id == finding.id]
    keys += [key for each in shown for key in each.options.values()]
    assert [key for key in keys if f"`{key}`" not in finding.parts["Readings"]] == []


@each_finding
def test_an_entry_tells_at_least_two_readings_apart(finding: Finding) -> None:
    told = finding.parts["Readings"]
    assert "(b)" in told or re.search(r"[`\w],? or ", told)


@each_finding
def test_an_entry_names_only_rules_readings_and_findings_that_exist(finding: Finding) -> None:
    known = {*RULES, *READINGS, *FINDINGS}
    named = re.findall(r"\b(?:READ|F|(?!UTF)[A-Z]{3}|NS)-[1-9]\d*\b", " ".join(finding.parts.values()))
    assert [name for name in named if name not in known] == []


@each_finding
def test_what_an_entry_runs_exists(finding: Finding) -> None:
    assert finding.commands
    for command in finding.commands:
        program, *arguments = command.split()
        if program == "pytest":
            path, _, test = arguments[0].partition("::")
            assert f"def {test.partition('[')[0]}(" in (ROOT / path).read_text("utf-8")
            continue
        assert program == "cctest"
        given = {word.partition("=")[0] for word in arguments if word.startswith("-")}
        assert given <= options_of(arguments[0])
        names = {"vectors": VECTORS, "probe": CASES}.get(arguments[0])
        if names is not None:
            assert arguments[arguments.index("--case") + 1] in names["--findings" in arguments]


def test_a_search_that_an_entry_runs_is_there_and_the_other_way_round() -> None:
    named = {
        match[1]
        for finding in FINDINGS.values()
        for command in finding.commands
        if (match := re.search(r"first_on\[(F-\d+)\]", command))
    }
    source = (ROOT / "tests/spec/test_findings_readings.py").read_text("utf-8")
    assert named == set(re.findall(r'^ {8}"(F-\d+)",$', source, re.MULTILINE))


@each_finding
def test_a_reading_that_is_excluded_names_the_rule_and_the_check_that_fails_it(finding: Finding) -> None:
    told = finding.parts["Readings"]
    named = [EXCLUDED.match(text) for text in re.findall(r"\*Excluded [^*]*\*", told)]
    assert len(named) == told.lower().count("excluded by")
    for match in named:
        assert match is not None
        assert match["rule"] in RULES
        assert match["check"] in CHECKS | VECTORS[False]
    left_standing = len(re.findall(r"\([a-z]\) ", told)) - len(named)
    assert left_standing >= 2 or not named or finding.id in SETTLED


@each_finding
def test_where_a_probe_records_no_reading_of_an_entry_the_entry_says_so(finding: Finding) -> None:
    for command in finding.commands:
        if command.startswith("cctest probe"):
            case = command.split()[command.split().index("--case") + 1]
            recorded = {each.id for each in RECORDING[case]}
            words = " ".join(finding.parts.values())
            assert (
                recorded & {finding.id, finding.reading}
                or "no reading" in words.lower()
                or finding.id in BY_CHECK
            )


def test_every_input_of_its_own_belongs_to_an_entry() -> None:
    run = " ".join(command for finding in FINDINGS.values() for command in finding.commands)
    words = run.split()
    assert [name for name in CASES[True] | VECTORS[True] if name not in words] == []
    shown = {each.id for case in OF_FINDINGS for each in case.readings}
    assert {name for name in shown if finding_of(name) is None} == set()


def test_inputs_of_findings_are_no_part_of_the_suite() -> None:
    assert not any("findings" in name for name, _ in bundle.suite_files())
    assert CASES[True].isdisjoint(CASES[False])
    assert VECTORS[True].isdisjoint(VECTORS[False])


def test_a_reading_leads_to_its_finding() -> None:
    found = finding_of("READ-12")
    assert found is not None
    assert found is finding_of(found.id)
    assert f"cctest explain {found.id}" in explain("READ-12")
    assert explain(found.id).startswith(f"{found.id} (READ-12): {found.title}")


def test_a_finding_is_explained_whole() -> None:
    for finding in FINDINGS.values():
        told = " ".join("\n".join(finding_text(finding)).split())
        assert told.startswith(f"{finding.id}")
        for name, text in finding.parts.items():
            assert name in told
            assert name == "Run" or " ".join(text.split()) in told
        assert all(f"$ {command}" in told for command in finding.commands)


def test_every_vector_of_a_finding_runs() -> None:
    run = CliRunner().invoke(cli, ["vectors", "--findings"], standalone_mode=False)
    assert (run.exception, run.return_value) == (None, Exit.OK)
    assert "of the selection" in run.output


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('<a id="f-1"></a>', "", "F-1 has no anchor"),
        ("### F-1 (READ-1): one", "### One", "should be `### F-n: title`"),
        (" **Observable.** c", "", "F-1 should have, in this order: Text at issue"),
        ("", ENTRY, "F-1 is there twice"),
    ],
)
def test_an_entry_that_isnt_whole_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = tmp_path / "findings.md"
    path.write_text(ENTRY + new if not old else ENTRY.replace(old, new))
    with pytest.raises(UsageProblem, match=re.escape(told)) as problem:
        load_findings(path)
    assert problem.value.where.startswith(f"{path}:")
