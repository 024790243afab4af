"""64 clients of 8 tenants on shared prompts, in front of a real vLLM: nobody reads over a boundary."""

import os

from gateway.crowd import Crowd, Someone

from reference_gateway.live.gateway import Gateway

TENANTS = 8
CLIENTS = 4
"""Of each of a tenant's two principals."""
SECONDS = float(os.environ.get("LIVE_LOAD_SECONDS", "60"))


def test_64_clients_of_8_tenants_share_nothing_and_find_their_own(gateway: Gateway) -> None:
    everyone = [
        Someone(f"tenant-{tenant}", principal, "s1", client, token)
        for (tenant, principal), token in gateway.tokens.items()
        if tenant < TENANTS
        for client in range(CLIENTS)
    ]
    report = Crowd(gateway.url, gateway.model, everyone, words=500).run(SECONDS)
    print(report)
    assert len(everyone) == 64
    assert report.wrong == []
    assert set(report.statuses) == {200}
    assert min(report.cold, report.warm, report.contested) > 0
