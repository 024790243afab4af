"""How the target's certificate is checked, and which certificate of ours it is shown."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from cctest import bounded
from cctest.problem import UsageProblem


@dataclass(frozen=True, slots=True)
class Tls:
    """What a secure connection rests on.

    `ca_file` holds the authorities (PEM) that are trusted instead of the public ones. The target is shown
    `client_certificate` with `client_key` (PEM, unencrypted; the key may be in the certificate's file).
    `insecure` takes any certificate: whoever is on the way can then read and change everything, tokens too.
    """

    ca_file: Path | None = None
    client_certificate: Path | None = None
    client_key: Path | None = None
    insecure: bool = False

    @property
    def verify(self) -> bool | str:
        """The `verify` argument of `requests`."""
        if self.insecure:
            return False
        return str(self.ca_file) if self.ca_file else True

    @property
    def certificate(self) -> str | tuple[str, str] | None:
        """The `cert` argument of `requests`."""
        if self.client_certificate is None:
            return None
        if self.client_key is None:
            return str(self.client_certificate)
        return str(self.client_certificate), str(self.client_key)


def check_authorities(ca_file: Path, where: str) -> None:
    """Find out that a file holds authorities. Raises UsageProblem."""
    _refuse_endless(ca_file, where)
    try:
        ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError:
        raise UsageProblem("no certificates are in this file", where=where, hint="PEM is wanted") from None
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=where) from None


def check_certificate(certificate: Path, key: Path | None, where: str) -> None:
    """Find out that a client certificate can be used with its key. Raises UsageProblem, quoting neither."""
    for file in (certificate, key):
        if file is not None:
            _refuse_endless(file, where)
    # A password would be asked for at the terminal, in the middle of the run.
    try:
        ssl.create_default_context().load_cert_chain(certificate, key, password=_refuse)
    except _EncryptedKeyError:
        raise UsageProblem(
            "the client key is encrypted", where=where, hint="give it unencrypted, readable by you alone"
        ) from None
    except ssl.SSLError:
        raise UsageProblem(
            "the client certificate and its key are no pair in PEM",
            where=where,
            hint="`client_key` names the key unless it is in the certificate's file",
        ) from None
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=where) from None


def _refuse_endless(file: Path, where: str) -> None:
    """Refuse what the TLS library would read without end; it is the one that reads it, and by its name."""
    bounded.read(file, where=where, hint="PEM is wanted")


class _EncryptedKeyError(Exception):
    pass


def _refuse() -> str:
    raise _EncryptedKeyError
