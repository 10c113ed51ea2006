"""Streams to pages: bounded in number, and none for a page that does not read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.web.server import NOT_DONE_YET

from emu.net.scheduler import Scheduler
from emu.net.web.live import BEHIND, INTERVAL, STALLED, LiveResource
from emu.net.web.site import Visitors


class Request:
    def __init__(self, address: str = "192.0.2.1") -> None:
        self.written: list[bytes] = []
        self.code = 0
        self.ended: Deferred[None] = Deferred()
        self.over = ""
        self.transport = SimpleNamespace(dataBuffer=b"", _tempDataLen=0, abortConnection=self.cut)
        self.address = address

    def setResponseCode(self, code: int) -> None:
        self.code = code

    def setHeader(self, *_header: str) -> None: ...

    def notifyFinish(self) -> Any:
        return self.ended

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def finish(self) -> None:
        self.over = "finished"

    def cut(self) -> None:
        self.over = "cut"

    def getClientAddress(self) -> Any:
        return SimpleNamespace(host=self.address)


SIGNED_IN = Visitors(lambda request: request.address, lambda _request: True)  # type: ignore[attr-defined]


def test_the_state_comes_by_itself_while_somebody_looks() -> None:
    clock = Clock()
    asked: list[int] = []
    live = LiveResource(
        Scheduler(clock), lambda: asked.append(1) or {"n": len(asked)}, dict, SIGNED_IN
    )
    page = Request()
    assert live.render_GET(page) is NOT_DONE_YET
    for _ in range(3):
        clock.advance(INTERVAL)
    assert len(page.written) == 4
    assert b"event: recent\ndata: {}\n\n" in page.written[0]
    assert page.written[-1] == b'event: state\ndata: {"n":4}\n\n'
    page.ended.callback(None)
    clock.advance(10 * INTERVAL)
    assert len(asked) == 4
    live.send("line", {})
    assert clock.getDelayedCalls() == []


def test_a_page_that_does_not_read_is_let_go() -> None:
    live = LiveResource(Scheduler(Clock()), dict, dict, SIGNED_IN)
    slow, good = Request(), Request()
    for page in (slow, good):
        live.render_GET(page)
    slow.transport.dataBuffer = bytes(BEHIND + 1)
    live.send("line", {"text": "x"})
    assert (slow.over, good.over) == ("cut", "")
    assert len(live) == 1
    live.stop()
    assert good.over == "finished"


def test_a_page_that_leaves_anything_unread_for_long_is_let_go() -> None:
    clock = Clock()
    live = LiveResource(Scheduler(clock), dict, dict, SIGNED_IN)
    slow, good = Request(), Request()
    for page in (slow, good):
        live.render_GET(page)
    slow.transport.dataBuffer = b"x"
    clock.pump([INTERVAL] * round(STALLED / INTERVAL))
    good.transport.dataBuffer = b"x"
    assert (slow.over, good.over) == ("", "")
    clock.advance(2 * INTERVAL)
    assert (slow.over, good.over) == ("cut", "")
    good.transport.dataBuffer = b""
    clock.advance(INTERVAL)
    good.transport.dataBuffer = b"x"
    clock.pump([INTERVAL] * round(STALLED / INTERVAL))
    assert good.over == ""
    live.stop()


def test_the_oldest_page_of_who_has_most_makes_space() -> None:
    live = LiveResource(Scheduler(Clock()), dict, dict, SIGNED_IN, most_pages=4)
    other = Request("192.0.2.9")
    pages = [other, *[Request() for _ in range(10)]]
    for page in pages:
        live.render_GET(page)
    assert [page.over for page in pages] == ["", *["cut"] * 7, *[""] * 3]
    live.stop()
    assert other.over == "finished"


def test_a_stream_ends_with_the_session() -> None:
    staff: set[Any] = set()
    visitors = Visitors(lambda request: request.address, lambda request: request in staff)  # type: ignore[attr-defined]
    live = LiveResource(Scheduler(Clock()), dict, dict, visitors)
    boss, guide = Request(), Request()
    staff.update((boss, guide))
    for page in (boss, guide):
        live.render_GET(page)
    live.send("line", "secret")
    staff.remove(guide)
    live.send("line", "secret too")
    assert (boss.over, guide.over) == ("", "finished")
    assert b"secret too" in boss.written[-1]
    assert b"secret too" not in guide.written[-1]
    live.stop()
