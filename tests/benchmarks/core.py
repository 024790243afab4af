"""Prints how fast the core composes and the bundled vectors run. A benchmark, not a test.

python -m tests.benchmarks.core
"""

import statistics
import time
from collections.abc import Callable

from cctest.contract.composition import Composer
from cctest.contract.intent import Constraints, Retention
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope
from cctest.vectors.load import bundled_vectors
from cctest.vectors.run import run_vectors

ROUNDS = 7


def median_seconds(work: Callable[[], object]) -> float:
    def once() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return statistics.median(once() for _ in range(ROUNDS))


def composition(fragments: int) -> Callable[[], object]:
    retention = Retention(RetentionMode.ALLOW, 3600)
    wide = [
        Constraints(retention, Reuse.EXACT, Scope.TENANT, f"{number:n<256}") for number in range(fragments)
    ]

    def compose() -> None:
        composer = Composer()
        for constraints in wide:
            composer.add(constraints)

    return compose


def main() -> None:
    print(f"medians of {ROUNDS} rounds")
    for fragments in (10, 1_000, 10_000):
        seconds = median_seconds(composition(fragments))
        print(
            f"composition of {fragments:>6} fragments, 256-character namespaces: {seconds * 1e3:8.2f} ms, "
            f"{1 / seconds:10.1f} compositions/s, {seconds / fragments * 1e6:.2f} us per fragment"
        )
    vectors = bundled_vectors()
    seconds = median_seconds(lambda: run_vectors(vectors))
    print(f"{len(vectors)} bundled vectors: {seconds * 1e3:.1f} ms, {len(vectors) / seconds:.0f} vectors/s")


if __name__ == "__main__":
    main()
