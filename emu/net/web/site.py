"""Connections and requests of the web endpoint, bounded in number, size and time.

Twisted's server reads a body of any size into a file, and waits for one that comes a byte at a
time for as long as it comes. Here a request has to be small, and there as a whole in time.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import http
from twisted.web.error import UnsupportedMethod
from twisted.web.http import HTTPChannel
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections
from emu.measures import Uses
from emu.net.web.answers import unsupported

LARGEST_BODY: Final = 16 * 1024
REQUEST_TIME: Final = 30
"""Seconds that a request may take to arrive, from the connection or the last answer on."""
LIMITS: Final = ConnectionLimits(most=512, per_address=512, silent_per_address=128)
"""Behind a proxy all come from one address. Silent are those that have asked nothing yet."""
REFUSED: Final = 413
TOO_LARGE: Final = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


class PageRequest(Request):
    """One request. A body that is too large ends the connection."""

    channel: PageChannel
    content: BytesIO
    _is_refused = False

    def gotLength(self, length: int | None) -> None:
        """Learn how long the body is, None when it comes in chunks; called by Twisted."""
        super().gotLength(min(length or 0, LARGEST_BODY))
        if length is not None and length > LARGEST_BODY:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:
        """Take a part of the body; called by Twisted."""
        if self._is_refused:
            return
        if self.content.tell() + len(data) > LARGEST_BODY:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Answer, now that the request is complete; called by Twisted."""
        if not self._is_refused:
            self.channel.site.connections.introduced(self.channel)
            super().requestReceived(command, path, version)

    def render(self, resrc: Resource) -> None:
        """Answer with what a resource says; called by Twisted.

        Twisted's own writes a line into the log for every HEAD, and a page for other methods.
        """
        try:
            body = resrc.render(self)
        except UnsupportedMethod as error:
            body = unsupported(self, error.allowedMethods)
        if body is not NOT_DONE_YET:
            self.setHeader("Content-Length", str(len(body)))
            self.write(b"" if self.method == b"HEAD" else body)
            self.finish()

    def _refuse(self) -> None:
        self._is_refused = True
        self.channel.refuse(TOO_LARGE)


class PageChannel(HTTPChannel):
    """One connection."""

    site: PageSite
    transport: Any

    def resetTimeout(self) -> None:
        """Give a request no more time because a part of it came; called by Twisted."""

    def headerReceived(self, line: bytes) -> bool:
        """Take a line of the head; called by Twisted, which raises for a length of 5000 digits."""
        try:
            return bool(super().headerReceived(line))
        except ValueError:
            self.refuse(TOO_LARGE)
            return False

    def timeoutConnection(self) -> None:
        """End a connection on which no request came in time; called by Twisted."""
        self.transport.abortConnection()

    def refuse(self, answer: bytes) -> None:
        """Send a whole answer before its time, and end the connection."""
        self.site.count(REFUSED)
        self.transport.write(answer)
        self.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection is gone; called by Twisted."""
        super().connectionLost(reason)
        self.site.connections.remove(self)


class PageSite(Site):
    """Takes connections, and `close`s them at the end."""

    protocol = PageChannel  # type: ignore[assignment]  # Twisted's own also speaks HTTP/2
    requestFactory = PageRequest
    displayTracebacks = False

    def __init__(self, root: Resource, uses: Uses) -> None:
        """Requests are counted in `uses` by the status of the answer, each when it is over."""
        super().__init__(root, timeout=REQUEST_TIME, parsePOSTFormSubmission=False)
        self._uses = uses
        self.connections: Connections[PageChannel] = Connections(_cut)

    def buildProtocol(self, addr: IAddress | None) -> Any:
        """Take a connection, or None when it is one too many; called by Twisted."""
        host = plain_host(str(getattr(addr, "host", "")))
        if self.connections.make_room(host, LIMITS) is not None:
            return None
        channel = super().buildProtocol(addr)
        self.connections.add(channel, host)
        return channel

    def log(self, request: http.Request) -> None:
        """Count a request; called by Twisted at its end."""
        self.count(request.code)

    def count(self, code: int) -> None:
        """Count an answer by its status."""
        self._uses.requests[str(code)] += 1

    def close(self) -> None:
        """End every connection once what was written to it is sent."""
        for channel in self.connections:
            channel.transport.loseConnection()


def _cut(channel: PageChannel) -> None:
    """End a connection that has asked nothing, in favor of a new one."""
    channel.transport.abortConnection()
