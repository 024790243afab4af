"""Conforming implementations in front of an engine that differ from ours in what they ask of it and believe."""

import json
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from reference_gateway.engine.usage import Count

from . import edits, model, seams
from .model import Backend

conforming = partial(model.conforming, backends=(Backend.FORWARDING,))


@conforming(reuses=False)
def a_partition_for_every_request() -> None:
    """It asks the engine for a partition that nobody else has, every time, and says so."""
    seams.LOWER.wrap(
        lambda original: lambda self, plan: replace(original(self, plan), salt=self._salts.fresh())
    )
    edits.edit_entries(lambda entry: {**entry, "effective_share": "request"})


@conforming()
def a_count_of_zero_tells_nothing() -> None:
    """It takes a count of zero for no count, and reports what wasn't reused as unobserved."""

    def make(original: Any) -> Any:
        def read(usage: Any) -> Count | None:
            count: Count | None = original(usage)
            return count if count and count.cached else None

        return read

    seams.READ_COUNT.wrap(make)


@conforming()
def members_of_its_own_on_the_engines_answers() -> None:
    """It adds members of its own to what the engine answered, and to the usage."""

    def make(original: Any) -> Any:
        def answered(self: Any, plan: Any, answer: Any) -> str:
            response = json.loads(original(self, plan, answer))
            if response.get("usage"):
                response["usage"]["cost"] = 0.25
            return json.dumps({**response, "x_gateway": {"node": 7}})

        return answered

    seams.ANSWERED.wrap(make)


@conforming()
def names_of_images_within_a_partition() -> None:
    """It forwards the names that callers give to images, each made another one for each partition."""

    def make(original: Any) -> Any:
        def forwarded(text: str, salt: str | None, **how: Any) -> bytes:
            body = json.loads(original(text, salt, **how))
            for message, sent in zip(body["messages"], json.loads(text)["messages"], strict=True):
                if isinstance(sent.get("content"), list):
                    for part, named in zip(message["content"], sent["content"], strict=True):
                        if "uuid" in named:
                            part["uuid"] = sha256(f"{salt}|{named['uuid']}".encode()).hexdigest()
            return json.dumps(body, ensure_ascii=False).encode()

        return forwarded

    seams.FORWARDED.wrap(make)
