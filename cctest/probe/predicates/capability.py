"""Predicates about the capabilities object itself."""

from cctest.probe.case import Expectation
from cctest.probe.judgement import Advertised, Judgement, World, failed, passed
from cctest.verdict import Evidence, Result, Source


def capabilities_exposed(expectation: Expectation, world: World) -> Judgement:
    """`GET /v1/cache_intent_capabilities` answers (CAP-1 is a SHOULD; BND-8)."""
    del expectation
    if world.advertised.exposed:
        return passed("exposed", _evidence(world.advertised))
    return failed(
        "the capabilities are not exposed", "HTTP 200", world.advertised.outline, _evidence(world.advertised)
    )


def capabilities_shape(expectation: Expectation, world: World) -> Judgement:
    """What is exposed has the shape of section 2.2, `on_unenforceable` among it (CAP-2, CAP-7)."""
    del expectation
    advertised = world.advertised
    if not advertised.exposed:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {advertised.outline}")
    if advertised.faults:
        return failed(
            "the capabilities object is malformed",
            "the object of section 2.2",
            "; ".join(advertised.faults),
            _evidence(advertised),
        )
    return passed("well-formed", _evidence(advertised))


def _evidence(advertised: Advertised) -> Evidence:
    return Evidence(Source.RESPONSE, f"GET /v1/cache_intent_capabilities: {advertised.outline}")
