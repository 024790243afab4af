"""Credentials taken out of everything that is printed or written: the one place that does it."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar, cast
from urllib.parse import quote, quote_plus

from cctest.target.credential import Credential, Header

_T = TypeVar("_T")


class Redactor:
    """Puts `${VARIABLE}` in the place of every secret.

    Secrets are the tokens and those headers, of the configuration or of a credential, that have a variable:
    as they are, escaped as in JSON (also with every non-ASCII character escaped) and in JSON pointers,
    URL-encoded, and in base64.
    """

    def __init__(self, credentials: Iterable[Credential] = (), headers: Iterable[Header] = ()) -> None:
        known = tuple(credentials)
        secrets = [(credential.token, credential.variable) for credential in known]
        own = [header for credential in known for header in credential.headers]
        secrets += [(header.value, header.variable) for header in (*own, *headers) if header.variable]
        self._stands_for = {
            form: "${" + variable + "}" for secret, variable in secrets for form in _forms(secret) if form
        }
        # The longest form first: one token may be the beginning of another.
        forms = sorted(self._stands_for, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(form) for form in forms)) if forms else None

    def text(self, text: str) -> str:
        """Redact a string."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._stands_for[match[0]], text)

    def structure(self, value: _T) -> _T:
        """Redact every string in nested mappings (names too), lists, tuples and dataclasses."""
        return cast(_T, self._structure(value))

    def _structure(self, value: object) -> object:
        if isinstance(value, str):
            return value if isinstance(value, Enum) else self.text(value)
        if is_dataclass(value) and not isinstance(value, type):
            changed = {part.name: self._structure(getattr(value, part.name)) for part in fields(value)}
            return replace(value, **changed)
        if isinstance(value, Mapping):
            return {self._structure(name): self._structure(member) for name, member in value.items()}
        if isinstance(value, tuple):
            return tuple(self._structure(item) for item in value)
        if isinstance(value, list):
            return [self._structure(item) for item in value]
        return value


def _forms(secret: str) -> Iterator[str]:
    """Yield the spellings in which a secret may turn up."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield secret.replace("~", "~0").replace("/", "~1")
    yield quote(secret, safe="")
    yield quote_plus(secret)
    encoded = secret.encode("utf-8", "surrogatepass")
    for form in (base64.b64encode(encoded), base64.urlsafe_b64encode(encoded)):
        yield form.decode("ascii")
        yield form.decode("ascii").rstrip("=")
