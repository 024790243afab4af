"""Many callers at once: nobody reads over a boundary, and nothing breaks."""

from concurrent.futures import ThreadPoolExecutor

from gateway.conftest import As
from gateway.talk import BOB, MONDAY, NAMESAKE, NO_SESSION, TUESDAY, Reply, intent, message, text

TOKENS = [MONDAY, TUESDAY, NO_SESSION, BOB, NAMESAKE]


def test_ten_clients_at_once_stay_within_their_tenants(caller_as: As) -> None:
    prompts = [text(2000), text(), text()]

    def session(number: int) -> list[Reply]:
        caller = caller_as(TOKENS[number % len(TOKENS)])
        return [
            caller.chat(message(prompt, intent()), message(f"{number} {turn}"), stream=bool(turn % 2))
            for turn in range(5)
            for prompt in prompts
        ]

    # One tenant warms its cache before the other has asked anything.
    for prompt in prompts:
        caller_as(MONDAY).chat(message(prompt, intent()))
    first = [caller_as(NAMESAKE).chat(message(prompt, intent())) for prompt in prompts]
    assert [reply.cached for reply in first] == [0] * len(prompts)
    with ThreadPoolExecutor(10) as pool:
        replies = [reply for batch in pool.map(session, range(10)) for reply in batch]
    assert {reply.http for reply in replies} == {200}
    assert {reply.status[0]["outcome"] for reply in replies} == {"exact_hit"}
    assert len({reply.answer for reply in replies}) == len(replies)


def test_ten_clients_with_secrets_of_their_own_share_nothing(caller_as: As) -> None:
    prompt = text(300)

    def once(number: int) -> Reply:
        own = intent("request" if number % 2 else "tenant", namespace=f"n{number}")
        return caller_as(TOKENS[number % len(TOKENS)]).chat(message(prompt, own))

    with ThreadPoolExecutor(10) as pool:
        assert [reply.cached for reply in pool.map(once, range(40))] == [0] * 40


def test_a_big_body_does_not_hold_up_the_others(caller_as: As) -> None:
    big = [message("x" * 230, intent(id=str(index))) for index in range(2500)]
    with ThreadPoolExecutor(10) as pool:
        slow = [pool.submit(caller_as(MONDAY).chat, *big) for _ in range(2)]
        quick = [pool.submit(caller_as(BOB).chat, message("hello")) for _ in range(50)]
        assert {one.result().http for one in (*quick, *slow)} == {200}
