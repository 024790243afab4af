"""A chat completion read out of a response, plain or streamed, whatever state it is in.

Nothing here judges: what is odd about a response is listed as its problems.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from cctest.contract import strict_json
from cctest.contract.source import JsonValue, SourceError
from cctest.target.exchange import Response
from cctest.target.sse import DONE, SseEvent, read_events

_DEPTH: Final = 64


class Absent(Enum):
    """The type of `ABSENT`: a member that isn't there, as opposed to one that is null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class Place(StrEnum):
    """Where `cache_status` rode in a response (BND-7, READ-10)."""

    TOP_LEVEL = "top level"
    FIRST_CHUNK = "first chunk"
    MIDDLE_CHUNK = "a chunk in the middle"
    LAST_CHUNK = "last data chunk"
    USAGE_CHUNK = "usage chunk"
    EXTRA_EVENT = "an extra event"
    NOWHERE = "absent"


@dataclass(frozen=True, slots=True)
class ChatResult:
    """What a response to a chat request says.

    `ok` is true only for a 200 with a chat completion in it. `content` is the answer's text as far as there
    is any. `cache_status` is the raw member. `cached_tokens` is None unless it is an integer from 0 to
    `prompt_tokens`: anything else is no observation. `problems` says what is odd about the response.
    """

    status: int
    ok: bool
    content: str
    cache_status: "JsonValue | Absent"
    status_place: Place
    prompt_tokens: int | None
    cached_tokens: int | None
    error_code: str | None
    error_message: str | None
    problems: tuple[str, ...]


def read_chat(response: Response, *, streamed: bool) -> ChatResult:
    """Read the response to a chat request; `streamed` says whether a stream was asked for.

    An error may always come as plain JSON. Never raises for anything that a server sends.
    """
    reader = _Reader(response.status)
    events = response.events
    if events is None and streamed and response.body.lstrip().startswith((b"data:", b"event:", b":")):
        reader.problems.append(f"a stream with content type {_content_type(response)}")
        events = tuple(read_events((response.body,)))
    if events is not None:
        if not streamed:
            reader.problems.append("a stream although none was asked for")
        reader.read_stream(events)
    else:
        if streamed and response.status == 200:
            reader.problems.append(f"no stream: the content type is {_content_type(response)}")
        reader.read_plain(response.body)
    return reader.result()


def _content_type(response: Response) -> str:
    return repr(response.headers.get("content-type", "")[:80])


class _Reader:
    """Gathers what one response says; each part is looked at once."""

    def __init__(self, status: int) -> None:
        self.problems: list[str] = []
        self._status = status
        self._content: list[str] = []
        self._choices_seen = False
        self._complete = True
        self._cache_status: JsonValue | Absent = ABSENT
        self._place = Place.NOWHERE
        self._prompt_tokens: int | None = None
        self._cached_tokens: int | None = None
        self._error_code: str | None = None
        self._error_message: str | None = None
        self._error_seen = False

    def result(self) -> ChatResult:
        """Give the result; a 200 without an answer is itself a problem."""
        answered = self._choices_seen and self._complete and not self._error_seen
        if self._status == 200 and not self._choices_seen and not self.problems:
            self.problems.append("status 200, but no chat completion in the response")
        return ChatResult(
            status=self._status,
            ok=self._status == 200 and answered,
            content="".join(self._content),
            cache_status=self._cache_status,
            status_place=self._place,
            prompt_tokens=self._prompt_tokens,
            cached_tokens=self._cached_tokens,
            error_code=self._error_code,
            error_message=self._error_message,
            problems=tuple(self.problems),
        )

    def read_plain(self, body: bytes) -> None:
        """Read a response that is one JSON object."""
        document = self._object(body, "the body")
        if document is None:
            return
        self._read_choices(document, "message")
        self._read_usage(document)
        self._read_error(document)
        if "cache_status" in document:
            self._cache_status, self._place = document["cache_status"], Place.TOP_LEVEL

    def read_stream(self, events: tuple[SseEvent, ...]) -> None:
        """Read a response that is a stream of chunks."""
        done = [number for number, event in enumerate(events) if event.data.strip() == DONE]
        if not done:
            self._complete = False
            self.problems.append("the stream ends without [DONE]")
        elif done[0] != len(events) - 1:
            self.problems.append("the stream goes on after [DONE]")
        chunks: list[tuple[SseEvent, dict[str, JsonValue]]] = []
        for number, event in enumerate(events):
            if number in done:
                continue
            chunk = self._object(event.data, f"event {number + 1}")
            if chunk is not None:
                chunks.append((event, chunk))
        for _, chunk in chunks:
            self._read_choices(chunk, "delta")
            self._read_usage(chunk)
            self._read_error(chunk)
        self._find_status(chunks)

    def _find_status(self, chunks: list[tuple[SseEvent, dict[str, JsonValue]]]) -> None:
        carriers = [number for number, (_, chunk) in enumerate(chunks) if "cache_status" in chunk]
        if not carriers:
            return
        if len(carriers) > 1:
            self.problems.append(f"cache_status in {len(carriers)} chunks; the last one counts")
        number = carriers[-1]
        event, chunk = chunks[number]
        self._cache_status = chunk["cache_status"]
        if event.name != "message" or "choices" not in chunk:
            self._place = Place.EXTRA_EVENT
        elif chunk["choices"] == [] and chunk.get("usage") is not None:
            self._place = Place.USAGE_CHUNK
        elif number == len(chunks) - 1:
            self._place = Place.LAST_CHUNK
        else:
            self._place = Place.MIDDLE_CHUNK if number else Place.FIRST_CHUNK

    def _object(self, data: bytes, what: str) -> dict[str, JsonValue] | None:
        try:
            value = strict_json.loads(data, max_depth=_DEPTH)
        except SourceError as error:
            self._complete = False
            self.problems.append(f"{what} is no acceptable JSON: {error}")
            return None
        if isinstance(value, dict):
            return value
        self._complete = False
        self.problems.append(f"{what} is no JSON object")
        return None

    def _read_choices(self, document: dict[str, JsonValue], member: str) -> None:
        choices = document.get("choices")
        if choices is None or choices == []:
            return
        first = choices[0] if isinstance(choices, list) else None
        message = first.get(member) if isinstance(first, dict) else None
        if message is None and member == "delta" and isinstance(first, dict):
            return  # some servers send chunks without a delta, for a content filter's verdict say
        if not isinstance(message, dict):
            self.problems.append(f"choices[0].{member} is no object")
            self._complete = False
            return
        self._choices_seen = True
        self._content.append(_text(message.get("content")))

    def _read_usage(self, document: dict[str, JsonValue]) -> None:
        usage = document.get("usage")
        if usage is None:
            return
        if not isinstance(usage, dict):
            self.problems.append("usage is no object")
            return
        self._prompt_tokens = self._count(usage.get("prompt_tokens"), "usage.prompt_tokens")
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        count = self._count(cached, "usage.prompt_tokens_details.cached_tokens")
        if count is not None and (self._prompt_tokens is None or count > self._prompt_tokens):
            self.problems.append(f"cached_tokens is {count}, prompt_tokens {self._prompt_tokens}")
            count = None
        self._cached_tokens = count

    def _count(self, value: JsonValue, what: str) -> int | None:
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self.problems.append(f"{what} is no count")
        return None

    def _read_error(self, document: dict[str, JsonValue]) -> None:
        error = document.get("error")
        if error is None:
            return
        self._error_seen = True
        if not isinstance(error, dict):
            self.problems.append("error is no object")
            return
        self._error_code = self._string(error, "code") or self._error_code
        self._error_message = self._string(error, "message") or self._error_message

    def _string(self, error: dict[str, JsonValue], member: str) -> str | None:
        value = error.get(member)
        if value is None or isinstance(value, str):
            return value
        self.problems.append(f"error.{member} is no string")
        return None


def _text(content: JsonValue) -> str:
    """Give the text of a message's content, which is a string, null, or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(part for part in parts if isinstance(part, str))
