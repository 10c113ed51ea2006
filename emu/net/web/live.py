"""`/api/events`: what happens, as server-sent events, to pages that are open.

A page that reads too slowly is let go; it connects again by itself. While nobody looks, nothing is
done.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.net.scheduler import Scheduler
from emu.net.web.answers import prepare

INTERVAL: Final = 2.0
"""Seconds between two states."""
MOST_PAGES: Final = 50
RETRY: Final = b"retry: 2000\n\n"
"""How long a page waits before it connects again, in milliseconds."""
BEHIND: Final = 256 * 1024
"""Bytes that may wait for one page."""


class LiveResource(Resource):
    """Streams what was before, the state every two seconds, and events as they come.

    All of it in one stream, so that a page which connects again has missed nothing.
    """

    isLeaf = True

    def __init__(
        self, scheduler: Scheduler, state: Callable[[], Any], recent: Callable[[], Any]
    ) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._state = state
        self._recent = recent
        self._pages: dict[Request, None] = {}
        self._turn: Any = None

    def __len__(self) -> int:
        """How many pages are open."""
        return len(self._pages)

    def render_GET(self, request: Request) -> Any:
        """Begin a stream; called by Twisted."""
        if len(self._pages) >= MOST_PAGES:
            prepare(request, "text/plain; charset=utf-8", 503)
            return b"too many pages are open\n"
        prepare(request, "text/event-stream; charset=utf-8")
        self._pages[request] = None
        request.notifyFinish().addBoth(lambda _result: self._gone(request))
        request.write(RETRY + _event("recent", self._recent()) + _event("state", self._state()))
        if self._turn is None:
            self._turn = self._scheduler.every(INTERVAL, lambda: self.tell("state", self._state()))
        return NOT_DONE_YET

    def render_HEAD(self, request: Request) -> bytes:
        """Answer who wants no stream; called by Twisted."""
        prepare(request, "text/event-stream; charset=utf-8")
        return b""

    def tell(self, kind: str, value: Any) -> None:
        """Send an event to every page."""
        if not self._pages:
            return
        data = _event(kind, value)
        for request in list(self._pages):
            if _waiting(request) > BEHIND:
                self._gone(request)
                request.loseConnection()
            else:
                request.write(data)

    def stop(self) -> None:
        """End every stream."""
        for request in list(self._pages):
            self._gone(request)
            request.finish()

    def _gone(self, request: Request) -> None:
        self._pages.pop(request, None)
        if not self._pages and self._turn is not None:
            self._turn.cancel()
            self._turn = None


def _event(kind: str, value: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


def _waiting(request: Request) -> int:
    """Return how many bytes wait for a page that reads slowly."""
    transport = getattr(request, "transport", None)
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)
