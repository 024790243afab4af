"""Running a faulty or a conforming implementation, and probing it."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Final

from cctest.instrument.settings import Settings
from cctest.probe.bundled import EMBEDDED, make_credentials
from cctest.probe.case import Case
from cctest.probe.run import ProbePlan, run_probe
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.target.credential import Credential

from .model import Backend

ROOT: Final = Path(__file__).resolve().parents[2]


def probe(
    name: str, cases: Iterable[Case], *, seed: int = 1, jobs: int = 4, engine: str | None = None
) -> Report:
    """Start the implementation called `name`, run the cases against it, and stop it.

    It forwards to the instrumented engine at the URL `engine`, if there is one, and is probed at both ends.
    """
    chosen = tuple(cases)
    credentials = make_credentials()
    model = EMBEDDED if engine is None else Settings().model
    with running(name, credentials, engine) as url:
        configuration = Configuration(target=url, model=model, credentials=credentials)
        plan = ProbePlan(configuration, chosen, len(chosen), seed, jobs, engine=engine)
        return run_probe(plan, lambda _: None)


@contextmanager
def running(name: str, credentials: Sequence[Credential], engine: str | None = None) -> Iterator[str]:
    """Run an implementation in a process of its own and give its URL. Raises RuntimeError if it won't start."""
    with TemporaryDirectory(prefix="cctest-faulty-") as folder:
        known = Path(folder, "credentials.yaml")
        known.touch(mode=0o600)
        known.write_text(json.dumps({"credentials": [_entry(credential) for credential in credentials]}))
        command = [sys.executable, "-m", "tests.faulty", name]
        command += ["--port", "0", "--credentials", str(known), "--stop-with-stdin", "--log", "problems"]
        if engine is not None:
            secret = Path(folder, "secret")
            secret.touch(mode=0o600)
            secret.write_text(token_hex(32))
            command += ["--backend", Backend.FORWARDING, "--engine-url", engine]
            command += ["--salt-secret-file", str(secret)]
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            if process.stdout is None or process.stdin is None:
                raise RuntimeError(f"{name} has no standard streams")
            try:
                line = process.stdout.readline().strip()
                if not line.startswith("listening on "):
                    raise RuntimeError(f"{name} didn't start: {line or 'see its standard error'}")
                yield line.removeprefix("listening on ")
            finally:
                process.stdin.close()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise


def _entry(credential: Credential) -> dict[str, str]:
    entry = {"token": credential.token, "tenant": credential.tenant, "principal": credential.principal}
    return entry | ({"session": credential.session} if credential.session else {})
