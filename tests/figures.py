"""Figures in README.md that the files in reports/ say: written by `make reports`, never typed by hand."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- figures, by make reports -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def coverage() -> str:
    """The line of reports/coverage.md that counts the rules which one run or another tested."""
    text = (ROOT / "reports" / "coverage.md").read_text("utf-8")
    (figures,) = re.findall(r"^\*\*Together\*\*: (.*)\.$", text, re.MULTILINE)
    return f"- [Coverage](reports/coverage.md): {figures}.\n"


def readme() -> str:
    """README.md as it ought to be."""
    text = (ROOT / "README.md").read_text("utf-8")
    return BLOCK.sub(lambda match: f"{match[1]}{coverage()}{match[2]}", text)


if __name__ == "__main__":
    made = readme()
    (ROOT / "README.md").write_text(made, "utf-8")
