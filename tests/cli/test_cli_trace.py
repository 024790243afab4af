"""`cctest trace` as a whole command: in this checkout, in a copy of it with something taken out, and its page."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("cctest", "reference_gateway", "schemas", "spec", "vectors")


def trace(*arguments: str, root: Path, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "cctest", "trace", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root)},
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all that the command reads, itself included."""
    root = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def replaced(path: Path, was: str, becomes: str) -> str:
    """Replace a text that occurs once; give the file as it was."""
    before = path.read_text("utf-8")
    assert before.count(was) == 1
    path.write_text(before.replace(was, becomes), "utf-8")
    return before


def told(root: Path, path: Path, was: str, becomes: str, *reports: str) -> list[str]:
    """Give what isn't tied while `was` reads `becomes`; it has to be something."""
    before = replaced(path, was, becomes)
    try:
        code, out, _ = trace("--quiet", *reports, root=root, cwd=root)
    finally:
        path.write_text(before, "utf-8")
    assert code == 1
    *lines, last = out.splitlines()
    assert last.endswith(f": {len(lines)} not tied")
    return [line.removeprefix("UNTIED  ") for line in lines]


def stating(root: Path, rule: str) -> tuple[Path, int, str]:
    """Give the one sentence that states a rule: its file, its first line, and its source."""
    ((path, found),) = [
        (path, match)
        for path in sorted((root / "spec").glob("draft-*.md"))
        for match in re.finditer(rf"[^.\n][^.]*MUST[^.]*\({rule}\)\.", path.read_text("utf-8"))
    ]
    return path, path.read_text("utf-8").count("\n", 0, found.start()) + 1, found[0]


def test_everything_is_tied_from_any_folder(tmp_path: Path) -> None:
    code, out, err = trace(root=ROOT, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].endswith(": everything is tied")
    assert re.search(r"^RET-1 MUST  spec/draft-cache-intent\.md:\d+; \d+ vectors, ", out, re.MULTILINE)


def test_without_a_normative_sentence(checkout: Path) -> None:
    path, _, sentence = stating(checkout, "RET-4")
    unstated, gone = told(checkout, path, sentence, "")
    assert unstated == "RET-4: a MUST, and no sentence of a draft states it"
    assert gone.startswith(f"RET-4: spec/{path.name} lacks a normative sentence that spec/sentences.md has: ")


def test_without_one_of_several_sentences_of_a_rule(checkout: Path) -> None:
    path = checkout / "spec" / "draft-cache-intent-chat.md"
    (source,) = re.findall(r"In that case the status[^(]*\(BND-10\)\.", path.read_text("utf-8"))
    sentence = " ".join(source.split())
    assert told(checkout, path, source, "") == [
        "BND-10: spec/draft-cache-intent-chat.md lacks a normative sentence that spec/sentences.md has: "
        f'"{sentence}"; if that is meant, `make sentences`'
    ]


def test_the_record_is_written_anew_where_a_change_is_meant(checkout: Path) -> None:
    path = checkout / "spec" / "draft-cache-intent-chat.md"
    record = checkout / "spec" / "sentences.md"
    was = record.read_text("utf-8")
    before = replaced(path, "In that case the status of", "Then the status of")
    try:
        assert trace("--quiet", root=checkout, cwd=checkout)[0] == 1
        assert trace("--quiet", "--sentences", str(record), root=checkout, cwd=checkout)[0] == 0
        assert trace("--quiet", root=checkout, cwd=checkout)[0] == 0
        assert record.read_text("utf-8") == was.replace("In that case the status of", "Then the status of")
    finally:
        path.write_text(before, "utf-8")
        record.write_text(was, "utf-8")


def test_without_an_identifier_in_a_sentence(checkout: Path) -> None:
    path, number, sentence = stating(checkout, "RET-4")
    untagged = re.sub(r"\s*\(RET-4\)", "", sentence)
    first, second, third = told(checkout, path, sentence, untagged)
    assert first == (
        f"spec/{path.name}:{number}: says MUST NOT and ends in no identifier of a rule: "
        f'"{" ".join(untagged.split())}"'
    )
    assert second == "RET-4: a MUST, and no sentence of a draft states it"
    assert third.startswith(
        f"RET-4: spec/{path.name}:{number} has other words than spec/sentences.md, and no longer ends in RET-4: "
    )


def test_without_an_identifier_in_the_catalogue(checkout: Path) -> None:
    lines = told(checkout, checkout / "spec" / "requirements.yaml", "- id: RET-4\n", "- id: RET-40\n")
    assert "RET-40: a MUST, and no sentence of a draft states it" in lines
    assert any(
        line.startswith("spec/draft-cache-intent.md:")
        and "names RET-4, which is no rule of requirements.yaml" in line
        for line in lines
    )


def test_without_a_vectors_reference_to_a_rule_that_others_hold(checkout: Path) -> None:
    head = "name: digest-separates-where-text-is-cut\n    kind: digest\n    rules: "
    path = checkout / "vectors" / "digest.yaml"
    report = str(ROOT / "reports" / "vectors.json")
    assert told(checkout, path, f"{head}[DIG-1, NS-1]", f"{head}[DIG-1]", report) == [
        "vector digest-separates-where-text-is-cut: was tied to NS-1 in the run vectors, "
        "and no longer names it"
    ]


def test_without_the_only_reference_of_a_check_to_a_rule(checkout: Path) -> None:
    path = checkout / "vectors" / "behaviour" / "capabilities.yaml"
    assert told(checkout, path, "        rules: [CAP-1, BND-8]", "        rules: [CAP-1]") == [
        "BND-8: a MUST that can be observed (response), and no check of a case judges it"
    ]


def test_a_vectors_reference_to_a_rule_that_there_is_not(checkout: Path) -> None:
    head = "name: digest-of-nothing-is-no-digest\n    kind: digest\n    rules: "
    path = checkout / "vectors" / "digest.yaml"
    (line,) = told(checkout, path, f"{head}[DIG-3]", f"{head}[DIG-3, DIG-9]")
    assert line.startswith("vector digest-of-nothing-is-no-digest: names DIG-9, which is no rule (")


def test_without_any_draft(checkout: Path) -> None:
    drafts = sorted((checkout / "spec").glob("draft-*.md"))
    for path in drafts:
        path.rename(path.with_suffix(".txt"))
    code, out, err = trace(root=checkout, cwd=checkout)
    for path in drafts:
        path.with_suffix(".txt").rename(path)
    assert (code, out) == (2, "")
    assert "there is no draft" in err


def test_it_is_written_as_json_and_as_a_page(tmp_path: Path) -> None:
    report = str(ROOT / "reports" / "vectors.json")
    code, out, err = trace(report, "--json", "trace.json", "--html", "-", root=ROOT, cwd=tmp_path)
    assert code == 0
    assert err.endswith(": everything is tied\n")
    assert out.startswith("<!DOCTYPE html>\n")
    written = json.loads((tmp_path / "trace.json").read_text("utf-8"))
    (rule,) = [rule for rule in written["rules"] if rule["id"] == "DIG-1"]
    assert rule["results"] == {"vectors": "pass"}
    assert rule["sentences"][0] in {sentence["where"] for sentence in written["sentences"]}
    assert written["untied"] == []
