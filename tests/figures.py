"""Figures in README.md that the files in reports/ say: written by `make reports`, never typed by hand."""

import json
import re
from pathlib import Path
from typing import Any

from cctest.mutation.text import percent

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- figures, by make reports -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def coverage() -> str:
    """The line of reports/coverage.md that counts the rules which one run or another tested."""
    text = (ROOT / "reports" / "coverage.md").read_text("utf-8")
    (figures,) = re.findall(r"^\*\*Together\*\*: (.*)\.$", text, re.MULTILINE)
    return f"- [Coverage](reports/coverage.md): {figures}.\n"


def mutation() -> str:
    """How many mutants of each family reports/mutation.json and its like say were killed."""
    lines = ""
    for name, words in (("mutation", "Mutation"), ("mutation-generated", "Generated mutants")):
        path = ROOT / "reports" / f"{name}.json"
        if path.exists():
            report = json.loads(path.read_bytes())
            told = (_killed(family, each) for family, each in report["summary"].items() if each["total"])
            of_gateway = any(one["where"].startswith("reference_gateway") for one in report["mutants"])
            lines += f"- [{words}](reports/{name}.md){'' if of_gateway else ', of the core only'}: {'; '.join(told)}.\n"
    return lines


def _killed(family: str, figures: dict[str, Any]) -> str:
    kinds = {
        "rule": "rules inverted",
        "schema": "schema keywords left out",
        "golden": "golden values altered",
    }
    killed = figures["statuses"]["killed"]
    told = f"{killed} of {figures['total']} {kinds.get(family, 'made')} killed ({percent(figures['score'])})"
    if family != "generated":
        return told
    left = f"{figures['unkillable']} that differ in nothing forbidden, {figures['statuses']['broke']} that only crash"
    return f"{told}, not counting {left}"


def readme() -> str:
    """README.md as it ought to be."""
    text = (ROOT / "README.md").read_text("utf-8")
    return BLOCK.sub(lambda match: f"{match[1]}{coverage()}{mutation()}{match[2]}", text)


if __name__ == "__main__":
    made = readme()
    (ROOT / "README.md").write_text(made, "utf-8")
