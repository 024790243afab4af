"""Print what the gateway adds to its engine: HTTP, intake, planning and status, for 2, 20 and 200 fragments.

Run it from the repository with `python tests/benchmarks/gateway_latency.py`. Engine and gateway take turns within one
run on the same prompts, both warm; figures are medians over rounds of each round's median.
"""

import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from cctest.contract.sharing import Context  # noqa: E402 - the line above makes it importable
from reference_gateway.in_process.embedded import EmbeddedBackend  # noqa: E402
from reference_gateway.in_process.render import render  # noqa: E402
from reference_gateway.plan import make_plan  # noqa: E402
from reference_gateway.request.intake import read_chat_request  # noqa: E402

ROUNDS = 7
CALLS = 60
TOKEN = "fake-acme-bob"
CREDENTIALS = ROOT / "reference_gateway" / "demo" / "credentials.yaml"


def request_body(fragments: int) -> bytes:
    """A chat of so many fragments, each of about 200 characters and with an intent of its own."""
    intent: dict[str, Any] = {
        "version": 1,
        "constraints": {
            "retention": {"mode": "allow", "max_age": 3600},
            "reuse": "exact",
            "share_max": "tenant",
        },
    }
    messages = [
        {"role": "user", "content": f"{index} " + "word " * 40, "cache_intent": {**intent, "id": str(index)}}
        for index in range(fragments)
    ]
    return json.dumps({"model": "embedded", "messages": messages}).encode()


def median_milliseconds(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e3


def measure(connection: http.client.HTTPConnection, fragments: int) -> tuple[float, float]:
    """Give the milliseconds of one request to the engine in this process, and of one through the gateway."""
    body = request_body(fragments)
    engine = EmbeddedBackend()
    plan = make_plan(
        read_chat_request(body), Context("acme", "bob"), "r", engine.capabilities, engine.order("")
    )

    def in_process() -> None:
        engine.compute(plan, [render(planned.fragment) for planned in plan.fragments])

    def through_gateway() -> None:
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"the gateway answered {response.status}: {response.read().decode()}")
        response.read()

    in_process()
    through_gateway()
    rounds = [(median_milliseconds(in_process), median_milliseconds(through_gateway)) for _ in range(ROUNDS)]
    return statistics.median(one for one, _ in rounds), statistics.median(two for _, two in rounds)


def main() -> None:
    command = [sys.executable, "-m", "reference_gateway", "serve", "--port", "0", "--stop-with-stdin"]
    with subprocess.Popen(
        [*command, "--credentials", str(CREDENTIALS)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise SystemExit("the gateway has no pipes")
        address = process.stdout.readline().decode().strip().rpartition("//")[2]
        connection = http.client.HTTPConnection(address, timeout=60)
        print(
            f"{'fragments':>9}  {'engine ms':>9}  {'gateway ms':>10}  {'added ms':>8}  {'added us/fragment':>17}"
        )
        for fragments in (2, 20, 200):
            engine, gateway = measure(connection, fragments)
            added = gateway - engine
            print(
                f"{fragments:>9}  {engine:>9.3f}  {gateway:>10.3f}  {added:>8.3f}  {added / fragments * 1e3:>17.0f}"
            )
        connection.close()
        process.stdin.close()


if __name__ == "__main__":
    main()
