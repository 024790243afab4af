"""How a target file says that the target is reached: TLS, time-outs, rate."""

from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.problem import UsageProblem
from cctest.target.exchange import CONNECT_TIMEOUT, DEFAULT_DEADLINE
from cctest.target.rate import Rate
from cctest.target.target_file import TargetFile
from cctest.target.tls import Tls, check_authorities, check_certificate

_FILES: Final = ("ca_file", "client_certificate", "client_key")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Bounds in seconds: `connect` for connecting to one address, `exchange` for one exchange as a whole."""

    connect: float = CONNECT_TIMEOUT
    exchange: float = DEFAULT_DEADLINE


def read_timeouts(file: TargetFile) -> Timeouts:
    """Read `timeouts`."""
    members = file.object("timeouts")
    return Timeouts(
        connect=number(members.get("connect")) or CONNECT_TIMEOUT,
        exchange=number(members.get("exchange")) or DEFAULT_DEADLINE,
    )


def read_rate(file: TargetFile) -> Rate:
    """Read `rate`."""
    members = file.object("rate")
    return Rate(number(members.get("requests_per_second")), integer(members.get("concurrency")))


def read_tls(file: TargetFile, *, insecure: bool) -> Tls:
    """Read `tls`; its files are opened, so that a mistake shows before anything is sent.

    `insecure` is the command line's word. Raises UsageProblem.
    """
    members = file.object("tls")
    if members.get("insecure") is True and "ca_file" in members:
        raise UsageProblem(
            "`insecure` trusts every certificate, so `ca_file` would mean nothing",
            where=file.place("/tls/insecure"),
            hint="leave out one of them",
        )
    paths = {name: file.beside(members.get(name), f"/tls/{name}") for name in _FILES}
    authorities, certificate, key = (paths[name] for name in _FILES)
    if authorities is not None:
        check_authorities(authorities, file.place("/tls/ca_file"))
    if certificate is not None:
        check_certificate(certificate, key, file.place("/tls/client_certificate"))
    return Tls(authorities, certificate, key, insecure=insecure or members.get("insecure") is True)


def number(value: JsonValue) -> float | None:
    """Give a number as a float; None for no value."""
    return float(value) if isinstance(value, int | float) else None


def integer(value: JsonValue) -> int | None:
    """Give a number that the schema calls an integer; None for no value."""
    return int(value) if isinstance(value, int | float) else None
