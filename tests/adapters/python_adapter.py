"""An adapter in Python: how an implementation, here our own core, is wired up to spec/adapter.md."""

import json
import sys
from base64 import b64decode
from decimal import Decimal
from typing import Any

from cctest import __version__
from cctest.contract.capabilities import read_capabilities, unenforceable
from cctest.contract.composition import compose, policy_to_json
from cctest.contract.digest import namespace_digest
from cctest.contract.documents import core_faults
from cctest.contract.eligibility import eligible
from cctest.contract.hints import report_hints
from cctest.contract.intent import CacheIntent, IntentError, read_intent
from cctest.contract.sharing import Context, RetainedState, boundary, may_read, published_boundary
from cctest.contract.source import SourceError
from cctest.contract.strict_json import loads
from cctest.contract.vocabulary import Kind, Scope

BEYOND = {"reject": "reject", "bypass": "fresh_no_retention_fallback"}


def read(intent: str) -> CacheIntent:
    try:
        return read_intent(loads(intent))
    except SourceError as error:
        raise IntentError((error.fault,)) from error


def number(digits: str | None) -> Any:
    return None if digits is None else Decimal(digits)


def answer_validate(kind: str, base64: str) -> Any:
    try:
        faults = core_faults(loads(b64decode(base64)), Kind(kind))
    except SourceError as error:
        faults = (error.fault,)
    return {"valid": not faults, "pointers": [fault.pointer for fault in faults]}


def answer_compose(fragments: list[str | None]) -> Any:
    constraints = [None if text is None else read(text).constraints for text in fragments]
    policies: list[Any] = [policy_to_json(policy) for policy in compose(constraints)]
    for policy in policies:
        if policy is not None and "max_age" in policy["retention"]:
            policy["retention"]["max_age"] = str(policy["retention"]["max_age"])
    return {"policies": policies}


def answer_intake(intent: str, capabilities: str | None) -> Any:
    try:
        asked = read(intent)
    except IntentError:
        return {"result": "reject"}
    if capabilities is not None:
        advertised = read_capabilities(loads(capabilities))
        if asked.version not in advertised.versions:
            return {"result": "reject"}
        if unenforceable(advertised, asked.constraints):
            return {"result": BEYOND[advertised.on_unenforceable]}
    return {"result": "served"}


def answer_admit(retained: dict[str, Any], requester: dict[str, Any]) -> Any:
    made_by, asked_by = (
        Context(one["tenant"], one["principal"], one["session"]) for one in (retained, requester)
    )
    recorded = boundary(Scope(retained["scope"]), made_by, retained["request"])
    digests = [namespace_digest(one["namespaces"]) for one in (retained, requester)]
    state = RetainedState(
        recorded, digests[0], number(retained["materialized_at"]), number(retained["max_age"])
    )
    admitted = may_read(state, asked_by, requester["request"], digests[1], number(requester["now"]))
    published = published_boundary(
        recorded, boundary(Scope(requester["share_max"]), asked_by, requester["request"])
    )
    return {"may_read": admitted, "boundary": published and published.scope}


OPERATIONS: dict[str, Any] = {
    "hello": lambda protocol: {"protocol": 1, "name": "cctest's core by an adapter", "version": __version__},
    "validate": answer_validate,
    "digest": lambda namespaces: {"digest": namespace_digest(namespaces)},
    "identity": lambda same_input, first, second: {
        "match": same_input and namespace_digest(first) == namespace_digest(second)
    },
    "compose": answer_compose,
    "intake": answer_intake,
    "hints": lambda intent, reuse_within_max: {
        "reports": report_hints(read(intent).hints, number(reuse_within_max))
    },
    "eligible": lambda materialized_at, max_age, now: {
        "eligible": eligible(number(materialized_at), number(max_age), number(now))
    },
    "admit": answer_admit,
}


def answer_to(line: str) -> str:
    request = json.loads(line)
    answer = {"id": request["id"]}
    operation = OPERATIONS.get(request["op"])
    try:
        if operation is None:
            answer["unsupported"] = "there is no such operation"
        else:
            answer["result"] = operation(**request["input"])
    except IntentError as refusal:
        answer["result"] = {"refused": str(refusal)}
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    return json.dumps(answer)


if __name__ == "__main__":
    for line in sys.stdin:
        print(answer_to(line), flush=True)
