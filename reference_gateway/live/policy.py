"""The four policies that a workload can be played under, on one engine.

- *everything shared*: no salt at all. The most that can be reused, and no isolation;
- *tenant salt*: one partition for each tenant, whatever the texts are;
- *intent, one partition*: what the application said of each fragment, through our gateway, in front of an
  engine with one partition per request: the narrowest boundary is applied to all of it (CAP-6, BND-10);
- *intent, with regions*: the same gateway where the engine has our plugin: a boundary for each fragment.
"""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final, TypeAlias

import requests

from reference_gateway.live.chat import Client
from reference_gateway.live.engine import Engine, NoEngineError
from reference_gateway.live.gateway import Gateway, running_gateway

Clients: TypeAlias = Callable[[int, str], Client]
"""Give who asks for a tenant's number and a principal of it."""


class Policy(StrEnum):
    """What decides who may read whose state."""

    SHARED = "everything shared"
    SALT = "tenant salt"
    INTENT = "intent, one partition"
    REGIONS = "intent, with regions"


_CAPABILITIES: Final = "/v1/cache_intent_capabilities"
_SECONDS: Final = 10.0
_IN_FORCE_SECONDS: Final = 60.0


@contextlib.contextmanager
def all_policies(engine: Engine) -> Iterator[Mapping[Policy, Clients]]:
    """Give, for each policy that `engine` permits, who asks under it: all four if it has our plugin.

    Raises NoEngineError if it has, and the gateway makes nothing of it.
    """
    direct = Client(engine.url, engine.model, engine.headers(), intents=False)
    run = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        policies: dict[Policy, Clients] = {
            Policy.SHARED: lambda _tenant, _principal: direct,
            Policy.SALT: lambda tenant, _: replace(direct, beside={"cache_salt": f"{run}-{tenant}"}),
            Policy.INTENT: stack.enter_context(running_gateway(engine, "--regions", "off")).client,
        }
        if engine.regions() is not None:
            policies[Policy.REGIONS] = stack.enter_context(gateway_with_regions(engine)).client
        yield policies


@contextlib.contextmanager
def gateway_with_regions(engine: Engine) -> Iterator[Gateway]:
    """Run a gateway that has boundaries per fragment. Raises NoEngineError if it doesn't say so in time.

    An engine's first answers are slow, and the gateway believes what it has seen.
    """
    with running_gateway(engine, "--regions", "auto") as gateway:
        deadline = time.monotonic() + _IN_FORCE_SECONDS
        while not _has_boundaries(gateway):
            if time.monotonic() > deadline:
                raise NoEngineError(f"the gateway makes no use of the plugin of the engine at {engine.url}")
            time.sleep(0.5)
        yield gateway


def _has_boundaries(gateway: Gateway) -> bool:
    told = requests.get(gateway.url + _CAPABILITIES, timeout=_SECONDS).json()
    return bool(told["cache_intent_capabilities"].get("per_fragment_share"))
