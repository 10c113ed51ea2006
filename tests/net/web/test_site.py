"""Requests that are too large, too slow or too many, byte by byte."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol
from twisted.web.resource import Resource
from twisted.web.server import Request

from emu.admin.web.requests import HostNames
from emu.limits.connections import ConnectionLimits
from emu.metrics import EndpointUses
from emu.net.scheduler import Scheduler
from emu.net.web.site import LARGEST_BODY, READ_AT_ONCE, TOO_LARGE, PageSite, SiteRules
from tests.support.running.whole_server import captured_log, until


class Echo(Resource):
    isLeaf = True  # noqa: N815  # the name is Twisted's

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.gets = 0
        self.body = b"hello"

    def render_GET(self, request: Request) -> bytes:
        self.gets += 1
        return self.body

    def render_POST(self, request: Request) -> bytes:
        content: Any = request.content
        self.sizes.append(len(content.read()))
        return b"taken"


class Wire(Protocol):
    """A connection, as bytes."""

    transport: Any

    def __init__(self) -> None:
        self.data = b""
        self.lost: Deferred[None] = Deferred()
        self.is_lost = False

    def dataReceived(self, data: bytes) -> None:
        self.data += data

    def connectionLost(self, reason: Any = None) -> None:
        self.is_lost = True
        self.lost.callback(None)


class Harness:
    def __init__(self, **rules: Any) -> None:
        self.echo = Echo()
        self.uses = EndpointUses()
        self.site = PageSite(
            self.echo, self.uses, Scheduler(reactor), rules=SiteRules(**rules),
            hosts=HostNames(["x", "Emu.Example.org."]),
        )  # fmt: skip
        self.port: Any = reactor.listenTCP(0, self.site, interface="127.0.0.1")  # type: ignore[attr-defined]

    async def wire(self, *parts: bytes) -> Wire:
        point = TCP4ClientEndpoint(reactor, "127.0.0.1", self.port.getHost().port)
        wire: Wire = await connectProtocol(point, Wire())
        for part in parts:
            wire.transport.write(part)
        return wire


@asynccontextmanager
async def harness(**rules: Any) -> AsyncIterator[Harness]:
    made = Harness(**rules)
    try:
        yield made
    finally:
        await made.port.stopListening()
        made.site.close()
        await until(lambda: not len(made.site.connections), "the connections to end")


def head(*headers: str) -> bytes:
    return "\r\n".join(["POST / HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def of_size(size: int, *headers: str) -> bytes:
    return head(f"Content-Length: {size}", *headers)


async def test_a_body_of_the_largest_size_is_taken() -> None:
    async with harness() as made:
        wire = await made.wire(of_size(LARGEST_BODY), b"x" * LARGEST_BODY)
        await until(lambda: b"taken" in wire.data, "an answer")
        chunk = b"%x\r\n%s\r\n" % (LARGEST_BODY // 2, b"x" * (LARGEST_BODY // 2))
        wire = await made.wire(head("Transfer-Encoding: chunked"), chunk, chunk, b"0\r\n\r\n")
        await until(lambda: b"taken" in wire.data, "an answer")
        assert made.echo.sizes == [LARGEST_BODY] * 2
        await until(lambda: made.uses.requests == {"200": 2}, "both to be counted")


@pytest.mark.parametrize(
    "parts",
    [
        (of_size(LARGEST_BODY + 1),),
        (of_size(10**15, "Expect: 100-continue"),),
        (head("Content-Length: " + "9" * 5000),),
        (head("Content-Length: " + "9" * 5000, "X-More: x"), b"x"),
        (of_size(LARGEST_BODY + 1), b"x" * (LARGEST_BODY + 1), of_size(1), b"x"),
        (head("Transfer-Encoding: chunked"), b"%x\r\n" % (LARGEST_BODY + 1),
         b"x" * (LARGEST_BODY + 1), b"\r\n0\r\n\r\n"),
        (head("Transfer-Encoding: chunked"), *[b"400\r\n" + b"x" * 1024 + b"\r\n"] * 17),
    ],
)  # fmt: skip
async def test_a_larger_one_is_refused_once_and_never_seen(parts: tuple[bytes, ...]) -> None:
    async with harness() as made:
        wire = await made.wire(*parts)
        await wire.lost
        assert wire.data.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"") in (
            b"", TOO_LARGE,
        )  # fmt: skip
        assert made.echo.sizes == []
        assert made.uses.requests == {"413": 1}


@pytest.mark.parametrize("begun", [b"", b"POST / HT", of_size(100) + b"x"])
async def test_a_request_that_drips_is_not_waited_for(
    begun: bytes,
) -> None:
    async with harness(request_timeout=0.2) as made:
        wire = await made.wire(begun)
        scheduler = Scheduler(reactor)
        before = scheduler.now()
        drip = scheduler.every(0.05, lambda: wire.transport.write(b"x"))
        await wire.lost
        drip.cancel()
        assert scheduler.now() - before < 5
        assert made.echo.sizes == []


async def test_a_second_request_has_no_more_time_than_the_first() -> None:
    async with harness(request_timeout=0.2) as made:
        wire = await made.wire(of_size(1), b"x")
        await until(lambda: b"taken" in wire.data, "an answer")
        drip = Scheduler(reactor).every(0.05, lambda: wire.transport.write(b"P"))
        await wire.lost
        drip.cancel()


async def test_heads_other_methods_and_silence_leave_no_line_in_the_log() -> None:
    async with harness(request_timeout=0.2) as made:
        with captured_log("text") as log:
            wire = await made.wire(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
                                   b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n")  # fmt: skip
            await wire.lost
        assert log.text == ""
    first, second, rest = wire.data.split(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200 OK")
    assert b"Content-Length: 5" in first
    assert second.startswith(b"HTTP/1.1 405 Method Not Allowed")
    assert b"Allow: GET, HEAD, POST" in second
    assert b"Content-Security-Policy" in second
    assert rest == b"this method is not taken here\n"


async def test_silent_ones_make_space() -> None:
    async with harness(connections=ConnectionLimits(6, 6, 3)) as made:
        silent = [await made.wire() for _ in range(9)]
        wire = await made.wire(of_size(1), b"x")
        await until(lambda: b"taken" in wire.data, "an answer")
        await until(lambda: sum(one.is_lost for one in silent) == 7, "silent ones to go")
        assert len(made.site.connections) <= 6


async def test_a_connection_that_was_answered_makes_space_for_a_new_one() -> None:
    async with harness(connections=ConnectionLimits(2, 2, 2)) as made:
        wires = []
        for _ in range(2):
            wires.append(await made.wire(of_size(1), b"x"))
            await until(lambda: b"taken" in wires[-1].data, "an answer")
        late = await made.wire(of_size(1), b"x")
        await until(lambda: b"taken" in late.data, "an answer")
        assert [one.is_lost for one in wires] == [True, False]


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_the_next_request_is_read_when_the_last_answer_is_taken() -> None:
    """One that never reads has a few requests answered, the rest stays on its side."""
    async with harness(send_buffer=4096, answer_timeout=1.0) as made:
        made.echo.body = b"x" * 10_000
        deaf = await made.wire()
        deaf.transport.pauseProducing()
        deaf.transport.getHandle().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.transport.write(GET * 20_000)
        other = await made.wire(*[GET] * 50)
        await until(lambda: other.data.count(b"HTTP/1.1 200") == 50, "fifty answers")
        (channel,) = [one for one in made.site.connections if one.requests]
        assert made.echo.gets < 50 + 400
        assert len(channel.transport.dataBuffer) + channel.transport._tempDataLen < 20_000
        assert sum(map(len, channel._dataBuffer)) <= 2 * READ_AT_ONCE
        await until(lambda: len(made.site.connections) == 1, "the deaf one to be cut off")
        deaf.transport.resumeProducing()
        await deaf.lost


async def test_requests_that_arrive_at_once_are_answered_in_order_one_a_turn() -> None:
    async with harness() as made:
        wire = await made.wire(GET * 3 + of_size(1) + b"x" + GET * 2)
        await until(lambda: wire.data.count(b"HTTP/1.1 200") == 6, "six answers")
        bodies = [part.rpartition(b"\r\n\r\n")[2] for part in wire.data.split(b"HTTP/1.1")[1:]]
        assert bodies == [b"hello"] * 3 + [b"taken"] + [b"hello"] * 2


async def test_an_answer_that_nobody_reads_ends_the_connection() -> None:
    async with harness(send_buffer=4096, answer_timeout=0.2) as made:
        made.echo.body = b"x" * 3_000_000
        deaf = await made.wire()
        deaf.transport.pauseProducing()
        deaf.transport.write(GET)
        await until(lambda: made.echo.gets == 1, "the request")
        await until(lambda: not len(made.site.connections), "the connection to end")
        deaf.transport.resumeProducing()
        await deaf.lost


async def test_a_connection_has_so_many_requests_and_no_more() -> None:
    async with harness(requests=3) as made:
        wire = await made.wire(GET * 4)
        await wire.lost
        answers = wire.data.split(b"HTTP/1.1 200 OK")[1:]
        assert [b"Connection: close" in answer for answer in answers] == [False, False, True]


async def test_requests_of_all_addresses_take_turns_within_a_share_of_the_time() -> None:
    """What a request costs is charged; while more was charged than the share, others rest."""
    async with harness(work_share=0.01) as made:
        wires = [await made.wire(GET * 5) for _ in range(3)]
        await until(lambda: made.echo.gets >= 6, "some answers")
        counts = [wire.data.count(b"hello") for wire in wires]
        assert max(counts) - min(counts) <= 5
        assert made.site._work._rested > Scheduler(reactor).now()
        made.site._work.share = 1.0
        await until(lambda: made.echo.gets == 15, "all answers")


@pytest.mark.parametrize(
    ("host", "code"),
    [("x", 200), ("X:80", 200), ("emu.example.org", 200), ("EMU.example.org.:8080", 200),
     ("localhost", 200), ("localhost:9", 200), ("127.0.0.1", 200), ("192.0.2.7:8080", 200),
     ("[::1]:80", 200), ("[2001:db8::1]", 200),
     ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403),
     ("x.evil.example", 403), ("2130706433", 403), ("", 400), ("user@127.0.0.1", 400),
     ("127.0.0.1/evil", 400), ("[evil]", 400), ("x:port", 400), ("x y", 400),
     ("x\r\nHost: x", 400)],
)  # fmt: skip
async def test_a_foreign_name_is_not_answered(host: str, code: int) -> None:
    async with harness() as made:
        wire = await made.wire(
            f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        )
        await wire.lost
        assert wire.data.startswith(b"HTTP/1.1 %d " % code)
        assert made.echo.gets == (code == 200)


async def test_old_programs_need_no_host() -> None:
    async with harness() as made:
        wire = await made.wire(b"GET / HTTP/1.0\r\n\r\n")
        await wire.lost
        assert wire.data.endswith(b"hello")
        wire = await made.wire(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        await wire.lost
        assert wire.data.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("target", "code"),
    [("http://x/", 200), ("HTTP://X", 200), ("https://127.0.0.1:80/a?b=http://y/", 200),
     ("http://x?a", 200), ("http://evil.example/", 403), ("http:///", 400),
     ("http://user@x/", 400)],
)  # fmt: skip
async def test_a_whole_url_names_the_host(target: str, code: int) -> None:
    """RFC 9112 section 3.2.2: the name in the URL counts, not that of the header."""
    async with harness() as made:
        wire = await made.wire(
            f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
        )
        await wire.lost
        assert wire.data.startswith(b"HTTP/1.1 %d " % code)
        assert made.echo.gets == (code == 200)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431),
        (b"a" * 20_000, 414),
    ],
)
async def test_a_line_that_is_too_long_is_answered(request_: bytes, code: int) -> None:
    async with harness() as made:
        wire = await made.wire(request_)
        await wire.lost
        assert wire.data.startswith(b"HTTP/1.1 %d " % code)
        assert made.echo.gets == 0
        assert made.uses.requests == {str(code): 1}
