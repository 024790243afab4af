"""`init`, `doctor` and `probe --dry-run`, and the target file that they and the probe share."""

import json
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import trustme
from local_server import Behaviour, LocalServer, closed_port, local_server
from small_gateway import SmallGateway

from cctest.cli.init import STARTER
from cctest.target.configuration import load_configuration
from cctest.target.credential import Authorization

Serve = Callable[[Behaviour], LocalServer]

NAMES = ("ALICE", "ALICE_AGAIN", "ALICE_NO_SESSION", "BOB", "CAROL", "OTHER_ALICE", "DAVE", "DAVES_PROJECT")
VARIABLES = {name: f"canary-{name.lower().replace('_', '-')}" for name in NAMES}
TENANTS = {VARIABLES[name]: "globex" if name in ("CAROL", "OTHER_ALICE") else "acme" for name in NAMES[:6]}


def cctest(
    folder: Path, *arguments: str, env: Mapping[str, str] = VARIABLES
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cctest", *arguments]
    clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**clean, **env}, timeout=100, check=False
    )
    assert "Traceback" not in done.stderr
    assert "canary" not in done.stdout + done.stderr
    return done


def started(folder: Path, url: str, *more: str) -> None:
    text = STARTER.read_text().replace("https://gateway.example", url)
    (folder / "target.yaml").write_text(text + "".join(f"{line}\n" for line in more))


def test_init_writes_a_file_that_loads(tmp_path: Path) -> None:
    done = cctest(tmp_path, "init")
    assert done.returncode == 0
    assert "cctest doctor --config target.yaml" in done.stdout
    known = load_configuration(tmp_path / "target.yaml", environment=VARIABLES)
    assert len(known.credentials) == 6


@pytest.mark.parametrize("command", [["doctor"], ["probe"], ["probe", "--dry-run"]], ids=" ".join)
def test_every_variable_without_a_value_is_named_at_once(tmp_path: Path, command: list[str]) -> None:
    started(tmp_path, "http://127.0.0.1:9", 'tls: {ca_file: "${AUTHORITY}"}')
    done = cctest(tmp_path, *command, "--config", "target.yaml", env={"BOB": "", "CAROL": VARIABLES["CAROL"]})
    assert done.returncode == 2
    told = re.findall(r"target\.yaml:\d+:\d+: the environment variable (\w+) is (not set|empty)", done.stderr)
    absent = dict.fromkeys((*NAMES[:3], "OTHER_ALICE", "AUTHORITY"), "not set")
    assert dict(told) == absent | {"BOB": "empty"}
    assert len(told) == 6


def test_every_setting_that_init_suggests_is_one(tmp_path: Path) -> None:
    authority, folder = trustme.CA(), tmp_path
    client = authority.issue_cert("client@cctest.example")
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    client.cert_chain_pems[0].write_to_path(str(folder / "client.pem"))
    client.private_key_pem.write_to_path(str(folder / "client.key"))
    text, count = re.subn("^#[|]", "", STARTER.read_text(), flags=re.MULTILINE)
    (folder / "target.yaml").write_text(text)
    known = load_configuration(folder / "target.yaml", environment=VARIABLES)
    assert count == 9
    assert known.authorization == Authorization("X-Api-Key", None)
    assert (known.base_path, known.min_prompt_tokens, known.wait_ready) == ("/openai/v1", 1024, 60)
    assert known.credentials[-1].headers[0].value == VARIABLES["DAVES_PROJECT"]
    assert known.tls.client_key == folder / "client.key"


def test_init_leaves_a_file_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    done = cctest(tmp_path, "init", "mine.yaml")
    assert done.returncode == 2
    assert "mine.yaml: exists and is left alone" in done.stderr
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    assert cctest(tmp_path, "init", "no/where.yaml").returncode == 2


def test_init_writes_to_standard_output(tmp_path: Path) -> None:
    assert cctest(tmp_path, "init", "-").stdout == STARTER.read_text()
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_that_a_full_probe_is_possible(serve: Serve, tmp_path: Path) -> None:
    started(tmp_path, serve(SmallGateway(TENANTS)).url)
    done = cctest(tmp_path, "doctor", "--config", "target.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\nA full probe is possible.\n")


def test_doctor_is_loud_about_two_tenants_that_are_one(serve: Serve, tmp_path: Path) -> None:
    started(tmp_path, serve(SmallGateway(TENANTS, partition=lambda tenant: "")).url)
    done = cctest(tmp_path, "doctor", "--config", "target.yaml")
    assert done.returncode == 3
    assert "ALARM" in done.stdout
    assert "ISOLATION BETWEEN TENANTS IS BROKEN" in " ".join(done.stdout.split())


def test_doctor_ends_as_documented(serve: Serve, tmp_path: Path) -> None:
    gone = cctest(tmp_path, "doctor", "--target", f"http://127.0.0.1:{closed_port()}")
    assert (gone.returncode, gone.stdout) == (4, "")
    started(tmp_path, serve(SmallGateway({})).url)
    refused = cctest(tmp_path, "doctor", "--config", "target.yaml")
    assert refused.returncode == 4
    assert "no credential is accepted" in refused.stdout
    assert cctest(tmp_path, "doctor", "--config", "nowhere.yaml").returncode == 2
    bare = cctest(tmp_path, "doctor", "--target", serve(SmallGateway(TENANTS)).url)
    assert bare.returncode == 2
    assert "list at least two tenants" in bare.stdout


def test_a_key_in_another_header_under_another_path_is_used(serve: Serve, tmp_path: Path) -> None:
    gateway = SmallGateway(TENANTS, header="x-api-key: ", base_path="/openai/v1")
    started(tmp_path, serve(gateway).url, "authorization: {header: X-Api-Key}", "base_path: /openai/v1")
    done = cctest(tmp_path, "doctor", "--config", "target.yaml")
    assert done.returncode == 0, done.stdout


def test_a_server_that_is_starting_is_waited_for(serve: Serve, tmp_path: Path) -> None:
    gateway = SmallGateway(TENANTS)
    turns = iter(range(3))

    def starting(visit: object) -> None:
        if next(turns, None) is None:
            gateway(visit)  # type: ignore[arg-type]
        else:
            visit.respond(b"", status="503 Not Yet")  # type: ignore[attr-defined]

    url = serve(starting).url
    started(tmp_path, url, "wait_ready: 20")
    assert cctest(tmp_path, "doctor", "--config", "target.yaml").returncode == 0
    started(tmp_path, f"http://127.0.0.1:{closed_port()}", "wait_ready: 0.2")
    for command in ("doctor", "probe"):
        done = cctest(tmp_path, command, "--config", "target.yaml")
        assert done.returncode == 4
        assert "wasn't ready within 0.2 s" in done.stderr


def secured(folder: Path, gateway: SmallGateway) -> tuple[ssl.SSLContext, SmallGateway]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context, gateway


def test_a_target_whose_certificate_is_not_checked_is_told_loudly(tmp_path: Path) -> None:
    context, gateway = secured(tmp_path, SmallGateway(TENANTS))
    with local_server(gateway, context) as server:
        started(tmp_path, server.url)
        refused = cctest(tmp_path, "doctor", "--config", "target.yaml")
        insecure = cctest(tmp_path, "doctor", "--config", "target.yaml", "--insecure")
        started(tmp_path, server.url, "tls: {ca_file: ca.pem}")
        trusted = cctest(tmp_path, "doctor", "--config", "target.yaml")
    assert refused.returncode == 4
    assert "no secure connection" in refused.stderr
    assert insecure.returncode == 0
    assert "WARNING: the target's certificate is NOT CHECKED" in insecure.stderr
    assert "INSECURE" in insecure.stdout
    assert (trusted.returncode, trusted.stderr) == (0, "")
    assert "INSECURE" not in trusted.stdout


def test_the_dry_run_sends_nothing(serve: Serve, tmp_path: Path) -> None:
    server = serve(SmallGateway(TENANTS))
    started(tmp_path, server.url, "wait_ready: 20", "rate: {requests_per_second: 5}")
    done = cctest(tmp_path, "probe", "--config", "target.yaml", "--dry-run", "--group", "sharing")
    assert done.returncode == 0
    assert server.connections == 0
    first, *_, last = done.stdout.splitlines()
    assert first.split() == ["group", "cells", "requests", "tokens", "longest", "wait"]
    assert last == "Nothing was sent."
    assert "at most 5 a second" in done.stdout
    assert "(an assumption)" in done.stdout
    assert "3 attempts" in done.stdout
    whole = cctest(tmp_path, "probe", "--bundled", "--dry-run", env={})
    assert whole.returncode == 0
    assert {"sharing", "retention", "intake"} <= {line.split(" ")[0] for line in whole.stdout.splitlines()}


def test_the_dry_run_makes_no_report(tmp_path: Path) -> None:
    done = cctest(tmp_path, "probe", "--bundled", "--dry-run", "--json", "out.json")
    assert done.returncode == 2
    assert "makes no report" in done.stderr


def test_the_probe_goes_where_the_target_file_says(tmp_path: Path) -> None:
    gateway = SmallGateway(TENANTS, header="x-api-key: ", base_path="/openai/v1beta")
    context, gateway = secured(tmp_path, gateway)
    with local_server(gateway, context) as server:
        started(tmp_path, server.url, "authorization: {header: X-Api-Key}", "base_path: /openai/v1beta")
        case = ("--case", "tenant-boundary", "--json", "out.json", "--insecure")
        done = cctest(tmp_path, "probe", "--config", "target.yaml", *case)
        paths = {head.split(b" ")[1].decode() for head, _ in server.requests}
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert paths == {"/openai/v1beta/chat/completions", "/openai/v1beta/cache_intent_capabilities"}
    report = json.loads((tmp_path / "out.json").read_text())
    assert any("INSECURE" in note for note in report["notes"])
    assert report["summary"]["pass"] > 0
    for check in report["checks"]:
        for command in check["reproduce"]:
            assert "/openai/v1beta/chat/completions" in command
            assert "--insecure" in command
            assert '"X-Api-Key: $CCTEST_TOKEN_' in command


@pytest.mark.bundled
def test_the_bundled_gateway_can_be_probed_in_full(tmp_path: Path) -> None:
    done = cctest(tmp_path, "doctor", "--bundled")
    assert done.returncode == 0, done.stdout
