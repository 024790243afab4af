"""Compare what the gateway costs with its engine alone, LiteLLM's proxy and vllm-router, in one run.

    python -m tests.benchmarks.gateway_cost --litellm-venv DIR --vllm-router-venv DIR --out reports

The one that is measured has one core for itself; the engine, a stub that costs next to nothing, and the load share
another one. All take turns, round by round. The primary figure is CPU time for each request, which repeats on a noisy
machine; requests per second and latency don't. The gateway enforces everything: credentials, an intent on
each fragment, a salt from a secret, and the status in its answer. The peers do none of that.
"""

import argparse
import contextlib
import json
import os
import platform
import socket
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import uvloop

from . import load
from .measured_process import Measured, running
from .stub_engine import MODEL

ROOT: Final = Path(__file__).resolve().parents[2]
TOKEN: Final = "fake-acme-bob"
LITELLM_KEY: Final = "sk-fake-key-of-the-benchmark"
CONNECTIONS: Final = 16
SERVER_CORE, LOAD_CORE = 0, 1
GATEWAY, ENGINE, LITELLM, ROUTER = "reference gateway", "engine alone", "LiteLLM proxy", "vllm-router"
TARGETS: Final = {LITELLM: 40, ROUTER: 4}
"""At least so many times LiteLLM's throughput, and at most so many times the router's CPU, for two fragments."""


@dataclass(frozen=True)
class Row:
    """Medians over the rounds of one server and one kind of request. Added times are over the engine alone."""

    fragments: int
    mode: str
    server: str
    cpu_us: float
    requests_per_second: float
    added_p50_ms: float
    added_p99_ms: float
    megabytes: float


@dataclass(frozen=True)
class Round:
    """One round: times are in seconds, for one connection at a time."""

    cpu: float
    rate: float
    p50: float
    p99: float


def body(fragments: int, *, stream: bool) -> bytes:
    """A chat of so many fragments of about 200 characters, each with an intent of its own."""
    constraints = {
        "retention": {"mode": "allow"},
        "reuse": "exact",
        "share_max": "tenant",
        "namespace": "agent:v4",
    }
    messages = [
        {
            "role": "user" if index % 2 else "system",
            "content": f"{index} " + "word " * 40,
            "cache_intent": {"version": 1, "id": f"fragment-{index}", "constraints": constraints},
        }
        for index in range(fragments)
    ]
    request: dict[str, Any] = {"model": MODEL, "messages": messages, "temperature": 0.7, "max_tokens": 16}
    if stream:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    return json.dumps(request).encode()


async def measure(server: Measured, request: bytes, seconds: float) -> Round:
    """Measure one round: first saturated, then one request at a time."""
    before = server.cpu_seconds()
    busy = await load.repeat(server.port, request, connections=CONNECTIONS, seconds=seconds)
    cpu = server.cpu_seconds() - before
    calm = await load.repeat(server.port, request, connections=1, seconds=seconds / 2)
    if server.name == GATEWAY and b'"cache_status"' not in busy.answer:
        raise load.UnexpectedAnswerError(f"no status in {busy.answer!r}")
    times = sorted(calm.taken)
    return Round(
        cpu / len(busy.taken),
        len(busy.taken) / busy.seconds,
        statistics.median(times),
        times[min(len(times) - 1, int(0.99 * len(times)))],
    )


def compare(
    servers: list[Measured], fragments: int, *, stream: bool, rounds: int, seconds: float
) -> list[Row]:
    """Measure all servers with one kind of request, in turns."""
    sent = body(fragments, stream=stream)
    measured: dict[str, list[Round]] = {server.name: [] for server in servers}
    for turn in range(-1, rounds):
        for server in servers:
            token = LITELLM_KEY if server.name == LITELLM else TOKEN
            try:
                one = uvloop.run(measure(server, load.spelt(sent, token), seconds if turn >= 0 else 0.5))
            except load.UnexpectedAnswerError as error:
                raise SystemExit(f"{server.name}, {fragments} fragments: {error}") from error
            if turn >= 0:  # the first turn warms up
                measured[server.name].append(one)
    base = _medians(measured[ENGINE])
    rows = []
    for server in servers:
        one = _medians(measured[server.name])
        rows.append(
            Row(
                fragments,
                "streamed" if stream else "plain",
                server.name,
                one.cpu * 1e6,
                one.rate,
                (one.p50 - base.p50) * 1e3,
                (one.p99 - base.p99) * 1e3,
                server.megabytes(),
            )
        )
    return rows


def _medians(rounds: list[Round]) -> Round:
    columns = zip(*(asdict(one).values() for one in rounds), strict=True)
    return Round(*map(statistics.median, columns))


@contextlib.contextmanager
def servers(options: argparse.Namespace, folder: Path) -> Iterator[list[Measured]]:
    """Run the stub engine and, each on the measured core, whatever stands before it."""
    with contextlib.ExitStack() as stack:

        def start(name: str, command: list[str], **how: Any) -> Measured:
            log = folder / f"{name.replace(' ', '-')}.log"
            return stack.enter_context(running(name, command, log=log, **how))

        stub = [sys.executable, "-m", "tests.benchmarks.stub_engine"]
        engine = start(ENGINE, stub, core=LOAD_CORE)
        url = f"http://127.0.0.1:{engine.port}"
        started = [engine, start(GATEWAY, _gateway(url, folder), core=SERVER_CORE, ready="/readyz")]
        if options.vllm_router_venv:
            command, port = _router(options.vllm_router_venv, url)
            started.append(start(ROUTER, command, core=SERVER_CORE, port=port))
        if options.litellm_venv:
            command, port = _litellm(options.litellm_venv, url, folder)
            environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"}
            started.append(
                start(
                    LITELLM,
                    command,
                    core=SERVER_CORE,
                    port=port,
                    ready="/health/liveliness",
                    environment=environment,
                )
            )
        yield started


def _gateway(url: str, folder: Path) -> list[str]:
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_text("fake secret of the benchmark, long enough")
    credentials = ROOT / "reference_gateway" / "demo" / "credentials.yaml"
    return [
        *(sys.executable, "-m", "reference_gateway", "serve", "--backend", "vllm", "--port", "0"),
        *("--engine-url", url, "--salt-secret-file", str(secret), "--credentials", str(credentials)),
    ]


def _router(venv: Path, url: str) -> tuple[list[str], int]:
    port = _free_port()
    return [
        *(str(venv / "bin" / "vllm-router"), "--worker-urls", url, "--policy", "round_robin"),
        *("--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(_free_port())),
    ], port


def _litellm(venv: Path, url: str, folder: Path) -> tuple[list[str], int]:
    port = _free_port()
    parameters = {"model": f"openai/{MODEL}", "api_base": f"{url}/v1", "api_key": "fake"}
    config = {
        "model_list": [{"model_name": MODEL, "litellm_params": parameters}],
        "general_settings": {"master_key": LITELLM_KEY},
    }
    file = folder / "litellm.yaml"
    file.write_text(json.dumps(config))
    return [
        *(str(venv / "bin" / "litellm"), "--config", str(file), "--host", "127.0.0.1"),
        *("--port", str(port), "--num_workers", "1", "--telemetry", "False"),
    ], port


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def table(rows: list[Row]) -> str:
    """Spell the rows as Markdown."""
    lines = [
        "| fragments | mode | server | CPU us/request | requests/s | added p50 ms | added p99 ms | memory MB |",
        "|---:|---|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.fragments} | {row.mode} | {row.server} | {row.cpu_us:.0f} | {row.requests_per_second:.0f}"
        f" | {row.added_p50_ms:.2f} | {row.added_p99_ms:.2f} | {row.megabytes:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def ratios(rows: list[Row]) -> list[str]:
    """Say how the gateway compares with each peer, and with the targets for two fragments."""
    lines = []
    ours = {(row.fragments, row.mode): row for row in rows if row.server == GATEWAY}
    for row in rows:
        own = ours[row.fragments, row.mode]
        what = f"{row.fragments} fragments, {row.mode}"
        target = f" (target: {TARGETS[row.server]})" if row.fragments == 2 and row.server in TARGETS else ""
        if row.server == LITELLM:
            times = own.requests_per_second / row.requests_per_second
            by_cpu = row.cpu_us / own.cpu_us
            lines.append(f"{what}: {times:.0f} times LiteLLM's requests/s, {by_cpu:.0f} by CPU{target}")
        elif row.server == ROUTER:
            lines.append(f"{what}: {own.cpu_us / row.cpu_us:.1f} times vllm-router's CPU{target}")
    return lines


def compared(options: argparse.Namespace) -> str:
    """Name what was measured, with versions."""
    peers = {"litellm": options.litellm_venv, "vllm_router": options.vllm_router_venv}
    found = [
        folder.name.removesuffix(".dist-info").replace("-", " ")
        for name, venv in peers.items()
        if venv
        for folder in venv.glob(f"lib/python*/site-packages/{name}-*.dist-info")
    ]
    return ", ".join([f"Python {platform.python_version()}", *found])


def main() -> None:
    """Measure, print, and write `gateway-cost.md` and `gateway-cost.json` where `--out` says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--litellm-venv", type=Path, help="environment with litellm[proxy]")
    parser.add_argument("--vllm-router-venv", type=Path, help="environment with vllm-router")
    parser.add_argument("--fragments", type=int, nargs="+", default=[2, 200])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of one round at saturation")
    parser.add_argument("--mode", choices=["plain", "streamed"], help="only this one")
    parser.add_argument("--out", type=Path, help="folder for the report")
    parser.add_argument("--realtime", action="store_true", help="let all other work wait (needs root)")
    options = parser.parse_args()
    os.sched_setaffinity(0, {LOAD_CORE})
    if options.realtime:  # whatever is started inherits it
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, servers(options, Path(folder)) as started:
        for fragments in options.fragments:
            for mode in [options.mode] if options.mode else ["plain", "streamed"]:
                rows += compare(
                    started,
                    fragments,
                    stream=mode == "streamed",
                    rounds=options.rounds,
                    seconds=options.seconds,
                )
    text = "\n".join([f"{compared(options)}.", "", table(rows), "", *(f"- {line}" for line in ratios(rows))])
    print(text)
    if options.out:
        report = {
            "compared": compared(options),
            "rows": [asdict(row) for row in rows],
            "ratios": ratios(rows),
        }
        (options.out / "gateway-cost.json").write_text(json.dumps(report, indent=2) + "\n")
        (options.out / "gateway-cost.md").write_text(f"# What the gateway costs\n\n{__doc__}\n{text}\n")


if __name__ == "__main__":
    main()
