"""Turning one step of a case into the bytes of a chat request.

Every text and namespace carries the cell's nonce, so that nothing a cell sends was ever sent before, by
this run or an earlier one, and cells can't meet in the target's cache.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.source import JsonValue
from cctest.probe.case import Attach, Case, Change, Place, Role, Step, wider_than
from cctest.probe.layout import FILLER, Slot, arrange
from cctest.target.credential import Credential

UNIT_WORDS: Final = 160
"""Words in a text of length 1: several hundred tokens, many cache blocks in every engine known to us."""

FILLER_WORDS: Final = 8
"""Words in a filler text."""

_OTHER_WORDS: Final = 6
"""Words at the beginning in which similar texts differ."""

ANSWER_TOKENS: Final = 8
"""`max_tokens` of every request: the answer is never what is judged."""

_CONSONANTS: Final = "bcdfghjklmnprstv"
_VOWELS: Final = "aeiou"
_PLACEHOLDER: Final = re.compile(r"\$\{([a-z_]+)(?:[:.]([^}]*))?\}")
_RAW_MARK: Final = "\u2063raw intent {}\u2063"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the steps of one cell share: where it stands on the axes, its nonce, and who the callers are."""

    case: Case
    cell: Mapping[str, str]
    nonce: str
    model: str
    callers: Mapping[Role, Credential]
    capabilities: Capabilities | None = None
    unit_words: int = UNIT_WORDS
    apart: bool = False
    """Whether the first intent of each request gets a namespace of the cell's own: see `interpreter`."""
    blank: str = ""
    """If not empty, the texts are others, which nothing else ever sends: see `blank`."""

    @property
    def streamed(self) -> bool:
        """Whether this cell asks for streamed responses."""
        return self.cell.get("stream") == "streamed"

    @property
    def text_nonce(self) -> str:
        """What the texts depend on."""
        return f"{self.nonce}-{self.blank}" if self.blank else self.nonce


@dataclass(frozen=True, slots=True)
class BuiltFragment:
    """One fragment as sent. `size` is the length in bytes of what a template can render of it."""

    text: str
    place: Place
    size: int
    governed: bool
    id: str | None = None


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """A chat body and its fragments in binding order (BND-1: all tools, then all messages)."""

    body: bytes
    fragments: tuple[BuiltFragment, ...]


def words(nonce: str, name: str, count: int) -> str:
    """Return `count` pronounceable words that depend on nothing but `nonce` and `name`."""
    noise = hashlib.shake_256(f"{nonce}\0{name}".encode()).digest(count * 3)
    syllables = [_CONSONANTS[byte >> 4] + _VOWELS[(byte & 15) % 5] for byte in noise]
    return " ".join("".join(syllables[i : i + 3]) for i in range(0, len(syllables), 3))


def text_of(name: str, setting: Setting) -> str:
    """Return a text of the cell."""
    variant = setting.case.variants.get(name)
    if variant is None:
        return words(setting.text_nonce, name, _length(name, setting))
    model = text_of(variant.of, setting)
    match variant.change:
        case Change.OTHER_WORDS:
            rest = model.split(" ", _OTHER_WORDS)[-1]
            return f"{words(setting.text_nonce, name, _OTHER_WORDS)} {rest}"
        case Change.UPPER_CASE:
            return model.upper()
        case Change.NUMBERED_17 | Change.NUMBERED_42:
            number = variant.change.rpartition("-")[2]
            parts = model.split(" ")
            return " ".join(
                f"{number} {word}" if index % 8 == 0 else word for index, word in enumerate(parts)
            )


def build(setting: Setting, step: Step) -> BuiltRequest:
    """Build the body of `step` and describe its fragments."""
    if step.raw is not None:
        return BuiltRequest(str(substitute(step.raw, setting)).encode(), ())
    raw_intents: list[str] = []
    tools: list[tuple[JsonValue, BuiltFragment]] = []
    messages: list[tuple[JsonValue, BuiltFragment]] = []
    namespace = f"apart-{setting.nonce}" if setting.apart else None
    for slot in arrange(setting.case, setting.cell, step):
        fragments = tools if slot.place is Place.TOOLS else messages
        fragments.append(_fragment(slot, setting, raw_intents, namespace))
        if slot.spec.intent is not None:
            namespace = None  # one is enough, and where partitions are a request's more would make another
    body: dict[str, JsonValue] = {"model": setting.model}
    if tools:
        body |= {"tools": [tool for tool, _ in tools], "tool_choice": "none"}
    body |= {"messages": [message for message, _ in messages], "max_tokens": ANSWER_TOKENS, "temperature": 0}
    if setting.streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    for name, value in step.body.items():
        body[name] = substitute(value, setting)
    text = json.dumps(body, ensure_ascii=False)
    for index, raw in enumerate(raw_intents):
        text = text.replace(json.dumps(_RAW_MARK.format(index), ensure_ascii=False), raw)
    return BuiltRequest(text.encode(), tuple(built for _, built in (*tools, *messages)))


def substitute(value: JsonValue, setting: Setting) -> JsonValue:
    """Replace the placeholders in every string of `value`.

    A string that is nothing but `${hint_max:OFFSET}` becomes an integer: the advertised maximum of
    `reuse_within` plus OFFSET seconds. `${hint_low}` becomes 1, or that maximum if it is smaller.
    """
    if isinstance(value, dict):
        return {name: substitute(member, setting) for name, member in value.items()}
    if isinstance(value, list):
        return [substitute(member, setting) for member in value]
    if not isinstance(value, str):
        return value
    if (match := _PLACEHOLDER.fullmatch(value)) and match[1] in ("hint_max", "hint_low"):
        return (
            hint_maximum(setting) + int(match[2] or 0)
            if match[1] == "hint_max"
            else min(1, hint_maximum(setting))
        )
    return _PLACEHOLDER.sub(lambda match: _resolve(match[1], match[2] or "", setting), value)


def hint_maximum(setting: Setting) -> int:
    """Return the advertised maximum of `reuse_within` in seconds; an hour where none is advertised."""
    hints = setting.capabilities.hints if setting.capabilities else {}
    maximum = hints.get("reuse_within_max")
    return int(maximum) if isinstance(maximum, int | float) else 3600


def _resolve(kind: str, argument: str, setting: Setting) -> str:
    match kind:
        case "ns":
            return f"{argument}-{setting.nonce}"
        case "wide":
            return f"{setting.nonce:w<{256 - len(argument)}}{argument}"
        case "nonce":
            return setting.nonce
        case "model":
            return setting.model
        case "scope":
            return setting.cell["scope"]
        case "wider":
            return wider_than(setting.cell["scope"])
        case "text":
            return text_of(argument, setting)
        case "tenant" | "principal" | "session":
            return str(getattr(setting.callers[Role(argument)], kind) or "")
    raise ValueError(f"unknown placeholder ${{{kind}:{argument}}} in case {setting.case.id}")


def _length(text: str, setting: Setting) -> int:
    """Words in a text. In cells with much filler the governed text is longer, so that it still stands out."""
    if text.startswith(FILLER):
        return FILLER_WORDS
    units = setting.case.texts[text] * (2 if setting.cell.get("count") == "many" else 1)
    return max(1, round(units * setting.unit_words))


def _fragment(
    slot: Slot, setting: Setting, raw_intents: list[str], namespace: str | None
) -> tuple[JsonValue, BuiltFragment]:
    """Build one fragment; its intent gets `namespace` where it has none."""
    spec = slot.spec
    fragment, inner = _content(slot, text_of(spec.text, setting), setting)
    for name, value in spec.members.items():
        fragment[name] = substitute(value, setting)
    size = len(json.dumps(fragment, ensure_ascii=False).encode())
    if spec.intent is None:
        return fragment, BuiltFragment(spec.text, slot.place, size, governed=False)
    intent = setting.case.intents[spec.intent]
    holder = fragment if spec.attach is Attach.FRAGMENT else inner
    holder["cache_intent"] = _intent(intent, setting, raw_intents, namespace)
    label = intent.get("id") if isinstance(intent, dict) else None
    return fragment, BuiltFragment(
        spec.text,
        slot.place,
        size,
        governed=spec.attach is Attach.FRAGMENT,
        id=str(substitute(label, setting)) if isinstance(label, str) else None,
    )


def _content(slot: Slot, text: str, setting: Setting) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Make a fragment, and the object inside it on which an intent would be misplaced."""
    if slot.place is Place.TOOLS:
        variant = setting.case.variants.get(slot.spec.text)  # differs from its model in nothing but the text
        model = (setting.text_nonce, slot.spec.text) if variant is None else (setting.nonce, variant.of)
        name = "f_" + words(*model, 2).replace(" ", "_")
        parameters: JsonValue = {"type": "object", "properties": {}}
        function: dict[str, JsonValue] = {"name": name, "description": text, "parameters": parameters}
        return {"type": "function", "function": function}, function
    if slot.place is Place.PARTS or slot.spec.attach is Attach.PART:
        part: dict[str, JsonValue] = {"type": "text", "text": text}
        return {"role": slot.role, "content": [part]}, part
    message: dict[str, JsonValue] = {"role": slot.role, "content": text}
    call = f"call_{setting.nonce}"
    if slot.calls:
        made: JsonValue = {"name": "look_up", "arguments": "{}"}
        message["tool_calls"] = [{"id": call, "type": "function", "function": made}]
    elif slot.place is Place.RESULT:
        message["tool_call_id"] = call
    return message, {}


def _intent(intent: JsonValue, setting: Setting, raw_intents: list[str], namespace: str | None) -> JsonValue:
    """Return the intent as a value; raw text (which may break JSON's rules) leaves a mark to be replaced."""
    if isinstance(intent, dict) and intent.keys() == {"raw"}:
        raw_intents.append(str(substitute(intent["raw"], setting)))
        return _RAW_MARK.format(len(raw_intents) - 1)
    built = substitute(intent, setting)
    constraints = built.get("constraints") if isinstance(built, dict) else None
    if namespace is not None and isinstance(constraints, dict):
        constraints.setdefault("namespace", namespace)
    return built
