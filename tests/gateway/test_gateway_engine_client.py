"""The client of the engine: answers of every length and dialect, and connections that are used again, or not."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import trustme

from reference_gateway.engine.client import EngineClient
from reference_gateway.engine.connection import Response

OK = b"HTTP/1.1 200 OK\r\n"
Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


async def request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read one request with a length: head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), 0
    )
    return head, await reader.readexactly(length)


@contextlib.asynccontextmanager
async def engine(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[EngineClient]:
    """A server that does what the script says on each connection, which it numbers; and a client of it."""
    count = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await script(reader, writer, count)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    client = EngineClient(f"{'https' if tls else 'http'}://127.0.0.1:{port}/base", {"X-Own": "1"})
    try:
        yield client
    finally:
        client.close()
        server.close()


def soon(seconds: float = 30) -> float:
    return asyncio.get_running_loop().time() + seconds


async def whole(response: Response) -> bytes:
    body = b""
    while piece := await response.piece():
        body += piece
    return body


def answering(*answers: bytes, repeat: bool = True) -> Script:
    """Give each request of a connection the next answer, and close after the last unless they repeat."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        while True:
            for answer in answers:
                await request(reader)
                writer.write(answer)
            if not repeat:
                return

    return script


def run(work: Awaitable[Any]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work, 60)

    return asyncio.run(bounded())


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (OK + b"Content-Length: 0\r\n\r\n", b""),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: x\r\n\r\n",
            b"hello",
        ),
        (OK + b"Connection: close\r\n\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (
            b"HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 100 Go\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
            b"hello",
        ),
    ],
)
def test_a_body_ends_where_its_head_says(answer: bytes, body: bytes) -> None:
    async def work() -> None:
        async with engine(answering(answer, repeat=False)) as client:
            response = await client.post("/x", b"{}", soon())
            assert (response.status, await whole(response), response.complete) == (200, body, True)

    run(work())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        OK + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_response_is_a_broken_connection(answer: bytes) -> None:
    async def work() -> None:
        async with engine(answering(answer, repeat=False)) as client:
            with pytest.raises(ConnectionError):
                await client.post("/x", b"{}", soon())

    run(work())


@pytest.mark.parametrize(
    "answer",
    [OK + b"Content-Length: 9\r\n\r\nhello", OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
)
def test_a_body_that_ends_too_soon_is_told(answer: bytes) -> None:
    async def work() -> None:
        async with engine(answering(answer, repeat=False)) as client:
            response = await client.post("/x", b"{}", soon())
            with pytest.raises(ConnectionError):
                await whole(response)

    run(work())


def test_a_request_is_what_it_should_be() -> None:
    seen: list[tuple[bytes, bytes]] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        while True:
            seen.append(await request(reader))
            writer.write(OK + b"Content-Length: 0\r\n\r\n")

    async def work() -> None:
        async with engine(script) as client:
            await client.post("/x", b"{}", soon())
            await client.get("/y", soon())

    run(work())
    (post, body), (get, nothing) = seen
    assert post.startswith(b"POST /base/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nX-Own: 1\r\n" in post
    assert b"\r\nContent-Type: application/json\r\n" in post
    assert get.startswith(b"GET /base/y HTTP/1.1\r\n")
    assert (body, nothing) == (b"{}", b"")


def numbered(reader_to_answer: Callable[[int, int], bytes]) -> Script:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        for turn in range(100):
            await request(reader)
            writer.write(reader_to_answer(connection, turn))

    return script


def spelt(text: str, *headers: bytes) -> bytes:
    body = text.encode()
    return OK + b"".join(headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_a_connection_is_used_again_when_its_answer_is_complete() -> None:
    async def work() -> list[bytes]:
        async with engine(numbered(lambda connection, turn: spelt(f"{connection}.{turn}"))) as client:
            return [await whole(await client.post("/x", b"{}", soon())) for _ in range(3)]

    assert run(work()) == [b"1.0", b"1.1", b"1.2"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda connection, _: spelt(f"{connection}", b"Connection: close\r\n"),
        lambda connection, _: spelt(f"{connection}") + spelt("one that nobody asked for"),
        lambda connection, _: spelt(f"{connection}") + b"x",
    ],
    ids=["close", "a response too many", "a byte too many"],
)
def test_a_connection_that_can_not_be_trusted_is_not_used_again(answer: Callable[[int, int], bytes]) -> None:
    async def work() -> list[bytes]:
        async with engine(numbered(answer)) as client:
            return [await whole(await client.post("/x", b"{}", soon())) for _ in range(3)]

    assert run(work()) == [b"1", b"2", b"3"]


def test_a_response_given_up_takes_its_connection_with_it() -> None:
    gone = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        await request(reader)
        if connection > 1:
            writer.write(spelt("second"))
            return
        writer.write(OK + b"Content-Length: 1000\r\n\r\nbegun")
        with contextlib.suppress(OSError):
            assert await reader.read() == b""
        gone.set()

    async def work() -> None:
        async with engine(script) as client:
            response = await client.post("/x", b"{}", soon())
            assert await response.piece() == b"begun"
            response.close()
            await gone.wait()
            with pytest.raises(ConnectionError):
                await response.piece()
            assert await whole(await client.post("/x", b"{}", soon())) == b"second"

    run(work())


def test_cancelling_who_waits_for_the_head_gives_the_response_up() -> None:
    async def work() -> None:
        gone, asked = asyncio.Event(), asyncio.Event()

        async def script(reader: asyncio.StreamReader, _: asyncio.StreamWriter, __: int) -> None:
            await request(reader)
            asked.set()
            with contextlib.suppress(OSError):
                await reader.read()
            gone.set()

        async with engine(script) as client:
            waiting = asyncio.create_task(client.post("/x", b"{}", soon()))
            await asked.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await gone.wait()

    run(work())


@pytest.mark.parametrize("begun", [b"", OK + b"Content-Length: 9\r\n\r\nhello", OK + b"\r\nhello"])
def test_time_is_up_before_the_head_or_in_the_body(begun: bytes) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await request(reader)
        writer.write(begun)
        await reader.read()

    async def work() -> None:
        async with engine(script) as client:
            with pytest.raises(TimeoutError):
                await whole(await client.post("/x", b"{}", soon(0.2)))

    run(work())


@pytest.mark.parametrize("begun", [b"", OK + b"Content-Length: 5\r\n\r\n"])
def test_what_comes_too_late_is_not_taken_though_nothing_has_noticed_the_time(begun: bytes) -> None:
    """After a stop of the event loop, data is there before its timers are looked at."""
    late = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await request(reader)
        writer.write(begun)
        await late.wait()
        writer.write((b"" if begun else OK + b"Content-Length: 5\r\n\r\n") + b"hello")
        await writer.drain()
        time.sleep(0.4)  # the loop stands still until the deadline has passed

    async def work() -> None:
        async with engine(script) as client:
            asking = asyncio.create_task(client.post("/x", b"{}", soon(0.3)))
            await asyncio.sleep(0.1)
            late.set()
            with pytest.raises(TimeoutError):
                await whole(await asking)

    run(work())


@pytest.mark.parametrize("before", [[], [b"before"]], ids=["new connection", "kept connection"])
def test_a_request_whose_time_is_up_is_never_sent(before: list[bytes]) -> None:
    seen: list[bytes] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        while True:
            seen.append((await request(reader))[1])
            writer.write(spelt("hello"))

    async def work() -> None:
        async with engine(script) as client:
            for body in before:
                await whole(await client.post("/x", body, soon()))
            with pytest.raises(TimeoutError):
                await client.post("/x", b"too late", soon(0))
            assert await whole(await client.post("/x", b"after", soon())) == b"hello"

    run(work())
    assert seen == [*before, b"after"]


def test_a_connection_on_which_a_request_was_not_whole_when_it_was_answered_is_not_used_again() -> None:
    async def work() -> None:
        done = asyncio.Event()

        async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(spelt(f"{number}"))
            await done.wait()

        async with engine(script) as client:
            large = b"x" * (64 * 1024 * 1024)
            assert await whole(await client.post("/x", large, soon())) == b"1"
            assert await whole(await client.post("/x", b"{}", soon())) == b"2"
            done.set()

    run(work())


def test_an_engine_that_is_not_there_is_told() -> None:
    async def work() -> None:
        async with engine(answering(b"")) as client:
            pass
        with pytest.raises(ConnectionRefusedError):
            await client.post("/x", b"{}", soon())

    run(work())


def test_what_nobody_takes_is_not_read() -> None:
    size = 64 * 1024 * 1024

    async def work() -> None:
        written = 0

        async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
            nonlocal written
            await request(reader)
            writer.write(OK + b"Content-Length: %d\r\n\r\n" % size)
            piece = b"x" * 65536
            for _ in range(size // len(piece)):
                writer.write(piece)
                await writer.drain()
                written += len(piece)

        async with engine(script) as client:
            response = await client.post("/x", b"{}", soon(60))
            before = -1
            while before != written:  # until the engine gets no further
                before = written
                await asyncio.sleep(0.2)
            assert 0 < written < size
            taken = 0
            while piece := await response.piece():
                taken += len(piece)
            assert taken == size

    run(work())


def test_an_engine_behind_tls_must_be_who_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)

    async def ask() -> bytes:
        async with engine(answering(spelt("hello")), tls) as client:
            return await whole(await client.post("/x", b"{}", soon()))

    with pytest.raises(ssl.SSLError):
        run(ask())
    with authority.cert_pem.tempfile() as file:
        monkeypatch.setenv("SSL_CERT_FILE", file)
        assert run(ask()) == b"hello"
