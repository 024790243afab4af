"""The vocabulary: complete, and read so that nothing misspelt is passed over."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vocabularies import bundled, member_of, vocabulary

from cctest.bundle import SCHEMAS
from cctest.minimality.load import load_vocabulary
from cctest.minimality.vocabulary import MOST_SETTINGS, MemberKind, merged
from cctest.problem import UsageProblem

SCHEMA = json.loads((SCHEMAS / "cache_intent.schema.json").read_text())["$defs"]


@pytest.mark.parametrize(
    ("kind", "object_name"), [(MemberKind.CONSTRAINT, "constraints"), (MemberKind.HINT, "hints")]
)
def test_every_member_of_the_schema_is_tried_and_nothing_else(kind: MemberKind, object_name: str) -> None:
    tried = {member.name for member in load_vocabulary().members if member.kind is kind}
    assert tried == set(SCHEMA[object_name]["properties"])


@pytest.mark.parametrize("name", ["reuse", "share_max"])
def test_every_value_of_a_closed_constraint_is_tried(name: str) -> None:
    (tried,) = [member for member in load_vocabulary().members if member.name == name]
    assert [value.name for value in tried.values] == SCHEMA["constraints"]["properties"][name]["enum"]


def test_a_setting_is_spelt_as_an_intent() -> None:
    known = load_vocabulary()
    setting = known.base.replacing("retention", "max-age").replacing("reuse_within", "above")
    assert known.intent(setting, 3600) == {
        "version": 1,
        "constraints": {
            "retention": {"mode": "allow", "max_age": 2},
            "reuse": "exact",
            "share_max": "tenant",
        },
        "hints": {"reuse_within": 3601},
    }


def test_null_in_a_patch_takes_a_member_away() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}) == {"a": {"c": 2}}


def misspell_base(content: Any) -> None:
    content["base"]["reuse"] = "exat"


def leave_out_of_base(content: Any) -> None:
    del content["base"]["reuse"]


def misspell_equality(content: Any) -> None:
    content["equal"][0]["where"] = {"retentoin": ["forbid"]}


def misspell_rule(content: Any) -> None:
    content["equal"][0]["rules"] = ["RET-61"]


def misspell_widening(content: Any) -> None:
    member_of(content, "reuse")["widens"]["value"] = "approximat"


def name_twice(content: Any) -> None:
    content["members"].append(content["members"][0])


def misspell_member(content: Any) -> None:
    content["readers"][0]["latr"] = True


def be_endless(content: Any) -> None:
    values = [{"name": f"v{number}", "intent": {}} for number in range(20)]
    content["members"].append({"name": "more", "kind": "constraint", "values": values})
    content["base"]["more"] = "v0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (misspell_base, "/base/reuse.*`exat` isn't known here\n  did you mean `exact`?"),
        (leave_out_of_base, "`reuse` has no value here"),
        (misspell_equality, "`retentoin` isn't known here\n  did you mean `retention`?"),
        (misspell_rule, "`RET-61` isn't known here"),
        (misspell_widening, "`approximat` isn't known here\n  did you mean `approximate`?"),
        (name_twice, "/members/5/name.*`retention` is listed twice"),
        (misspell_member, "unknown member `latr`\n  did you mean `later`?"),
        (be_endless, f"3,600 settings\n  at most {MOST_SETTINGS:,} are tried"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    change: Callable[[Any], None], message: str, tmp_path: Path
) -> None:
    content = bundled()
    change(content)
    with pytest.raises(UsageProblem) as caught:
        vocabulary(content, tmp_path)
    assert re.search(message.replace("?", r"\?"), str(caught.value))
