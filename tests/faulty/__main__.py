"""`python -m tests.faulty NAME OPTIONS`: the gateway with one patch, its options those of `serve`."""

import sys

from reference_gateway import app  # noqa: F401 - loaded before the patch, which looks for it
from reference_gateway.cli import main

from .catalogue import BY_NAME


def run(arguments: list[str]) -> int:
    """Apply the patch that is named first, then run the gateway; gives its exit code."""
    if not arguments or arguments[0] not in BY_NAME:
        print("\n".join(f"{one.id:45} {type(one).__name__.lower()}" for one in BY_NAME.values()))
        return 2
    name, *options = arguments
    BY_NAME[name].patch()
    return main(["serve", *options])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
