"""Attacks by what stands beside the fragments of a request: see `test_live_regions_attacks`."""

import json
from typing import Any

import pytest
import requests

from live.attack import PUBLIC, ask_all, bounds, prompt, schema
from live.site import Site, readable, reused, whole
from reference_gateway.live.chat import Client, Json, intent, message, text, without_intent
from reference_gateway.live.engine import BLOCK_SIZE

NAMED = "everybody's"


def named() -> Json:
    """Members of a body by which the caller names partitions, as the engine would take them."""
    return {"cache_salt": NAMED, "vllm_xargs": {"salt_regions": [0, NAMED], "salt_region_digests": []}}


@pytest.mark.parametrize(
    "spelt",
    [
        lambda body, members: {**body, **members},
        lambda body, members: {**members, **body},
        lambda body, members: {**body, "messages": [{**one, **members} for one in body["messages"]]},
        lambda body, members: {**body, "extra_body": members, "sampling_params": {"extra_args": members}},
    ],
    ids=["behind", "in front", "in messages", "elsewhere"],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_partitions_that_the_caller_names(site: Site, spelt: Any, escaped: bool) -> None:
    """The engine has the text under a salt that the attacker knows."""
    fragments, public, own = prompt()
    limits = bounds(site, fragments, public, own)
    bare = [without_intent(one) for one in fragments]
    members = named()
    direct = Client(site.engine.url, site.engine.model, {})
    assert ask_all([direct, direct], bare, **members)[1] > limits.most
    stranger = site.tenant().owner
    body: Json = {
        "model": site.engine.model,
        "max_tokens": 2,
        "tools": fragments[:1],
        "tool_choice": "none",
        "messages": fragments[1:],
    }
    sent = json.dumps(spelt(body, members))
    if escaped:  # and a number for which the text is edited in another way
        sent = sent.replace("vllm_xargs", "vllm\\u005fxargs").replace("cache_salt", "cach\\u0065_salt")
        sent = sent.replace('"max_tokens": 2', '"max_tokens": 2, "presence_penalty": -0')
    answer = requests.post(
        f"{site.gateway.url}/v1/chat/completions",
        data=sent,
        headers={**stranger.headers, "Content-Type": "application/json"},
        timeout=60,
    )
    told = answer.json()
    assert answer.status_code == 200, told
    assert told["usage"]["prompt_tokens_details"]["cached_tokens"] <= limits.most


@pytest.mark.parametrize("kept", [40, 100, 4000])
def test_truncated_prompts(site: Site, kept: int) -> None:
    """No offset means anything in a prompt whose beginning is cut off."""
    for cut in (
        {"truncate_prompt_tokens": kept},
        {"truncate_prompt_tokens": kept, "truncation_side": "right"},
    ):
        fragments, _, _ = prompt()
        owners = site.tenant()
        ask_all([owners.owner], fragments)
        assert ask_all([owners.owner], fragments, **cut) is not None
        assert ask_all([site.tenant().owner], fragments, **cut) == [0]
        control = owners.colleague.ask(*fragments, **cut)
        assert reused(control) == readable(control)


def test_a_truncated_prompt_is_nothing_to_those_who_do_not_truncate(site: Site) -> None:
    """What is left of the attacker's is the victim's private text, now at the beginning."""
    own = text(10)
    victim = [message(own, "system", intent("tenant"))]
    owners = site.tenant()
    ask_all([owners.owner], victim)
    kept = len(site.tokens(*victim))
    cut = [schema(), message(own, "system", PUBLIC)]
    assert ask_all([site.tenant().owner], cut, truncate_prompt_tokens=kept) == [0]
    assert ask_all([owners.colleague], victim)[0] > 0


@pytest.mark.parametrize("members", [{"use_beam_search": True, "n": 2}, {"n": 3, "temperature": 1.0}])
def test_several_answers_and_beam_search(site: Site, members: Json) -> None:
    """What such a request says it read includes what its own parts read of one another: others tell."""
    several = {**members, "max_tokens": BLOCK_SIZE + 8, "ignore_eos": True}
    fragments, public, own = prompt()
    limits = bounds(site, fragments, public, own)
    owners = site.tenant()
    assert owners.owner.ask(*fragments, **several).http == 200
    assert ask_all([site.tenant().owner], fragments)[0] <= limits.most
    before = site.hits()
    assert site.tenant().owner.ask(*fragments, **several).http == 200
    read = site.hits() - before
    assert ask_all([site.tenant().owner], fragments)[0] <= limits.most
    control = owners.colleague.ask(*fragments)
    if "use_beam_search" in members:
        # Such a request is flat: what it left is in no region. Where it kept the engine from telling that regions
        # are in force, those that follow are flat as well, and find what is their tenant's own.
        assert reused(control) in (whole(limits.least), limits.most, readable(control))
        assert ask_all([owners.colleague], fragments)[0] > limits.most
    else:  # the first answer read what is public, and the others what the first had computed
        assert reused(control) == readable(control)
        assert read <= limits.most + 2 * readable(control)


def test_generated_tokens_continue_the_private_region(site: Site) -> None:
    fragments, public, own = prompt()
    limits = bounds(site, fragments, public, own)
    owners = site.tenant()
    word = next(token for token in site.tokens(message("x a a")) if site.text([token]) == " a")
    answer = owners.owner.ask(
        *fragments, max_tokens=3 * BLOCK_SIZE, ignore_eos=True, allowed_token_ids=[word]
    )
    said = answer.body["choices"][0]["message"]["content"]
    assert said == " a" * 3 * BLOCK_SIZE
    continued = [*fragments, message(said[1:], "assistant"), message("Go on.")]
    assert answer.prompt is not None
    assert ask_all([site.tenant().owner], continued)[0] <= limits.most
    assert ask_all([owners.colleague], continued)[0] >= whole(answer.prompt + BLOCK_SIZE)
    assert ask_all([site.tenant().owner], continued)[0] <= limits.most
