"""A first adapter, in thirty lines: namespaces and ages are implemented here, the rest is yet to be written."""

import hashlib
import json
import sys
from fractions import Fraction
from typing import Any


def digest(namespaces: list[str]) -> str | None:
    records = (b"%d:%b" % (len(octets), octets) for octets in map(str.encode, namespaces))
    return hashlib.sha256(b"".join(records)).hexdigest() if namespaces else None


def answer(op: str, given: dict[str, Any]) -> dict[str, Any]:
    match op:
        case "hello":
            return {"result": {"protocol": 1, "name": "first", "version": "0.1"}}
        case "digest":
            return {"result": {"digest": digest(given["namespaces"])}}
        case "identity":
            equal = digest(given["first"]) == digest(given["second"])
            return {"result": {"match": given["same_input"] and equal}}
        case "eligible":
            bound, age = given["max_age"], Fraction(given["now"]) - Fraction(given["materialized_at"])
            return {"result": {"eligible": bound is None or (int(bound) > 0 and age < int(bound))}}
    return {"unsupported": "yet to be written"}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **answer(request["op"], request["input"])}), flush=True)
