"""`check-config` says all that is wrong, and `hash-token` what goes into a credentials file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cctest import __version__
from gateway.process import DEMO, ROOT, running
from gateway.talk import Caller, message

TOKEN = "0123456789abcdef-a-token"


def run(*arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "reference_gateway", *arguments]
    return subprocess.run(
        line, cwd=ROOT, input=given, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_good_configuration_is_said_to_be_good() -> None:
    done = run("check-config", "--credentials", str(DEMO), "--max-rate", "100")
    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing is wrong\n", "")


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text(
        "credentials:\n"
        "  - {token: in-the-clear, tenant: a, principal: b}\n"
        "  - {token: '${NOT_SET_ANYWHERE}', tenant: a, principal: c}\n"
        "  - {hash: 'sha256:00:11', tenant: a, principal: d, expires: 2027-01-31}\n"
        "  - {tenant: a, principle: e}\n"
    )
    credentials.chmod(0o644)
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    secret.chmod(0o644)
    done = run(
        *("check-config", "--credentials", str(credentials), "--backend", "vllm"),
        *("--engine-url", "nowhere", "--salt-secret-file", str(secret)),
        *("--engine-key-file", str(tmp_path / "none")),
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for said in (
        "everybody on this machine can read the tokens",
        "line 3, column 13: /credentials/1/token: the environment variable NOT_SET_ANYWHERE is not set",
        "/credentials/2/hash: a hash is sha256:SALT:DIGEST",
        "/credentials/2/expires: must be an instant with its zone, as in 2027-01-31T00:00:00Z",
        "/credentials/3: needs the member principal",
        "/credentials/3/principle: unknown member",
        "/credentials/3: needs one of token and hash",
        "secret: everybody on this machine can read",
        "none: can't be read: No such file",
        "--engine-url: not an address that can be used",
    ):
        assert said in done.stdout
    assert "in-the-clear" not in done.stdout
    assert "\n  export NOT_SET_ANYWHERE=..." in done.stdout


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"reference-gateway {__version__}\n"


def test_options_that_do_not_fit_together_are_said() -> None:
    done = run("check-config", "--credentials", str(DEMO), "--engine-url", "http://h")
    assert done.returncode == 2
    assert "not for the backend embedded: --engine-url" in done.stdout


@pytest.mark.parametrize(
    ("members", "mode", "said"),
    [
        ({"token": "in-the-clear"}, 0o644, "everybody on this machine can read the tokens in this file"),
        ({"token": "in-the-clear"}, 0o604, "everybody on this machine can read the tokens in this file"),
        ({"token": "${PATH_OF_TOKEN}"}, 0o666, "everybody on this machine can write this file"),
    ],
)
def test_the_gateway_does_not_start_with_tokens_that_everybody_can_read(
    tmp_path: Path, members: dict[str, str], mode: int, said: str
) -> None:
    file = tmp_path / "credentials.yaml"
    file.write_text(json.dumps({"credentials": [{**members, "tenant": "a", "principal": "b"}]}))
    file.chmod(mode)
    done = run("serve", "--port", "0", "--credentials", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "in-the-clear" not in done.stderr


def test_a_hashed_token_is_accepted_and_the_hash_is_not(tmp_path: Path) -> None:
    spelt = run("hash-token", given=f"{TOKEN}\n").stdout.strip()
    again = run("hash-token", "--salt", spelt.split(":")[1], given=TOKEN).stdout.strip()
    assert again == spelt
    assert run("hash-token", given=TOKEN).stdout.strip() != spelt
    file = tmp_path / "credentials.yaml"
    file.write_text(f"credentials:\n  - {{hash: '{spelt}', tenant: a, principal: b}}\n")
    with running(credentials=file) as (url, _):
        assert Caller(url, TOKEN).chat(message("x")).http == 200
        for wrong in (spelt, spelt.split(":")[2], TOKEN[:-1], f"{TOKEN}x"):
            assert Caller(url, wrong).chat(message("x")).http == 401


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ("short", (), "can be guessed from its hash"),
        ("", (), "visible ASCII"),
        ("two words and more", (), "visible ASCII"),
        (TOKEN, ("--salt", "xyz"), "a salt is of 8 to 64 bytes"),
    ],
)
def test_what_is_not_worth_hashing_is_refused(given: str, options: tuple[str, ...], said: str) -> None:
    done = run("hash-token", *options, given=given)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
