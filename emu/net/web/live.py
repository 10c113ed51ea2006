"""`/api/events`: state and events as server-sent events, for open pages of signed-in users.

Without open pages nothing is computed. A page that reads too slowly is disconnected and reconnects
by itself. A stream ends when its user is not signed in any more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.limits.connections import ConnectionLimits, Connections
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.web.resources import prepare
from emu.net.web.site import Visitors
from emu.times import Monotonic

_log = logger("web")
INTERVAL: Final = 2.0
"""Seconds between two states."""
MOST_PAGES: Final = 50
RETRY: Final = b"retry: 2000\n\n"
"""How long a browser waits before it reconnects, in milliseconds."""
BEHIND: Final = 256 * 1024
"""Bytes that may wait for one page."""
STALLED: Final = 30.0
"""Seconds for which bytes may wait for one page."""


@dataclass(slots=True)
class _Page:
    """An open page."""

    behind_since: Monotonic | None = None
    """When the waiting bytes of the page began to wait, or None."""


class LiveResource(Resource):
    """The stream: recent events first, then the state every two seconds, and events at once.

    One stream has all of it, so that a page that reconnects has missed nothing.
    """

    isLeaf = True

    def __init__(
        self,
        scheduler: Scheduler,
        state: Callable[[], Any],
        recent: Callable[[], Any],
        visitors: Visitors,
        most_pages: int = MOST_PAGES,
    ) -> None:
        super().__init__()
        self._scheduler = scheduler
        self._state = state
        self._recent = recent
        self._visitors = visitors
        self._limits = ConnectionLimits(most_pages, most_pages, most_pages)
        self._open: Connections[Request] = Connections(self._abort)
        self._pages: dict[Request, _Page] = {}
        self._turn: Any = None

    def __len__(self) -> int:
        """Return the number of open pages."""
        return len(self._pages)

    def render_GET(self, request: Request) -> Any:
        """Begin a stream; called by Twisted.

        At the limit, the oldest page of the address with the most pages is closed.
        """
        source = self._visitors.source(request)
        if self._open.admit(source, self._limits) is not None:
            prepare(request, "text/plain; charset=utf-8", 503)
            return b"too many pages are open\n"
        self._pages[request] = _Page()
        self._open.add_connection(request, source)
        prepare(request, "text/event-stream; charset=utf-8")
        request.notifyFinish().addBoth(lambda _result: self._gone(request))
        recent = _event("recent", self._recent())
        request.write(RETRY + recent + _event("state", self._state()))
        # The timer runs only while a page is open.
        if self._turn is None:
            self._turn = self._scheduler.every(INTERVAL, self._send_state)
        return NOT_DONE_YET

    def render_HEAD(self, request: Request) -> bytes:
        """Answer a request for the headers alone; called by Twisted."""
        prepare(request, "text/event-stream; charset=utf-8")
        return b""

    def send(self, kind: str, value: Any) -> None:
        """Send an event to every page."""
        if not self._pages:
            return
        data = _event(kind, value)
        now = self._scheduler.now()
        # A copy: a page that is stuck or signed out is removed in the loop.
        for request, page in list(self._pages.items()):
            try:
                self._send_page(request, page, data, now)
            except Exception:  # noqa: BLE001  # the other pages still get it
                self._gone(request)
                _log.failure("cannot send to a page")

    def _send_page(self, request: Request, page: _Page, data: bytes, now: Monotonic) -> None:
        # Checked for each event, because a session may end while its stream is open.
        if not self._visitors.is_signed_in(request):
            self._gone(request)
            request.finish()  # the page reconnects, and is refused
        elif self._is_stuck(request, page, now):
            self._abort(request)
        else:
            request.write(data)

    def stop(self) -> None:
        """End every stream."""
        for request in list(self._pages):
            self._gone(request)
            request.finish()

    def _send_state(self) -> None:
        self.send("state", self._state())

    def _is_stuck(self, request: Request, page: _Page, now: Monotonic) -> bool:
        """Return whether too many bytes wait for a page, or bytes wait for too long."""
        waiting = _waiting(request)
        if not waiting:
            page.behind_since = None
        elif page.behind_since is None:
            page.behind_since = now
        return waiting > BEHIND or (
            page.behind_since is not None and now - page.behind_since > STALLED
        )

    def _abort(self, request: Request) -> None:
        """End a stream at once: a page that does not read never takes the last bytes."""
        self._gone(request)
        transport: Any = request.transport
        transport.abortConnection()

    def _gone(self, request: Request) -> None:
        self._pages.pop(request, None)
        self._open.remove(request)
        if not self._pages and self._turn is not None:
            self._turn.cancel()
            self._turn = None


def _event(kind: str, value: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


def _waiting(request: Request) -> int:
    """Return how many bytes wait for a page."""
    transport = getattr(request, "transport", None)
    # Twisted keeps new bytes apart from its buffer until the next write, so both count.
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)
