"""Start the gateway as the process that it is in earnest."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "reference_gateway" / "demo" / "credentials.yaml"


def command(*options: str, credentials: Path = DEMO) -> list[str]:
    return [
        sys.executable,
        *("-m", "reference_gateway", "serve", "--backend", "embedded", "--port", "0"),
        *("--credentials", str(credentials), "--log", "problems"),
        *options,
    ]


@contextmanager
def running(
    *options: str, credentials: Path = DEMO, log: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a gateway that ends when its stdin does; give its address and the process.

    `log` is a file for its standard error.
    """
    with ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen(
                command("--stop-with-stdin", *options, credentials=credentials),
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if log is None else stack.enter_context(log.open("ab")),
            )
        )
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            line = process.stdout.readline().decode()
            assert line.startswith("listening on http://127.0.0.1:"), line
            yield line.split()[-1], process
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
