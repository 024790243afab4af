"""What checkers say of the drafts fails `make draft`, unless it is argued; and so does an argument without a nit."""

import json
from pathlib import Path

import pytest

from cctest.problem import UsageProblem
from tools.draft.__main__ import ARGUMENTS
from tools.draft.nits import Argument, Nit, judge, load_arguments, nits_of
from tools.draft.render import RenderingFailed, render
from tools.draft.toolchain import Toolchain, ToolsMissing, find_toolchain

IPR = Argument("INVALID_IPR_VALUE", "", "it is no Internet-Draft")
DOWN = Argument("POSSIBLE_DOWNREF", "RFC 6234", "it defines SHA-256")


def test_what_nothing_argues_for_is_told() -> None:
    nits = [("draft-x-00", Nit("INVALID_IPR_VALUE", "none")), ("draft-x-00", Nit("TOO_LONG", "line 7"))]
    assert list(judge(nits, [IPR])) == ["draft-x-00: TOO_LONG: line 7"]


def test_an_argument_covers_what_it_is_about() -> None:
    nits = [
        ("draft-x-00", Nit("POSSIBLE_DOWNREF", f"RFC {number} is informational")) for number in (6234, 9999)
    ]
    assert list(judge(nits, [DOWN])) == ["draft-x-00: POSSIBLE_DOWNREF: RFC 9999 is informational"]


def test_an_argument_goes_stale() -> None:
    assert list(judge([], [IPR, DOWN])) == [
        "stale: no draft has INVALID_IPR_VALUE any more; take its argument out",
        "stale: no draft has POSSIBLE_DOWNREF about 'RFC 6234' any more; take its argument out",
    ]


def test_what_depends_on_the_day_never_goes_stale() -> None:
    old = Argument("DOC_DATE_IN_PAST", "", "it is the date of the text", sometimes=True)
    assert list(judge([], [old])) == []
    assert list(judge([("draft-x-00", Nit("DOC_DATE_IN_PAST", "9 days"))], [old])) == []


def test_comments_of_idnits_count_too() -> None:
    nit = {"severity": "ValidationComment", "code": "X", "desc": "said", "path": "rfc.back"}
    assert list(nits_of(json.dumps({"nits": [nit]}))) == [Nit("X", "said (rfc.back)")]


def test_every_argument_has_its_reason(tmp_path: Path) -> None:
    assert all(len(argument.because) > 20 for argument in load_arguments(ARGUMENTS))
    (tmp_path / "nits.yaml").write_text("- code: X\n- {code: Y, because: z}\n")
    with pytest.raises(UsageProblem, match="has `code` and `because`"):
        load_arguments(tmp_path / "nits.yaml")


def test_what_is_missing_is_named_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolsMissing) as told:
        find_toolchain(tmp_path)
    assert [line.split()[0] for line in str(told.value).splitlines()[1:]] == [
        "kramdown-rfc",
        "xml2rfc",
        "idnits",
        "node",
    ]
    assert "apt-get install ruby-kramdown-rfc2629" in str(told.value)


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_warnings_and_remote_resources_are_nits(tmp_path: Path) -> None:
    """The programs are stand-ins here; `make draft` runs the real ones."""
    page = '<link href="https://fonts.example/x.css" rel="stylesheet"><a href="https://example.org">'
    (tmp_path / "xml2rfc.css").write_text("@import url('https://fonts.example');\nbody {}\n")
    tools = Toolchain(
        program(tmp_path / "kramdown", 'echo \'<rfc docName="draft-x-00">\'; echo "*** warning: odd" >&2'),
        program(
            tmp_path / "xml2rfc",
            f"cd {tmp_path}; grep -q import draft.css && exit 1; echo '{page}' > draft-x-00.html; "
            'echo " Created file x" >&2',
        ),
        tmp_path / "xml2rfc.css",
        program(tmp_path / "idnits", "echo '{\"nits\": []}'"),
    )
    rendered = render(tmp_path / "x.md", tmp_path, tmp_path, tools)
    assert rendered.name == "draft-x-00"
    assert rendered.nits == (
        Nit("kramdown-rfc", "*** warning: odd"),
        Nit("remote", '<link href="https://fonts.example/x.css" rel="stylesheet">'),
    )


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    failing = program(tmp_path / "kramdown", "echo 'line 3: no' >&2; exit 4")
    with pytest.raises(RenderingFailed, match="ended in 4:\nline 3: no"):
        render(tmp_path / "x.md", tmp_path, tmp_path, Toolchain(failing, failing, failing, failing))
