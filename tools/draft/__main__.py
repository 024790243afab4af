"""`make draft`: render the drafts, and fail for what a checker says and nothing argues for."""

import argparse
import sys
import tempfile
from pathlib import Path

from cctest.problem import UsageProblem
from tools.draft.nits import judge, load_arguments
from tools.draft.render import Rendered, RenderingFailed, render
from tools.draft.toolchain import Toolchain, ToolsMissing, find_toolchain

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "spec"
ARGUMENTS = Path(__file__).with_name("nits.yaml")


def main() -> int:
    """Render all drafts, or none if one can't be."""
    parser = argparse.ArgumentParser(prog="python -m tools.draft", description=__doc__)
    parser.add_argument("--tools", type=Path, default=Path(".draft"), help="where make draft installed them")
    parser.add_argument("--out", type=Path, default=Path("build/draft"), help="where the outputs go")
    options = parser.parse_args()
    try:
        rendered = _render_all(find_toolchain(options.tools.resolve()), options.out)
        arguments = load_arguments(ARGUMENTS)
    except (ToolsMissing, RenderingFailed, UsageProblem) as problem:
        sys.stderr.write(f"error: {problem}\n")
        return 2
    nits = [(each.name, nit) for each in rendered for nit in each.nits]
    left = list(judge(nits, arguments))
    sys.stdout.writelines(f"{line}\n" for line in left)
    names = ", ".join(each.name for each in rendered)
    told = f"{len(nits)} nits, {len(left) or 'none'} without an argument"
    sys.stdout.write(f"{names} in {options.out}: {told}\n")
    return 1 if left else 0


def _render_all(tools: Toolchain, out: Path) -> list[Rendered]:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        drafts = sorted(SPEC.glob("draft-*.md"), key=lambda each: each.stem)
        rendered = [render(draft, SPEC / "refcache", Path(folder), tools) for draft in drafts]
        for each in rendered:
            for file in each.files:
                file.replace(out / file.name)
    return rendered


if __name__ == "__main__":
    sys.exit(main())
