"""Requests that are too large, too slow or too many, byte by byte."""

from __future__ import annotations

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

from emu.limits.connections import ConnectionLimits
from emu.measures import Uses
from emu.net.scheduler import Scheduler
from emu.net.web import site as site_module
from emu.net.web.site import LARGEST_BODY, PageSite
from tests.support.running.whole_server import captured_log, until


class Echo(Resource):
    isLeaf = True  # noqa: N815  # the name is Twisted's

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def render_GET(self, request: Request) -> bytes:
        return b"hello"

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


class House:
    def __init__(self) -> None:
        self.echo = Echo()
        self.uses = Uses()
        self.site = PageSite(self.echo, self.uses)
        self.port: Any = reactor.listenTCP(0, self.site, interface="127.0.0.1")  # type: ignore[attr-defined]

    async def wire(self, *parts: bytes) -> Wire:
        point = TCP4ClientEndpoint(reactor, "127.0.0.1", self.port.getHost().port)
        wire: Wire = await connectProtocol(point, Wire())
        for part in parts:
            wire.transport.write(part)
        return wire


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    made = House()
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
    async with house() as made:
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
    async with house() as made:
        wire = await made.wire(*parts)
        await wire.lost
        assert wire.data.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"") in (
            b"", site_module.TOO_LARGE,
        )  # fmt: skip
        assert made.echo.sizes == []
        assert made.uses.requests == {"413": 1}


@pytest.mark.parametrize("begun", [b"", b"POST / HT", of_size(100) + b"x"])
async def test_a_request_that_drips_is_not_waited_for(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_module, "REQUEST_TIME", 0.2)
    async with house() as made:
        wire = await made.wire(begun)
        scheduler = Scheduler(reactor)
        before = scheduler.now()
        drip = scheduler.every(0.05, lambda: wire.transport.write(b"x"))
        await wire.lost
        drip.cancel()
        assert scheduler.now() - before < 5
        assert made.echo.sizes == []


async def test_a_second_request_has_no_more_time_than_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_module, "REQUEST_TIME", 0.2)
    async with house() as made:
        wire = await made.wire(of_size(1), b"x")
        await until(lambda: b"taken" in wire.data, "an answer")
        drip = Scheduler(reactor).every(0.05, lambda: wire.transport.write(b"P"))
        await wire.lost
        drip.cancel()


async def test_heads_other_methods_and_silence_leave_no_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_module, "REQUEST_TIME", 0.2)
    async with house() as made:
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


async def test_silent_ones_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_module, "LIMITS", ConnectionLimits(6, 6, 3))
    async with house() as made:
        silent = [await made.wire() for _ in range(9)]
        wire = await made.wire(of_size(1), b"x")
        await until(lambda: b"taken" in wire.data, "an answer")
        await until(lambda: sum(one.is_lost for one in silent) == 7, "silent ones to go")
        assert len(made.site.connections) <= 6


async def test_those_who_have_asked_are_not_sent_away_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_module, "LIMITS", ConnectionLimits(2, 2, 2))
    async with house() as made:
        wires = [await made.wire(of_size(1), b"x") for _ in range(2)]
        await until(lambda: all(b"taken" in one.data for one in wires), "answers")
        late = await made.wire(of_size(1), b"x")
        await late.lost
        assert not any(one.is_lost for one in wires)
