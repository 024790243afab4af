"""HTTP/1.1 and nothing else: a wish for another protocol is passed over, and trailers are no headers.

The web server drops the body of a request that asks for an upgrade, as clients do that would rather speak
HTTP/2, and adds a trailer to the headers, the credential among them, if it comes early enough.
"""

from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PlainHttpProtocol(HttpToolsProtocol):
    """A connection on which every request is served as HTTP/1.1 (RFC 9110, 7.8)."""

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        self._unset_keepalive_if_required()
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as wish:
                data = self._head_without_wish() + data[wish.args[0] :]
            except httptools.HttpParserError:
                self.send_400_response("Invalid HTTP request received.")
                return
            else:
                return

    def on_headers_complete(self) -> None:
        """Serve a request whose head is there. One with a wish is read once more without it."""
        if self.parser.should_upgrade():
            return
        super().on_headers_complete()
        self.headers = _TRAILERS

    def on_message_complete(self) -> None:
        """End a request's body."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _head_without_wish(self) -> bytes:
        """Spell the head that was read, and begin to read afresh."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        kept = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        # CONNECT is a wish itself, and no method that is served here.
        method = b"OPTIONS" if method == b"CONNECT" else method
        return b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version, b"".join(kept))


class _Nowhere(list[Any]):
    """Takes headers and keeps none."""

    def append(self, _: object) -> None:
        """Keep nothing."""


_TRAILERS: Final = _Nowhere()
