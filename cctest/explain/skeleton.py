"""The requests of a case as curl commands, with short texts: to see their shape, or to try by hand."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from cctest.probe.bundled import make_credentials
from cctest.probe.callers import cast
from cctest.probe.case import Case, Role, role_in
from cctest.probe.cells import cells_of
from cctest.probe.performing import CHAT_PATH
from cctest.probe.preflight import CAPABILITIES_PATH
from cctest.probe.prompt import Setting, build, substitute
from cctest.target.credential import Credential
from cctest.target.curl import curl_command
from cctest.target.exchange import Request

PLACEHOLDER_TARGET: Final = "https://gateway.example"

_WORDS: Final = 8
"""Words in a text of length 1: too few for any cache to hold."""


def curl_skeleton(case: Case) -> Iterator[str]:
    """Yield one command per step, for the case's first cell; tokens are variables named after the callers."""
    callers = _callers()
    if not case.steps:
        yield curl_command(
            Request("GET", CAPABILITIES_PATH, credential=callers[Role.SELF]), PLACEHOLDER_TARGET
        )
        return
    cell = next(cells_of([case])).at
    setting = Setting(case, cell, "NONCE", "MODEL", callers, unit_words=_WORDS)
    for step in case.steps:
        headers = [("Content-Type", "application/json")]
        headers += [(name, str(substitute(value, setting))) for name, value in step.headers.items()]
        credential = callers.get(role_in(cell, step.by))
        request = Request("POST", CHAT_PATH, tuple(headers), build(setting, step).body, credential)
        wait = f"sleep {step.after.seconds:g} && " if step.after else ""
        yield wait + curl_command(request, PLACEHOLDER_TARGET)


def _callers() -> Mapping[Role, Credential]:
    known = {
        role: replace(credential, name=str(role)) for role, credential in cast(make_credentials()).items()
    }
    return known | {Role.STRANGER: Credential("stranger", "unknown", "unknown", "unknown")}
