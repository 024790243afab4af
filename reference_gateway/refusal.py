"""Refused requests, told in the shape of OpenAI's error bodies (BND-9)."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from cctest.contract.source import Fault, JsonValue
from cctest.contract.vocabulary import ErrorCode

_MESSAGE_LIMIT: Final = 600


class RefusalError(Exception):
    """A request that isn't served.

    `status` is the HTTP status, `code` the error's code, `param` a JSON pointer into the request body.
    `retry_after` is the value of that header. `close` ends the connection: what would come on it can't be
    told from the rest of this request.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        param: str | None = None,
        retry_after: str | None = None,
        *,
        close: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after
        self.close = close

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to the status."""
        headers = {"WWW-Authenticate": "Bearer"} if self.status == 401 else {}
        if self.retry_after is not None:
            headers["Retry-After"] = self.retry_after
        if self.close:
            headers["Connection"] = "close"
        return headers

    def body(self) -> dict[str, JsonValue]:
        """Give the response body. A message that quotes the caller at length is cut."""
        message = self.message
        if len(message) > _MESSAGE_LIMIT:
            message = f"{message[:_MESSAGE_LIMIT]}..."
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        param = None if self.param is None else self.param[:_MESSAGE_LIMIT]
        return {"error": {"message": message, "type": kind, "param": param, "code": self.code}}


def code_of(status: int) -> str:
    """Name an HTTP status as an error code: `not_found`. Raises ValueError for one that has no name."""
    return HTTPStatus(status).phrase.lower().replace(" ", "_")


def unauthenticated(message: str) -> RefusalError:
    """Refuse a caller who isn't known (BND-5)."""
    return RefusalError(401, "invalid_api_key", message)


def invalid_request(message: str, pointer: str) -> RefusalError:
    """Refuse a request that is wrong in something other than an intent (READ-23)."""
    return RefusalError(
        400, "invalid_request", f"{pointer}: {message}" if pointer else message, pointer or None
    )


def refused_intent(faults: Sequence[Fault], code: ErrorCode = ErrorCode.INVALID) -> RefusalError:
    """Refuse a request for its intents. The message tells the first fault and how many more there are."""
    first = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return RefusalError(400, str(code), f"{first}{more}", first.pointer or None)


def template_not_allowed(pointer: str) -> RefusalError:
    """Refuse a caller's own chat template (READ-38)."""
    message = "a chat template of the caller's own is not allowed here; leave it out to have the model's"
    return RefusalError(400, "chat_template_not_allowed", f"{pointer}: {message}", pointer)


def too_large(limit: int) -> RefusalError:
    """Refuse a body of more than `limit` bytes."""
    return RefusalError(413, "request_too_large", f"the request body is larger than {limit} bytes")


def too_many_fragments(limit: int) -> RefusalError:
    """Refuse a request with more than `limit` fragments."""
    return invalid_request(f"tools and messages together must not be more than {limit}", "")


def model_not_found(model: str, models: Sequence[str]) -> RefusalError:
    """Refuse a model that isn't served."""
    message = f"the model {model[:100]!r} does not exist; served here: {', '.join(models)}"
    return RefusalError(404, "model_not_found", message, "/model")


def models_unknown() -> RefusalError:
    """Refuse a request as long as the engine has not said which models it serves."""
    return RefusalError(503, "engine_unavailable", "the engine is not up yet", retry_after="1")
