"""What a `cache_salt` is to a real vLLM: facts that the lowering rests on (section 13)."""

import secrets

import pytest

from reference_gateway.live.chat import Answer, Client, message, text

QUESTION = message("And now?")


def whole(answer: Answer, block: int) -> int:
    """Tokens of a prompt that can be read: whole blocks, and never the last token."""
    assert answer.prompt is not None
    return (answer.prompt - 1) // block * block


@pytest.mark.parametrize("salt", ["a", "0" * 128, secrets.token_hex(32), "spaces and: ü"])
def test_a_salt_of_up_to_128_characters_is_taken(direct: Client, salt: str) -> None:
    assert direct.ask(QUESTION, cache_salt=salt).http == 200


@pytest.mark.parametrize("salt", ["", "0" * 129, "a@b", "a/b", "a\\b", "a\0b", 5])
def test_any_other_is_refused(direct: Client, salt: object) -> None:
    answer = direct.ask(QUESTION, cache_salt=salt)
    assert answer.http == 400
    assert "cache_salt" in answer.body["error"]["message"]


def test_one_salt_is_one_partition(direct: Client, block: int) -> None:
    mine, other = secrets.token_hex(32), secrets.token_hex(32)
    prompt = (message(text(), "system"), QUESTION)

    first = direct.ask(*prompt, cache_salt=mine)

    assert first.cached == 0
    assert direct.ask(*prompt, cache_salt=mine).cached == whole(first, block)
    assert direct.ask(*prompt, cache_salt=other).cached == 0
    assert direct.ask(*prompt).cached == 0


def test_no_salt_is_everybodys_partition(direct: Client, block: int) -> None:
    prompt = (message(text(), "system"), QUESTION)

    first = direct.ask(*prompt)

    assert direct.ask(*prompt).cached == whole(first, block)
    assert direct.ask(*prompt, cache_salt=None).cached == whole(first, block)
    assert direct.ask(*prompt, cache_salt=secrets.token_hex(32)).cached == 0


def test_within_a_partition_what_two_prompts_begin_with_is_shared(direct: Client, block: int) -> None:
    salt, prefix = secrets.token_hex(32), message(text(), "system")

    direct.ask(prefix, message(text(), "user"), cache_salt=salt)
    second = direct.ask(prefix, message(text(), "user"), cache_salt=salt)

    assert second.cached is not None
    assert second.cached > block
    assert second.cached < whole(second, block)


def test_later_blocks_chain_from_the_first(direct: Client, block: int) -> None:
    """The same text after another first block is another state, though no salt entered into it itself."""
    salt, long = secrets.token_hex(32), text()
    beginning, other = text(20), text(20)
    same = f"{beginning} {long}"

    direct.ask(message(same), cache_salt=salt)

    assert direct.ask(message(f"{other} {long}"), cache_salt=salt).cached in (0, block)
    again = direct.ask(message(same), cache_salt=salt)
    assert again.cached == whole(again, block)


def test_a_salt_inside_a_message_is_ignored(direct: Client, block: int) -> None:
    salt = secrets.token_hex(32)
    long = text()

    unsalted = direct.ask(message(long))

    salted_inside = {"role": "user", "content": long, "cache_salt": salt}
    assert direct.ask(salted_inside).cached == whole(unsalted, block)
    assert direct.ask(message(long), cache_salt=salt).cached == 0


def test_nothing_is_matched_approximately(direct: Client, block: int) -> None:
    """One word changed in the middle: what comes before is reused, nothing after it."""
    salt, long = secrets.token_hex(32), text()
    half = len(long) // 2
    changed = f"{long[:half]} {secrets.token_hex(8)} {long[half:]}"

    first = direct.ask(message(long), cache_salt=salt)
    second = direct.ask(message(changed), cache_salt=salt)

    assert second.cached is not None
    assert block < second.cached < whole(first, block) * 2 // 3
