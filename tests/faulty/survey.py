"""`python -m tests.faulty.survey [NAME...]`: what the whole probe makes of each implementation.

Of a fault: where the checks meant for it missed it, and what else failed that rests on other rules. Of a
conforming variant: what failed.
"""

import sys
from collections import Counter
from collections.abc import Sequence

from cctest.instrument.client import running_engine
from cctest.verdict import Check

from .catalogue import BY_NAME
from .findings import all_cases, failures, wrong
from .model import Backend, Fault, Variant
from .process import probe


def main(names: Sequence[str]) -> int:
    """Probe the named implementations, or all, and print a line or more about each; 1 if something is wrong."""
    found = 0
    with running_engine() as engine:
        for name in names or BY_NAME:
            one = BY_NAME[name]
            for backend in _backends(one):
                found += _tell(one, backend, None if backend is Backend.EMBEDDED else engine)
    return int(bool(found))


def _backends(one: Fault | Variant) -> tuple[Backend, ...]:
    return (one.backend,) if isinstance(one, Fault) else one.backends


def _tell(one: Fault | Variant, backend: Backend, engine: str | None) -> int:
    jobs = one.jobs if isinstance(one, Variant) else 4
    report = probe(one.id, all_cases(), jobs=jobs, engine=engine)
    counts = Counter(str(check.result) for check in report.checks)
    print(f"{one.id} {backend.name.lower()}: {dict(counts)} {report.seconds:.1f} s", flush=True)
    found = _wrong(one, report.checks)
    for line in found:
        print(f"   {line}", flush=True)
    return len(found)


def _wrong(one: Fault | Variant, checks: Sequence[Check]) -> list[str]:
    return wrong(one, checks) if isinstance(one, Fault) else failures(checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
