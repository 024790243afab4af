"""The proxy that the environment names for a target, if it names one.

HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read here, once and explicitly, in either case; nothing else of the
environment decides where a request goes. A target on the loopback interface is never asked through a proxy.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from cctest.problem import UsageProblem
from cctest.target.credential import Header

PROXY_VARIABLE: Final = "CCTEST_PROXY_PASSWORD"
"""Stands for the proxy's password in all output."""

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: its URL, which may hold a password, and the variable that named it."""

    url: str = field(repr=False)
    variable: str

    @property
    def address(self) -> str:
        """The URL without user and password, to show."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def secret(self) -> Header | None:
        """The password, as something to redact; None if there is none."""
        password = urlsplit(self.url).password
        return Header("Proxy-Authorization", unquote(password), PROXY_VARIABLE) if password else None


def proxy_for(target: str, environment: Mapping[str, str]) -> Proxy | None:
    """Give the proxy that `environment` names for the target's URL, None for a direct connection.

    Raises UsageProblem if what it names is no http or https URL.
    """
    parts = urlsplit(target)
    host = parts.hostname or ""
    name = f"{parts.scheme}_proxy"
    for variable in (name, name.upper()):
        url = environment.get(variable, "").strip()
        if url:
            break
    else:
        return None
    if _is_loopback(host) or _excepted(host, parts.port or _PORTS[parts.scheme], environment):
        return None
    url = url if "://" in url else f"http://{url}"
    if not re.fullmatch(r"https?://[\x21-\x7e]+", url) or not urlsplit(url).hostname:
        raise UsageProblem("is no http or https URL", where=f"the environment variable {variable}")
    return Proxy(url, variable)


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address else host == "localhost" or host.endswith(".localhost")


def _excepted(host: str, port: int, environment: Mapping[str, str]) -> bool:
    """Whether NO_PROXY names the host: by `*`, a name or one above it, an address, or a network."""
    stated = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return any(_matches(entry.strip().lower(), host, port) for entry in stated.split(",") if entry.strip())


def _matches(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    address = _address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry.strip("[]"), strict=False)
        except ValueError:
            pass
    name, _, only = entry.rpartition(":") if re.search(r"[^:]:\d+$", entry) else (entry, "", "")
    if only and int(only) != port:
        return False
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return host == name or (address is None and host.endswith(f".{name}"))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
