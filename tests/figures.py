"""Figures in documents that the files in reports/ say: written by `make reports`, never typed by hand."""

import json
import re
from pathlib import Path
from typing import Any

from cctest.mutation.text import percent

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- figures, by make reports -->\n).*?(<!-- end of figures -->)", re.DOTALL)
REGIONS = re.compile(
    r"(<!-- figures of regions, by make reports -->\n).*?(<!-- end of figures of regions -->)", re.DOTALL
)
DOCUMENTS = ("README.md", "spec/regions.md")


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
    left = f"{figures['unkillable']} that are argued to differ in nothing forbidden, {figures['statuses']['broke']} that only crash"
    return f"{told}, not counting {left}; {percent(figures['strict'])} of all"


def regions() -> str:
    """What each policy came to on a real vLLM: policies.json, ttft.json and mix.json in a table."""
    totals, first, mixed = (
        {
            entry["policy"]: entry
            for entry in json.loads((ROOT / "reports" / f"{name}.json").read_bytes())[members]
        }
        for name, members in (("policies", "totals"), ("ttft", "policies"), ("mix", "policies"))
    )
    rows = [
        f"| {policy} | {total['share_of_ceiling']:.0%} | {total['not_permitted_tokens']:,} |"
        f" {_seconds(first[policy]['median'])} | {mixed[policy]['hit_rate']:.0%} |"
        f" {_seconds(mixed[policy]['most_within'])} |\n"
        for policy, total in totals.items()
    ]
    header = "| policy | new tenant's share | not permitted | first token | hit rate | 90 % within |\n"
    return f"{header}|---|---|---|---|---|---|\n{''.join(rows)}"


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def document(name: str) -> str:
    """A document as it ought to be."""
    text = (ROOT / name).read_text("utf-8")
    text = BLOCK.sub(lambda match: f"{match[1]}{coverage()}{mutation()}{match[2]}", text)
    return REGIONS.sub(lambda match: f"{match[1]}{regions()}{match[2]}", text)


if __name__ == "__main__":
    for each in DOCUMENTS:
        made = document(each)
        (ROOT / each).write_text(made, "utf-8")
