import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.target.body import BodyEncodingError, BodyTooLargeError, read_body


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "": bytes,
    "gzip": gzip.compress,
    "X-Gzip": gzip.compress,
    "deflate": zlib.compress,
    " deflate ": raw_deflate,
}


@pytest.mark.parametrize("encoding", ENCODERS)
@given(data=st.binary(max_size=300), size=st.integers(1, 50))
def test_a_body_comes_out_as_it_went_in(encoding: str, data: bytes, size: int) -> None:
    encoded = ENCODERS[encoding](data)
    chunks = [encoded[i : i + size] for i in range(0, len(encoded), size)]
    assert read_body(chunks, encoding) == data


def test_several_gzip_members_are_one_body() -> None:
    assert read_body([gzip.compress(b"a") + gzip.compress(b"b")], "gzip") == b"ab"


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
def test_the_bound_is_the_largest_size_that_is_taken(encoding: str) -> None:
    encode = ENCODERS[encoding]
    assert len(read_body([encode(b"x" * 1000)], encoding, limit=1000)) == 1000
    with pytest.raises(BodyTooLargeError, match="1,000 bytes"):
        read_body([encode(b"x" * 1001)], encoding, limit=1000)


def test_an_encoded_body_is_bounded_as_sent_too() -> None:
    nothing = gzip.compress(b"")
    with pytest.raises(BodyTooLargeError):
        read_body([nothing] * 1000, "gzip", limit=1000)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_other_encodings_are_errors(encoding: str) -> None:
    with pytest.raises(BodyEncodingError, match="only identity"):
        read_body([b""], encoding)


@pytest.mark.parametrize(
    "body",
    [b"plain text", gzip.compress(b"hello there")[:-9], gzip.compress(b"a") + b"junk"],
    ids=["not encoded", "cut short", "followed by junk"],  # a packed body holds the time of day
)
def test_a_damaged_encoding_is_an_error(body: bytes) -> None:
    with pytest.raises(BodyEncodingError):
        read_body([body], "gzip")
