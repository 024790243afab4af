"""The record of the normative sentences, `spec/sentences.md`: written by a command, changed under review."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from cctest import bundle
from cctest.problem import UsageProblem
from cctest.traceability.sentences import Sentence, read_sentence
from cctest.traceability.source import Block

WRITTEN_BY: Final = "make sentences"
"""What writes the record anew."""

_HEAD: Final = f"""\
# The normative sentences of the drafts

`{WRITTEN_BY}` writes this file, nobody by hand. It has every sentence with a keyword of BCP 14, each on one
line, in the order of the drafts, which govern. `make trace` fails where a draft and this file differ, so that
no such sentence goes, comes or changes without a line here that shows it.
"""
_DRAFT: Final = re.compile(r"## (?P<name>\S+)")
_ITEM: Final = "* "


def record_text(sentences: Iterable[Sentence]) -> str:
    """Write the normative ones of the sentences as a record."""
    normative = [sentence for sentence in sentences if sentence.normative]
    parts = [_HEAD]
    for document, those in groupby(normative, lambda each: each.document):
        parts.append(f"## {document}\n\n" + "".join(f"{_ITEM}{each.text}\n" for each in those))
    return "\n".join(parts)


def load_record(path: Path = bundle.SENTENCES) -> tuple[Sentence, ...]:
    """Read the recorded sentences; their lines are lines of the record.

    Raises UsageProblem where there is no record, and, with its line, for what is no heading and no sentence.
    """
    try:
        return tuple(_recorded(path, path.read_text("utf-8")))
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=str(path), hint=WRITTEN_BY) from None
    except UnicodeDecodeError:
        raise UsageProblem("is no UTF-8", where=str(path), hint=WRITTEN_BY) from None


def _recorded(path: Path, text: str) -> Iterator[Sentence]:
    document = ""
    for number, line in enumerate(text.splitlines(), 1):
        heading = _DRAFT.fullmatch(line)
        if heading:
            document = heading["name"]
        elif document and line.startswith(_ITEM):
            yield read_sentence(document, Block(line, number), len(_ITEM), line.removeprefix(_ITEM))
        elif document and line:
            raise UsageProblem(
                "is neither `## draft` nor `* sentence`", where=f"{path}:{number}", hint=WRITTEN_BY
            )
