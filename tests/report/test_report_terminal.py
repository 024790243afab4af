import re
from typing import Any

from cctest.report.model import Report
from cctest.report.terminal import terminal_text
from cctest.verdict import Check, Evidence, Reading, Result, Source, decide

WORDINGS = {"RET-3": "Old state must not be read.", "POL-2": "Only inside the boundary."}


def check(result: Result, number: int = 0, rules: tuple[str, ...] = ("RET-3",), **members: Any) -> Check:
    return Check(
        f"case-{number}#expectation", rules, result, members.pop("message", f"why {result}"), **members
    )


def text(*checks: Check, report: dict[str, Any] | None = None, **options: Any) -> str:
    made = Report("probe", "2026-12-01T04:05:06+00:00", 1.25, decide(checks), checks, **(report or {}))
    return terminal_text(made, WORDINGS, **options)


def test_a_passing_run_is_short() -> None:
    shown = text(check(Result.PASS, 1, ("CMP-1",)), check(Result.PASS))
    assert shown == (
        "rules   pass\nRET        1\nCMP        1\nall        2\n\n"
        "note: core: 2 pass; extended: no checks\n\nconformant: 2 pass, 1.2 s\n"
    )


def test_quiet_leaves_the_verdict_alone() -> None:
    shown = text(check(Result.FAIL), check(Result.PASS), quiet=True)
    assert shown.startswith("nonconformant: 1 pass, 1 fail, 1.2 s; ")
    assert shown.count("\n") == 1


def test_a_failure_is_told_in_full() -> None:
    shown = text(
        check(
            Result.FAIL,
            rules=("RET-3", "POL-2"),
            message="was reused",
            expected="a miss",
            seen="a hit",
            cell={"stream": "plain"},
            evidence=(Evidence(Source.CANARY, "mark 17"),),
            reproduce=("curl " + "x" * 300, "curl second"),
        )
    )
    for part in (
        "FAIL  case-0#expectation\n",
        "stream=plain",
        "RET-3     Old state must not be read.",
        "POL-2     Only inside the boundary.",
        "message   was reused",
        "expected  a miss",
        "seen      a hit",
        "evidence  canary: mark 17",
        "reproduce curl " + "x" * 300 + "\n",
        "            curl second\n",
    ):
        assert part in shown


def test_the_same_failure_in_several_cells_is_told_once() -> None:
    shown = text(*(check(Result.FAIL, cell={"place": place}) for place in ("tools", "messages")))
    assert shown.count("FAIL  ") == 1
    assert "place=tools; place=messages" in shown


def test_undecided_checks_are_grouped_by_reason() -> None:
    shown = text(
        *(check(Result.INCONCLUSIVE, number, message="no reuse was seen") for number in range(7)),
        check(Result.UNSUPPORTED, 8, message="capabilities say so"),
        check(Result.PASS),
    )
    assert shown.count("no reuse was seen") == 1
    assert "     7  no reuse was seen" in shown
    assert "case-3#expectation and 3 more" in shown
    assert "capabilities say so" in shown
    assert "\nincomplete: 1 pass, 1 unsupported, 7 inconclusive" in shown


def test_vacuous_passes_are_noted_with_their_own_reasons() -> None:
    never, untold = "the engine never reuses", "time told nothing"
    shown = text(
        *(check(Result.PASS, number, message=never, vacuous=True) for number in range(2)),
        check(Result.PASS, 3, message=untold, vacuous=True),
        check(Result.PASS, 4, message="held"),
    )
    assert f"note: 2 of the passes are vacuous: {never}\n" in shown
    assert f"note: 1 of the passes is vacuous: {untold}\n" in shown
    assert shown.count("vacuous") == 2


def test_readings_notes_and_the_seed_are_shown() -> None:
    readings = tuple(Reading(f"READ-{number}", "yes", "case#x") for number in (10, 9, 10))
    shown = text(
        check(Result.PASS), report={"readings": readings, "notes": ("mind this",), "unasserted": 2, "seed": 5}
    )
    assert shown.index("READ-9 ") < shown.index("READ-10")
    assert "case#x and 1 more" not in shown
    assert re.search(r"READ-9 +yes +F-29 +case#x", shown)
    assert "note: mind this" in shown
    assert "2 members of effective policies were answered and not judged" in shown
    assert "seed 5" in shown


def test_without_colour_there_are_no_escape_codes() -> None:
    checks = [check(result, number) for number, result in enumerate(Result)]
    assert "\x1b" not in text(*checks)
    assert "\x1b[" in text(*checks, colour=True)


def test_what_a_server_sent_cannot_steer_the_terminal() -> None:
    shown = text(
        check(Result.FAIL, message="a\x1b]0;title\x07b \u202eabc [bold]x[/bold]", seen="[red]"), colour=False
    )
    assert "\x1b" not in shown
    assert r"a\x1b]0;title\x07b \u202eabc [bold]x[/bold]" in shown
    assert "[red]" in shown
