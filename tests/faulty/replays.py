"""Faults of a gateway in front of an engine: whole answers that it keeps and gives again."""

from collections.abc import Callable
from functools import partial
from typing import Any

from reference_gateway.refusal import RefusalError

from . import model, seams
from .model import Backend, Word

fault = partial(model.fault, backend=Backend.FORWARDING)

_REPLAYED = ("REU-2", "SHR-2")


def _keep(key: Callable[[Any, bytes], Any], *, failures: bool) -> None:
    """Keep whole plain answers, or failures, and give them to the next request with an equal key."""
    kept: dict[Any, Any] = {}

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            place = key(request, await request.body())
            if place in kept:
                if isinstance(kept[place], Exception):
                    raise kept[place]
                return kept[place]
            try:
                response = await original(self, request)
            except RefusalError as error:
                if failures and error.status >= 500:
                    kept[place] = error
                raise
            if not failures and hasattr(response, "body"):
                kept[place] = response
            return response

        return chat

    seams.CHAT.wrap(make)


@fault(
    rules=("REU-2",),
    checks=("bad-results-kept#computed-after-truncation", "answers-computed#repeat-computed"),
    cells=({"stream": "plain"},),
    status=Word.LIES,
    public="D37",
)
def truncated_answers_replayed() -> None:
    """Whole answers are kept for each caller, those among them that the engine cut short."""
    _keep(lambda request, body: (request.headers.get("authorization"), body), failures=False)


@fault(
    rules=("REU-2",),
    checks=("bad-results-kept#computed-after-failure",),
    status=Word.SILENT,
    public="D37",
)
def failures_replayed() -> None:
    """A failure of the engine's is kept, and told to whoever sends the same again."""
    _keep(lambda request, body: body, failures=True)


@fault(
    rules=_REPLAYED,
    checks=("answers-computed#foreigner-computed", "replayed-answers#foreigner-computed"),
    cells=({"stream": "plain"},),
    status=Word.LIES,
    public="D13",
)
def answers_kept_in_front_of_the_engine() -> None:
    """Whole answers are kept by the body that was sent, and given to anybody."""
    _keep(lambda request, body: body, failures=False)
