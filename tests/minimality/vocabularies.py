"""Vocabularies for tests: the bundled one, and a small one, as data to be changed."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from cctest import bundle, datafile
from cctest.minimality.load import load_vocabulary
from cctest.minimality.vocabulary import Vocabulary


def bundled() -> Any:
    return deepcopy(datafile.read(bundle.MINIMALITY).parsed.value)


def small() -> Any:
    """Two values of three constraints and nobody who comes later, so that it is tried in a moment."""
    content = bundled()
    keep = {"retention": ["forbid", "allow"], "reuse": ["none", "exact"], "share_max": ["session", "tenant"]}
    content["members"] = [member for member in content["members"] if member["name"] in keep]
    for member in content["members"]:
        member["values"] = [value for value in member["values"] if value["name"] in keep[member["name"]]]
        member.pop("widens", None)
    content["base"] = {"retention": "allow", "reuse": "exact", "share_max": "tenant"}
    content["readers"] = [
        reader for reader in content["readers"] if reader["name"] in {"again", "exactly", "other-session"}
    ]
    content["equal"] = [
        {
            "where": {"retention": ["forbid"]},
            "ignoring": ["reuse", "share_max"],
            "rules": ["RET-1"],
            "because": "nothing is left",
        }
    ]
    return content


def member_of(content: Any, name: str) -> Any:
    return next(member for member in content["members"] if member["name"] == name)


def write(content: Any, folder: Path) -> Path:
    path = folder / "vocabulary.json"
    path.write_text(json.dumps(content, indent=1))
    return path


def vocabulary(content: Any, folder: Path) -> Vocabulary:
    return load_vocabulary(write(content, folder))
