"""Access to the web endpoint's addresses: for everybody, monitors, or users with a rank.

Everybody else gets one answer, `refused`: its bytes and its work do not depend on why.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from emu.admin.web.requests import Monitors, Origin
from emu.admin.web.sessions import FORBIDDEN
from emu.net.web.resources import prepare
from emu.net.web.site import PageRequest


def refused(request: Request) -> bytes:
    """Answer a request of somebody who may not read the address; return the body."""
    prepare(request, "text/plain; charset=utf-8", FORBIDDEN)
    return b"sign in with an account that has a rank\n"


class RankCheck(Protocol):
    """Checks whether a request is one of a signed-in user with a rank."""

    def is_signed_in(self, request: Request) -> bool:
        """Return whether a request has a session. The account is not read."""

    async def has_rank(self, request: Request) -> bool:
        """Return whether the account of a request's session has a rank now."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine whose fault is logged."""


class RankedResource(Resource):
    """An address that only signed-in users with a rank may read; `check` None: nobody may."""

    isLeaf = True

    def __init__(self, inner: Resource, check: RankCheck | None) -> None:
        super().__init__()
        self._inner = inner
        self._check = check

    def render(self, request: Any) -> Any:
        """Answer; called by Twisted. The session decides before the method does."""
        # The cheap test first: without a session the database is not read.
        if self._check is None or not self._check.is_signed_in(request):
            return refused(request)
        self._check.spawn(self._serve(request, self._check))
        return NOT_DONE_YET

    async def _serve(self, request: PageRequest, check: RankCheck) -> None:
        gone: list[object] = []
        request.notifyFinish().addErrback(gone.append)
        has_rank = await check.has_rank(request)
        # The client may have disconnected while the database was read.
        if not gone:
            request.render(self._inner if has_rank else RefusedResource())


class RefusedResource(Resource):
    """An address that nobody may read."""

    isLeaf = True

    def render(self, request: Request) -> bytes:
        """Answer; called by Twisted."""
        return refused(request)


class MonitorResource(Resource):
    """An address for monitoring programs, and for signed-in users with a rank."""

    isLeaf = True

    def __init__(
        self,
        inner: Resource,
        monitors: Callable[[], Monitors],
        origin: Callable[[Request], Origin],
        otherwise: Resource,
    ) -> None:
        """`otherwise` answers requests that are not from a monitor."""
        super().__init__()
        self._inner = inner
        self._monitors = monitors
        self._origin = origin
        self._otherwise = otherwise

    def render(self, request: Any) -> Any:
        """Answer; called by Twisted."""
        is_monitor = self._monitors().admit(self._origin(request))
        return (self._inner if is_monitor else self._otherwise).render(request)
