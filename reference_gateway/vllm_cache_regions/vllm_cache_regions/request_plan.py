"""The plan of a request of the engine core: made at the first look, kept on the request, never an exception.

An exception here would end the engine. So whatever is wrong with the regions of a request, it has one salt:
that of its `cache_salt`, or a random one if it has none.
"""

import logging
import secrets
from typing import Any, Final

from vllm_cache_regions.carrier import BadRegionsError, Carried, Region, carries_regions, parse_regions
from vllm_cache_regions.counters import FallBack
from vllm_cache_regions.engine_state import STATE
from vllm_cache_regions.plan import Plan, bound_plan, flat_plan

_PLAN: Final = "_cache_regions_plan"
_UNREADABLE: Final = (Region(0, "", 0),)
"""Nobody knows what bound was meant: so none is loose enough to reuse anything."""

_log = logging.getLogger("vllm.cache_regions")


def plan_of(request: Any) -> Plan | None:
    """Give the plan of a vLLM `Request`; None if it has nothing to do with regions."""
    known: dict[str, Any] = request.__dict__
    if _PLAN not in known:
        known[_PLAN] = _plan_or_flat(request)
    plan: Plan | None = known[_PLAN]
    return plan


def _plan_or_flat(request: Any) -> Plan | None:
    try:
        return _planned(request)
    except Exception:
        _log.exception("Regions of a request could not be applied; it has one salt instead")
        return _flat(request, FallBack.INTERNAL_ERROR, _UNREADABLE)


def _planned(request: Any) -> Plan | None:
    extra_args = getattr(request.sampling_params, "extra_args", None)
    if not carries_regions(extra_args):
        return None
    try:
        carried = parse_regions(extra_args)
    except BadRegionsError:
        return _flat(request, FallBack.MALFORMED, _UNREADABLE)
    hindrance = _hindrance(request)
    if hindrance is not None:
        return _flat(request, hindrance, carried.regions)
    return _bound(request, carried)


def _bound(request: Any, carried: Carried) -> Plan:
    plan, kept = bound_plan(carried, request.prompt_token_ids, request.cache_salt)
    if kept == len(carried.digests):
        STATE.counters.applied()
    else:
        STATE.counters.fallen_back(FallBack.DIGEST_MISMATCH, kept=kept)
    return plan


def _hindrance(request: Any) -> FallBack | None:
    """Say what about a request regions have not been verified with."""
    if not request.cache_salt:
        return FallBack.NO_CACHE_SALT
    if STATE.doubts:
        return FallBack.UNPROVEN_ENGINE
    if request.lora_request is not None:
        return FallBack.LORA
    if request.mm_features:
        return FallBack.MULTIMODAL
    if request.prompt_token_ids is None or request.prompt_embeds is not None:
        return FallBack.EMBEDDINGS
    return None


def _flat(request: Any, why: FallBack, replaced: tuple[Region, ...]) -> Plan:
    STATE.counters.fallen_back(why)
    if not request.cache_salt:
        request.cache_salt = secrets.token_hex(16)
    return flat_plan(request.cache_salt, replaced)
