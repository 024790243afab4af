"""Faults of refusals: intents that are refused in another way than the binding says."""

from typing import Any

from cctest.contract.vocabulary import ErrorCode

from . import seams
from .model import Word, fault

_REFUSALS = tuple(f"INT-{number}" for number in (2, 4, 5, 6, 7, 8, 9, 10, 12))


def _refuse(status: int, code: str | None) -> None:
    """Refuse intents with another status, and with another code unless it is None."""
    from starlette.responses import JSONResponse

    def make(original: Any) -> Any:
        async def refused(_: Any, error: Any) -> Any:
            if error.code not in [*ErrorCode]:
                return await original(_, error)
            body = error.body()
            if code is not None:
                body["error"]["code"] = code
            return JSONResponse(body, status)

        return refused

    seams.REFUSED.wrap(make)


@fault(
    rules=("BND-9", "BND-3", "BND-1", "SHR-3", *_REFUSALS),
    checks=("unknown-constraint#refused-or-fallback", "part-intent#refused"),
    status=Word.SILENT,
    public="D36",
)
def refusal_with_another_status() -> None:
    """Invalid intents are refused with 422, as the web framework's own validation does."""
    _refuse(422, None)


@fault(
    rules=("BND-9", "BND-3", "BND-1", "SHR-3", *_REFUSALS),
    checks=("unknown-constraint#refused-or-fallback", "part-intent#refused"),
    status=Word.SILENT,
)
def refusal_with_another_code() -> None:
    """Invalid intents are refused as invalid requests, without saying that it is for an intent."""
    _refuse(400, "invalid_request_error")


@fault(
    rules=("BND-9", "BND-3", "BND-1", "SHR-3", *_REFUSALS),
    checks=("unknown-constraint#refused-or-fallback", "part-intent#refused"),
    status=Word.SILENT,
    public="D36",
)
def refusal_as_a_success() -> None:
    """Refusals are delivered as HTTP 200 with an error object."""
    _refuse(200, None)
