"""Names that nothing else has."""

from concurrent.futures import ThreadPoolExecutor

from reference_gateway.nonce import Nonces


def test_no_name_is_given_twice_whoever_asks() -> None:
    names = Nonces(8)
    with ThreadPoolExecutor(8) as threads:
        given = list(threads.map(lambda _: names(), range(5_000)))
    assert len(set(given)) == len(given)
    assert {len(bytes.fromhex(name)) for name in given} == {8}
