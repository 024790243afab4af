"""What regions and their digests add to vLLM's hashing of a prompt: our plugin's benchmark, on each vLLM.

The benchmark runs in the engine's environment, where the plugin is. It is in the source tree only.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from reference_gateway.live.chat import Json
from reference_gateway.live.engine import VENV, NoEngineError
from reference_gateway.live.figures import paragraph, table

BENCHMARK: Final = Path(__file__).parents[1] / "vllm_cache_regions" / "tests" / "benchmark.py"

_SECONDS: Final = 300.0
_STOCK: Final = "stock"
_PATCHED: Final = "patched, three regions"
MOST_ADDED: Final = 1.0
"""Milliseconds that regions and digests may add at 4,096 tokens."""


@dataclass(frozen=True, slots=True)
class Hashing:
    """One vLLM: milliseconds by block size and by what was hashed, for a prompt of so many tokens."""

    engine: str
    tokens: int
    milliseconds: dict[str, dict[str, float]]

    @property
    def most_added(self) -> float:
        """What regions and digests add at most, in milliseconds."""
        return max(each[_PATCHED] - each[_STOCK] for each in self.milliseconds.values())


def hashing(environments: Sequence[Path]) -> tuple[Hashing, ...]:
    """Measure with the vLLM of each environment, or with that of `make vllm`. Raises NoEngineError."""
    given = environments or (Path(os.environ.get(VENV, ".vllm")),)
    return tuple(_measured(environment.absolute()) for environment in given)


def markdown(measured: Sequence[Hashing]) -> str:
    """Render the times as tables."""
    parts = ["# Hashing with regions", f"Measured on {_day()}.", paragraph(_WHAT)]
    for one in measured:
        kinds = list(next(iter(one.milliseconds.values())))
        rows = [
            (block, *(f"{times[kind]:.2f}" for kind in kinds)) for block, times in one.milliseconds.items()
        ]
        verdict = "As expected" if as_expected(one) else "NOT AS EXPECTED"
        told = f"Regions and digests add at most {one.most_added:.2f} ms. {verdict}: below {MOST_ADDED:g} ms."
        parts += [f"## vLLM {one.engine}, {one.tokens} tokens", table(("", *kinds), rows), paragraph(told)]
    return "\n\n".join(parts)


def document(measured: Sequence[Hashing]) -> Json:
    """Give the times as a JSON value."""
    return {
        "day": _day(),
        "engines": [
            {"engine": f"vLLM {one.engine}", "tokens": one.tokens, "milliseconds": one.milliseconds}
            for one in measured
        ],
    }


def as_expected(one: Hashing) -> bool:
    """Whether regions add little enough."""
    return one.most_added < MOST_ADDED


_WHAT: Final = """\
Milliseconds for the hashes of all blocks of one prompt, as the engine makes them of a request: vLLM as it is,
with the plugin's function in place, and with three regions whose two digests are compared. All of it in one
run, in turn, the lowest of five medians; without a model, so that it is the same for any."""


def _measured(environment: Path) -> Hashing:
    python = environment / "bin" / "python"
    if not python.exists() or not BENCHMARK.exists():
        missing = BENCHMARK if python.exists() else python
        raise NoEngineError(f"there is no {missing}: run `make vllm` in the source tree")
    ended = subprocess.run(  # noqa: S603 - our own command, no shell
        [str(python), str(BENCHMARK)], capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    start = ended.stdout.find("{\n")
    if start < 0:
        raise NoEngineError(f"{BENCHMARK.name} gave no figures:\n{ended.stderr[-2000:]}")
    told = json.loads(ended.stdout[start:])
    return Hashing(told["vllm"], told["tokens"], told["milliseconds"])


def _day() -> str:
    return datetime.now(UTC).date().isoformat()
