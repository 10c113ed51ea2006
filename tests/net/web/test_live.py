"""Streams to pages: bounded in number, and none for a page that does not read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.web.server import NOT_DONE_YET

from emu.net.scheduler import Scheduler
from emu.net.web.live import BEHIND, INTERVAL, MOST_PAGES, LiveResource


class Request:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.code = 0
        self.ended: Deferred[None] = Deferred()
        self.over = ""
        self.transport = SimpleNamespace(dataBuffer=b"", _tempDataLen=0)

    def setResponseCode(self, code: int) -> None:
        self.code = code

    def setHeader(self, *_header: str) -> None: ...

    def notifyFinish(self) -> Any:
        return self.ended

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def finish(self) -> None:
        self.over = "finished"

    def loseConnection(self) -> None:
        self.over = "lost"


def test_the_state_comes_by_itself_while_somebody_looks() -> None:
    clock = Clock()
    asked: list[int] = []
    live = LiveResource(Scheduler(clock), lambda: asked.append(1) or {"n": len(asked)}, dict)
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
    live.tell("line", {})
    assert clock.getDelayedCalls() == []


def test_a_page_that_does_not_read_is_let_go() -> None:
    live = LiveResource(Scheduler(Clock()), dict, dict)
    slow, good = Request(), Request()
    for page in (slow, good):
        live.render_GET(page)
    slow.transport.dataBuffer = bytes(BEHIND + 1)
    live.tell("line", {"text": "x"})
    assert (slow.over, good.over) == ("lost", "")
    assert len(live) == 1
    live.stop()
    assert good.over == "finished"


def test_pages_are_bounded() -> None:
    live = LiveResource(Scheduler(Clock()), dict, dict)
    pages = [Request() for _ in range(MOST_PAGES + 1)]
    answers = [live.render_GET(page) for page in pages]
    assert answers[-1] == b"too many pages are open\n"
    assert pages[-1].code == 503
    live.stop()
