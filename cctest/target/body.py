"""Response bodies, decoded within a bound: a few kilobytes of gzip can stand for gigabytes."""

import zlib
from collections.abc import Callable, Iterable
from typing import Final

BODY_LIMIT: Final = 8 * 1024 * 1024
"""Most bytes of a response body, both as sent and decoded."""

_GZIP: Final = 16 + zlib.MAX_WBITS


class BodyTooLargeError(Exception):
    """The body passes the bound."""


class BodyEncodingError(Exception):
    """The body isn't in the encoding that its header names, or nobody asked for that encoding."""


def read_body(chunks: Iterable[bytes], encoding: str, limit: int = BODY_LIMIT) -> bytes:
    """Join and decode a body.

    `encoding` is the value of `Content-Encoding`: none, `identity`, `gzip` or `deflate`.

    Raises BodyTooLargeError as soon as `limit` bytes are passed, and BodyEncodingError.
    """
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return _collect(chunks, lambda chunk, _room: chunk, limit)
    if name in {"gzip", "x-gzip", "deflate"}:
        decoder = _Inflater(deflate=name == "deflate")
        body = _collect(chunks, decoder.feed, limit)
        decoder.finish()
        return body
    raise BodyEncodingError(f"the response has content-encoding {encoding!r}, and only identity was accepted")


def _collect(chunks: Iterable[bytes], decode: Callable[[bytes, int], bytes], limit: int) -> bytes:
    body = bytearray()
    received = 0
    for chunk in chunks:
        received += len(chunk)
        body += decode(chunk, limit + 1 - len(body))
        if max(received, len(body)) > limit:
            raise BodyTooLargeError(f"the response body is larger than {limit:,} bytes")
    return bytes(body)


class _Inflater:
    """Decodes gzip (one or more members) or deflate (with or without its zlib header)."""

    def __init__(self, *, deflate: bool) -> None:
        self._deflate = deflate
        self._stream = None if deflate else zlib.decompressobj(_GZIP)

    def feed(self, chunk: bytes, room: int) -> bytes:
        """Decode one chunk, giving at most `room` bytes (at least 1); the caller stops when it is full."""
        out = bytearray()
        while chunk and len(out) < room:
            if self._stream is None:
                self._stream = zlib.decompressobj(_deflate_window(chunk[0]))
            elif self._stream.eof:
                if self._deflate:
                    break
                self._stream = zlib.decompressobj(_GZIP)
            try:
                out += self._stream.decompress(chunk, room - len(out))
            except zlib.error:
                raise BodyEncodingError("the response body isn't in the encoding that it names") from None
            chunk = self._stream.unconsumed_tail or self._stream.unused_data
        return bytes(out)

    def finish(self) -> None:
        """Check that the encoded body was complete."""
        if self._stream is not None and not self._stream.eof:
            raise BodyEncodingError("the encoded response body ends too early")


def _deflate_window(first: int) -> int:
    """Tell zlib's own header (compression method 8) from raw deflate, which servers send as well."""
    return zlib.MAX_WBITS if first & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS
