"""The engine's other side, under `/cctest/`: what the harness talks to. Nothing here is recorded."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from cctest import __version__
from cctest.contract.source import JsonValue
from cctest.instrument.engine import InstrumentedEngine
from cctest.instrument.misbehaviour import MisbehaviourError, read_rules
from cctest.instrument.settings import NAME, Settings


class Control:
    """The control end points of one engine."""

    def __init__(self, engine: InstrumentedEngine) -> None:
        self._engine = engine

    async def about(self, _: Request) -> Response:
        """GET /cctest/about: what this is, its settings, and what its monotonic clock says."""
        record = self._engine.record
        told: dict[str, JsonValue] = {
            "name": NAME,
            "version": __version__,
            **asdict(self._engine.settings),
            "latest": record.latest,
            "dropped": record.dropped,
            "now": record.clock(),
        }
        return _json(told)

    async def read_record(self, request: Request) -> Response:
        """GET /cctest/record?after=N: the entries after number N, a page at a time."""
        after = request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 18:
            return _json({"error": "after must be the number of an entry"}, 400)
        page = self._engine.record.page(int(after))
        told: dict[str, JsonValue] = {
            "entries": [entry.to_json() for entry in page.entries],
            "missed": page.missed,
            "more": page.more,
            "latest": self._engine.record.latest,
            "dropped": self._engine.record.dropped,
        }
        return _json(told)

    async def clear_record(self, _: Request) -> Response:
        """DELETE /cctest/record."""
        self._engine.record.clear()
        return Response(status_code=204)

    async def read_rules(self, _: Request) -> Response:
        """GET /cctest/misbehaviour: the rules in force."""
        return _json({"rules": [rule.to_json() for rule in self._engine.rules.rules]})

    async def put_rules(self, request: Request) -> Response:
        """PUT /cctest/misbehaviour: add rules; earlier ones with the same match are replaced."""
        try:
            self._engine.rules.put(read_rules(json.loads(await request.body())))
        except MisbehaviourError as error:
            return _json({"error": str(error)}, 400)
        except (ValueError, RecursionError):
            return _json({"error": "the rules are no JSON"}, 400)
        return Response(status_code=204)

    async def remove_rules(self, request: Request) -> Response:
        """DELETE /cctest/misbehaviour: all rules, or those with `?match=TEXT`."""
        self._engine.rules.remove(request.query_params.get("match"))
        return Response(status_code=204)


def create_app(settings: Settings) -> Starlette:
    """Make the ASGI application of an engine with both its sides."""
    engine = InstrumentedEngine(settings)
    control = Control(engine)
    return Starlette(
        routes=[
            Route("/cctest/about", control.about, methods=["GET"]),
            Route("/cctest/record", control.read_record, methods=["GET"]),
            Route("/cctest/record", control.clear_record, methods=["DELETE"]),
            Route("/cctest/misbehaviour", control.read_rules, methods=["GET"]),
            Route("/cctest/misbehaviour", control.put_rules, methods=["PUT"]),
            Route("/cctest/misbehaviour", control.remove_rules, methods=["DELETE"]),
            Mount("/", engine),
        ]
    )


def _json(value: Mapping[str, JsonValue], status: int = 200) -> Response:
    """Spell a value; what a request carried may hold what strict JSON has no form for."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Response(body, status, media_type="application/json")
