"""Steps, fragments and callers of a case in words."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from cctest.probe.callers import lacking
from cctest.probe.case import Attach, Case, FragmentSpec, Place, Role, Step
from cctest.probe.prompt import UNIT_WORDS

_CALLERS: Final[Mapping[Role, str]] = {
    Role.SELF: "the first caller",
    Role.STRANGER: "a credential that the target has never seen",
    Role.NOBODY: "nobody: no credential is sent",
    Role.INSIDE: "the furthest caller who shares the cell's scope with the first",
    Role.OUTSIDE: "the nearest caller who doesn't share the cell's scope with the first",
}
_PLACES: Final[Mapping[Place, str]] = {
    Place.TOOLS: "a tool definition",
    Place.MESSAGES: "a message",
    Place.SYSTEM: "a system message",
    Place.USER: "a user message",
    Place.ASSISTANT: "an assistant's message",
    Place.PARTS: "a user message whose content is an array of parts",
    Place.RESULT: "a tool's result",
}
_LONGEST: Final = 400
"""Characters of a literal that are shown."""


def caller(role: Role) -> str:
    """Say who a caller is."""
    return _CALLERS.get(role) or lacking(role)


def sent(case: Case, step: Step) -> str:
    """Say what a step sends, as whom and when."""
    parts = [f"{step.by} sends {_body(case, step)}"]
    if step.after is not None:
        parts.insert(0, f"{step.after.seconds:g} s after the response to {step.after.step}")
    parts += _additions(step)
    return ", ".join(parts) + "."


def _body(case: Case, step: Step) -> str:
    if step.raw is not None:
        return f"the body {literal(step.raw)}"
    return ", then ".join(_fragment(case, fragment) for fragment in step.fragments) or "a request"


def _fragment(case: Case, fragment: FragmentSpec) -> str:
    length = max(1, round(case.texts.get(fragment.text, 1) * UNIT_WORDS))
    place = f" as {_PLACES[fragment.place]}" if fragment.place is not None else ""
    text = f"{fragment.text} ({length} words{place})"
    if fragment.intent is not None:
        where = "" if fragment.attach is Attach.FRAGMENT else f", which is put on the {fragment.attach},"
        text += f" under `{fragment.intent}`{where}"
    return " with ".join([text, *rest(fragment, ("text", "intent", "place", "attach"))])


def _additions(step: Step) -> Iterator[str]:
    if step.body:
        yield f"with these members in the body: {literal(step.body)}"
    if step.headers:
        yield f"with these headers: {literal(step.headers)}"
    if step.misbehaviour is not None:
        yield f"and the engine is told to misbehave: {literal(step.misbehaviour)}"
    if step.give_up is not None:
        yield f"and goes away after {step.give_up:g} s"
    yield from rest(
        step, ("id", "by", "fragments", "after", "body", "headers", "raw", "misbehaviour", "give_up")
    )


def rest(value: Any, said: tuple[str, ...]) -> Iterator[str]:
    """Yield what a value of the data holds beyond what was said of it, so that nothing is passed over."""
    for each in fields(value):
        held = getattr(value, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if each.name not in said and held != default:
            yield f"{each.name.replace('_', ' ')} {literal(held)}"


def literal(value: Any) -> str:
    """Write a value as JSON on one line, cut where it is very long; a text as it stands."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"
