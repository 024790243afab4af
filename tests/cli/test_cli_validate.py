"""`cctest validate` as a whole command."""

import subprocess
import sys
from pathlib import Path

import pytest

CONSTRAINTS = '{"retention": {"mode": "allow", "max_age": 60}, "reuse": "exact", "share_max": "tenant"}'
INTENT = f'{{"cache_intent": {{"version": 1, "constraints": {CONSTRAINTS}}}}}'
BAD_INTENT = INTENT.replace('"exact"', '"exactly"')
STATUS = '{"cache_status": [{"outcome": "miss", "constraint_result": "satisfied"}]}'
YAML_CAPABILITIES = (
    "cache_intent_capabilities:\n  versions: [1]\n  constraints: {}\n  on_unenforceable: reject\n"
)


def validate(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cctest", "validate", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, cwd=cwd, timeout=60)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_good_documents_of_every_kind_pass(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(INTENT)
    (tmp_path / "b.json").write_text(STATUS)
    (tmp_path / "c.yaml").write_text(YAML_CAPABILITIES)
    assert validate("a.json", "b.json", "c.yaml", cwd=tmp_path) == (
        0,
        "3 documents checked, 0 with faults\n",
        "",
    )


def test_a_fault_is_told_with_place_pointer_and_rule(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(BAD_INTENT.replace('"reuse"', '\n"reuse"'))
    code, out, _ = validate("a.json", cwd=tmp_path)
    assert code == 1
    assert out.startswith("a.json:2:10: /cache_intent/constraints/reuse: ")
    assert "[INT-12]" in out.splitlines()[0]


def test_standard_input_is_read(tmp_path: Path) -> None:
    assert validate("-", stdin=INTENT.encode())[0] == 0
    assert validate("-", stdin=YAML_CAPABILITIES.encode())[0] == 0
    assert validate("-", stdin=BAD_INTENT.encode())[0] == 1
    assert validate("-", stdin=f"```json\n{BAD_INTENT}\n```\n".encode())[0] == 1


def test_a_duplicate_name_is_a_fault_of_the_document() -> None:
    code, out, _ = validate(
        "-", stdin=INTENT.replace('"version": 1', '"version": 1, "v\\u0065rsion": 1').encode()
    )
    assert code == 1
    assert "/cache_intent/version" in out
    assert "[INT-10]" in out


def test_markdown_blocks_are_checked_and_others_listed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        f"# Good\n\n```json\n{INTENT}\n```\n\n- Bad\n\n  ```json\n  {BAD_INTENT}\n  ```\n\n"
        f"```json\n{CONSTRAINTS}\n```\n\n```json\n{{ ... }}\n```\n\n```yaml\nno: json\n```\n"
    )
    code, out, _ = validate("a.md", cwd=tmp_path)
    lines = out.splitlines()
    assert code == 1
    assert lines[0].startswith(
        f"a.md:10:{BAD_INTENT.index('exactly') + 2}: /cache_intent/constraints/reuse: "
    )
    assert lines[1].startswith("a.md:14:1: not validated: holds none of ")
    assert lines[2].startswith("a.md:18:3: not validated: ")
    assert lines[3:] == ["2 documents checked, 1 with faults"]


def test_a_chat_fragment_is_judged_by_its_intent_alone(tmp_path: Path) -> None:
    fragment = f'{{"role": "user", "content": "hi", {INTENT[1:]}'
    assert validate("-", stdin=fragment.encode())[0] == 0
    code, out, _ = validate("-", stdin=fragment.replace('"exact"', '"maybe"').encode())
    assert code == 1
    assert "/cache_intent/constraints/reuse" in out


def chat(*fragments: str) -> bytes:
    return f'{{"model": "m", "tools": [{fragments[0]}], "messages": [{", ".join(fragments[1:])}]}}'.encode()


def test_each_intent_of_a_chat_request_is_checked() -> None:
    tool, message = (
        f'{{"type": "function", {INTENT[1:]}',
        f'{{"role": "user", "content": "hi", {INTENT[1:]}',
    )
    plain = '{"role": "user", "content": [{"type": "text", "text": "hi"}]}'
    assert validate("-", stdin=chat(tool, plain, message))[:2] == (0, "2 documents checked, 0 with faults\n")
    code, out, _ = validate("-", stdin=chat(tool, plain, message.replace('"exact"', '"maybe"')))
    assert code == 1
    assert out.startswith("-:1:")
    assert "/messages/1/cache_intent/constraints/reuse: " in out
    assert out.endswith("[INT-12]\n2 documents checked, 1 with faults\n")


def test_in_a_chat_request_an_intent_on_a_part_and_a_name_given_twice_are_faults() -> None:
    part = f'{{"role": "user", "content": [{{"type": "text", "text": "hi", {INTENT[1:]}]}}'
    code, out, _ = validate("-", stdin=chat("1", part))
    assert (code, "/messages/0/content/0/cache_intent: " in out, "[BND-3]" in out) == (1, True, True)
    twice = f'{{"role": "user", "content": "hi", {INTENT[1:-1]}, {INTENT[1:]}'
    code, out, _ = validate("-", stdin=chat("1", twice))
    assert (code, "[INT-10]" in out) == (1, True)


def test_a_chat_request_without_an_intent_holds_no_document() -> None:
    code, _, err = validate("-", stdin=chat("1", '{"role": "user", "content": "hi"}'))
    assert (code, "holds none of cache_intent, " in err) == (2, True)


def test_the_kind_can_be_told() -> None:
    code, out, _ = validate("--kind", "cache_status", "-", stdin=INTENT.encode())
    assert code == 1
    assert "cache_status" in out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{", "a.json:1:2: "),
        ("a.json", b"", "a.json:1:1: "),
        ("a.json", b'{"a": 1}', "holds none of cache_intent, "),
        ("a.yaml", b"a: [1\nb: 2", "a.yaml:"),
        ("a.yaml", b"\xff", "a.yaml:1:1: "),
        ("a.md", b"\n\n\xff", "a.md:3: is no UTF-8"),
        ("a.json", b" " * 50_000_000, "larger than 10,000,000 bytes"),
    ],
    ids=["cut", "empty", "other", "broken-yaml", "yaml-bytes", "markdown-bytes", "huge"],
)
def test_what_is_no_document_is_a_usage_problem(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    code, _, err = validate(name, cwd=tmp_path)
    assert code == 2
    assert message in err
    assert err.startswith("error: a.")


def test_missing_files_and_directories_are_usage_problems(tmp_path: Path) -> None:
    assert validate("none.json", cwd=tmp_path)[0] == 2
    assert "this is a directory" in validate(".", cwd=tmp_path)[2]


def test_markdown_without_a_document_is_not_green(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Nothing\n")
    code, _, err = validate("a.md", cwd=tmp_path)
    assert code == 2
    assert err.startswith("error: a.md: no fenced json block holds one of cache_intent, ")


@pytest.mark.parametrize(
    ("rule", "intent", "code"), [("INT-12", BAD_INTENT, 0), ("INT-7", BAD_INTENT, 1), ("INT-12", INTENT, 1)]
)
def test_an_example_breaks_just_the_rule_that_is_marked(rule: str, intent: str, code: int) -> None:
    text = f"<!-- invalid: {rule} -->\n\n```json\n{intent}\n```\n"
    done, out, _ = validate("-", stdin=text.encode())
    assert (done, f"-:4:1: is marked as breaking {rule} and nothing else: " in out) == (code, code == 1)


def test_a_fault_wins_over_an_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(BAD_INTENT)
    code, _, err = validate("none.json", "a.json", cwd=tmp_path)
    assert code == 1
    assert "none.json" in err
