"""`python -m cctest.mutation.child CHANGE PROOF MODULE OPTIONS...`: run a module with one source changed.

CHANGE is a JSON file with what `patching.install` takes, or an empty object for no change. When the changed
module is really loaded, its name is written to the file PROOF.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

from cctest.mutation.patching import install


def run(arguments: list[str]) -> None:
    """Install the change and run the module as `python -m` would."""
    change_file, proof, module, *options = arguments
    change: dict[str, Any] = json.loads(Path(change_file).read_text(encoding="utf-8"))
    if change:
        install(change, lambda: _prove(proof, change["module"]))
    sys.argv = [module, *options]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _prove(path: str, module: str) -> None:
    Path(path).write_text(module, encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1:])
