"""`/api/events`: what happens, as server-sent events, to pages that are open.

A page that reads too slowly is let go; it connects again by itself. While nobody looks, nothing is
done. Pages of people who are signed in are shown more, and are not let go for others.
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
from emu.net.web.site import NOBODY, Visitors
from emu.times import Monotonic

_log = logger("web")
INTERVAL: Final = 2.0
"""Seconds between two states."""
MOST_PAGES: Final = 50
RETRY: Final = b"retry: 2000\n\n"
"""How long a page waits before it connects again, in milliseconds."""
BEHIND: Final = 256 * 1024
"""Bytes that may wait for one page."""
STALLED: Final = 30.0
"""Seconds that bytes may wait for one page until it has read them all."""


@dataclass(slots=True)
class _Page:
    """What is known of an open page."""

    is_staff: bool
    behind_since: Monotonic | None = None
    """Since when bytes have waited for it."""


class LiveResource(Resource):
    """Streams what was before, the state every two seconds, and events as they come.

    All of it in one stream, so that a page which connects again has missed nothing.
    """

    isLeaf = True

    def __init__(
        self,
        scheduler: Scheduler,
        state: Callable[[], Any],
        recent: Callable[[bool], Any],
        visitors: Visitors = NOBODY,
        most_pages: int = MOST_PAGES,
    ) -> None:
        """`recent` is given whether the page is that of somebody who is signed in."""
        super().__init__()
        self._scheduler = scheduler
        self._state = state
        self._recent = recent
        self._visitors = visitors
        self._limits = ConnectionLimits(most_pages, most_pages, most_pages)
        self._open: Connections[Request] = Connections(self._let_go)
        self._pages: dict[Request, _Page] = {}
        self._turn: Any = None

    def __len__(self) -> int:
        """How many pages are open."""
        return len(self._pages)

    def render_GET(self, request: Request) -> Any:
        """Begin a stream; called by Twisted.

        The oldest page of the address with most of them makes room for a new one.
        """
        source = self._visitors.source(request)
        if self._open.admit(source, self._limits) is not None:
            prepare(request, "text/plain; charset=utf-8", 503)
            return b"too many pages are open\n"
        page = _Page(self._visitors.is_signed_in(request))
        self._pages[request] = page
        self._open.add(request, source)
        if page.is_staff:
            self._open.introduced(request)
        prepare(request, "text/event-stream; charset=utf-8")
        request.notifyFinish().addBoth(lambda _result: self._gone(request))
        recent = _event("recent", self._recent(page.is_staff))
        request.write(RETRY + recent + _event("state", self._state()))
        if self._turn is None:
            self._turn = self._scheduler.every(INTERVAL, self._tell_state)
        return NOT_DONE_YET

    def render_HEAD(self, request: Request) -> bytes:
        """Answer who wants no stream; called by Twisted."""
        prepare(request, "text/event-stream; charset=utf-8")
        return b""

    def tell(self, kind: str, public: Any, to_staff: Any) -> None:
        """Send an event to every page: as the public has it, or as those who are signed in do."""
        if not self._pages:
            return
        data, staff_data = _event(kind, public), _event(kind, to_staff)
        now = self._scheduler.now()
        for request, page in list(self._pages.items()):
            try:
                self._tell_page(request, page, staff_data if page.is_staff else data, now)
            except Exception:  # noqa: BLE001  # the other pages are to be told
                self._gone(request)
                _log.failure("a page cannot be told")

    def _tell_page(self, request: Request, page: _Page, data: bytes, now: Monotonic) -> None:
        if page.is_staff and not self._visitors.is_signed_in(request):
            self._gone(request)
            request.finish()  # the page connects anew, as anybody
        elif self._is_stuck(request, page, now):
            self._let_go(request)
        else:
            request.write(data)

    def stop(self) -> None:
        """End every stream."""
        for request in list(self._pages):
            self._gone(request)
            request.finish()

    def _tell_state(self) -> None:
        state = self._state()
        self.tell("state", state, state)

    def _is_stuck(self, request: Request, page: _Page, now: Monotonic) -> bool:
        """Say whether a page leaves too much waiting, or anything for too long."""
        waiting = _waiting(request)
        if not waiting:
            page.behind_since = None
        elif page.behind_since is None:
            page.behind_since = now
        return waiting > BEHIND or (
            page.behind_since is not None and now - page.behind_since > STALLED
        )

    def _let_go(self, request: Request) -> None:
        """End a stream at once: a page that does not read would never take the last bytes."""
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
    """Return how many bytes wait for a page that reads slowly."""
    transport = getattr(request, "transport", None)
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)
