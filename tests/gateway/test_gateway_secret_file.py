"""Files with secrets: what is refused, and how it is said."""

import subprocess
from pathlib import Path

import pytest

from gateway.process import ROOT, command
from reference_gateway.callers.secret_file import read_key, read_secret
from reference_gateway.problem import ConfigurationError


def file(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    made = folder / "secret"
    made.write_bytes(content)
    made.chmod(mode)
    return made


@pytest.mark.parametrize("content", [b"0123456789abcdef", b"0123456789abcdef\n", b"0123456789abcdef\r\n"])
def test_one_newline_at_the_end_is_no_part_of_a_secret(tmp_path: Path, content: bytes) -> None:
    assert read_secret(file(tmp_path, content), least=16) == b"0123456789abcdef"


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640])
def test_a_secret_may_be_readable_by_its_group(tmp_path: Path, mode: int) -> None:
    assert read_secret(file(tmp_path, b"x" * 32, mode)) == b"x" * 32


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"", 0o600, "the secret is empty"),
        (b"\n", 0o600, "the secret is empty"),
        (b"  \n", 0o600, "the secret is empty"),
        (b"short\n", 0o600, "the secret has 5 bytes; it must have 16"),
        (b"x" * 5000, 0o600, "it must have 16 to 4096"),
        (b"x" * 32, 0o644, "everybody on this machine can read"),
        (b"x" * 32, 0o602, "everybody on this machine can read or write"),
    ],
)
def test_a_bad_secret_is_refused_in_words(tmp_path: Path, content: bytes, mode: int, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        read_secret(file(tmp_path, content, mode), least=16)


def test_a_missing_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_secret(tmp_path / "none")


@pytest.mark.parametrize("content", [b"two words", b"\xff\xfe", b"a\nb"])
def test_a_key_must_fit_in_a_header(tmp_path: Path, content: bytes) -> None:
    assert read_key(file(tmp_path, b"sk-1\n")) == "sk-1"
    with pytest.raises(ConfigurationError, match="visible ASCII"):
        read_key(file(tmp_path, content))


def refused(*options: str) -> str:
    done = subprocess.run(
        [*command(), *options], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


ENGINE = ("--backend", "vllm", "--engine-url", "http://127.0.0.1:9")


def test_the_gateway_does_not_start_with_a_secret_that_everybody_can_read(tmp_path: Path) -> None:
    readable = file(tmp_path, b"fake secret that is long enough", 0o644)
    said = refused(*ENGINE, "--salt-secret-file", str(readable))
    assert said.startswith(f"reference-gateway: {readable}: everybody on this machine can read")
    assert "fake secret" not in said


@pytest.mark.parametrize("option", ["--salt-secret-file", "--engine-key-file"])
def test_the_gateway_does_not_start_without_the_secret_it_was_told_of(tmp_path: Path, option: str) -> None:
    assert "can't be read: No such file" in refused(*ENGINE, option, str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--backend", "vllm"), "the backend vllm needs --engine-url"),
        (("--engine-url", "http://127.0.0.1:9"), "not for the backend embedded: --engine-url"),
        ((*ENGINE, "--capacity-blocks", "9"), "not for the backend vllm: --capacity-blocks"),
        (("--backend", "vllm", "--engine-url", "127.0.0.1:9"), "--engine-url: not an address"),
        (("--backend", "vllm", "--engine-url", "http://h:99999"), "--engine-url: not an address"),
        (("--backend", "vllm", "--engine-url", "http://u:p@h"), "--engine-key-file"),
        ((*ENGINE, "--engine-deadline", "0"), "--engine-deadline"),
        ((*ENGINE, "--without-intent", "public"), "--without-intent"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_words(options: tuple[str, ...], said: str) -> None:
    assert said in refused(*options)
