"""Who a request is sent as: a token, and the identity that it stands for at the target."""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Header:
    """A header that the configuration adds to requests.

    `variable` stands for the value in all output; it is None where the value is no secret.
    """

    name: str
    value: str = field(repr=False)
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Credential:
    """A token and the authenticated context (BND-5) that the target derives from it.

    `session` is None where the credential has none to share in (SHR-1). `headers` are sent beside the token.
    The token is never shown: output has `variable` in its place.
    """

    name: str
    token: str = field(repr=False)
    tenant: str
    principal: str
    session: str | None = None
    headers: tuple[Header, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that stands for the token in curl commands and redacted text."""
        return shell_variable("CCTEST_TOKEN", self.name)


@dataclass(frozen=True, slots=True)
class Authorization:
    """How a token travels: in which header, and behind which scheme if any."""

    header: str = "Authorization"
    scheme: str | None = "Bearer"

    def value(self, token: str) -> str:
        """Give the header's value for a token."""
        return f"{self.scheme} {token}" if self.scheme else token


def shell_variable(prefix: str, name: str) -> str:
    """Make a shell variable's name out of a free name (`tenant-a` gives `<prefix>_TENANT_A`)."""
    return f"{prefix}_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}"
