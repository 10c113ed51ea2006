"""Connections and requests of the web endpoint, bounded in number, size, time and work.

Twisted's server reads a body of any size into a file, waits for one that comes a byte at a time for
as long as it comes, and answers all requests that have arrived at once, whether their answers are
read or not. Here a request has to be small and to arrive in time. The next request of a connection
is read when the peer has taken the answer to the last one. Requests of all addresses take turns,
and while many wait, answering them takes a share of the time only.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Final

from twisted.internet.interfaces import IAddress, IPullProducer
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import http
from twisted.web.error import UnsupportedMethod
from twisted.web.http import HTTPChannel
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from zope.interface import implementer

from emu.admin.web.requests import HostNames
from emu.limits.addresses import address_key, plain_host
from emu.limits.connections import ConnectionLimits, Connections
from emu.limits.turns import FairWork
from emu.metrics import EndpointUses
from emu.net.scheduler import Scheduler
from emu.net.web.resources import misdirected, unsupported
from emu.times import Monotonic

LIMITS: Final = ConnectionLimits(most=512, per_address=512, silent_per_address=512)
LARGEST_BODY: Final = 16 * 1024
READ_AT_ONCE: Final = 16 * 1024
"""Bytes that are read of a connection at once; twice as many may wait behind a request."""
EACH_COSTS: Final = 0.0002
"""Seconds that are charged for each item besides what it takes: taking and writing its bytes."""
AT_ONCE: Final = 2
"""Items before everything else has its turn: bytes of a request, and its answer."""
REFUSED: Final = 413
TOO_LARGE: Final = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The bounds; times in seconds."""

    connections: ConnectionLimits = LIMITS
    """Behind a proxy all come from one address. Silent are those that have no answer to come."""
    request_timeout: float = 30.0
    """Until a request has arrived, from the connection or from the last answer on."""
    answer_timeout: float = 30.0
    """Until the peer has taken an answer."""
    requests: int = 1000
    """Of one connection; then it is closed, and programs connect anew."""
    send_buffer: int = 128 * 1024
    """Bytes that the system keeps for a peer that does not read."""
    work_share: float = 0.2
    """Of the time, that answers may take while requests wait."""


@dataclass(frozen=True, slots=True)
class Visitors:
    """Says who sends a request."""

    source: Callable[[Request], str]
    """The address that a request counts for: behind a proxy, what the proxy says."""
    is_signed_in: Callable[[Request], bool]


def peer_source(channel: PageChannel) -> str:
    """Return the address that the bytes of a connection count for."""
    return address_key(plain_host(str(getattr(channel.transport.getPeer(), "host", ""))))


def peer_of(request: Request) -> str:
    """Return the address at the other side of the connection."""
    return plain_host(str(getattr(request.getClientAddress(), "host", "")))


NOBODY: Final = Visitors(peer_of, lambda _request: False)


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
        """Answer in its turn, now that the request is complete; called by Twisted."""
        if not self._is_refused:
            answer = partial(super().requestReceived, command, path, version)
            self.channel.site.take(self, answer)

    def process(self) -> None:
        """Look up what answers; called by Twisted."""
        hosts = self.requestHeaders.getRawHeaders(b"host", [])
        if len(hosts) > 1 or not all(self.channel.site.hosts.allow(host) for host in hosts):
            self._send(misdirected(self))
        else:
            super().process()

    def render(self, resrc: Resource) -> None:
        """Answer with what a resource says; called by Twisted.

        Twisted's own writes a line into the log for every HEAD, and a page for other methods.
        """
        try:
            body = resrc.render(self)
        except UnsupportedMethod as error:
            body = unsupported(self, error.allowedMethods)
        if body is not NOT_DONE_YET:
            self._send(body)

    def _send(self, body: bytes) -> None:
        self.setHeader("Content-Length", str(len(body)))
        self.write(b"" if self.method == b"HEAD" else body)
        self.finish()

    def _refuse(self) -> None:
        self._is_refused = True
        self.channel.refuse(TOO_LARGE)


@implementer(IPullProducer)
class _Taken:
    """Waits until everything that was written to a connection is on its way."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._is_asked = False

    def resumeProducing(self) -> None:
        """Called by Twisted at once, and again when nothing is left to be written."""
        if self._is_asked:
            self._then()
        self._is_asked = True

    def stopProducing(self) -> None:
        """Called by Twisted when the connection is gone."""


class PageChannel(HTTPChannel):
    """One connection."""

    site: PageSite
    transport: Any
    _asked = 0
    _is_full = False

    def __init__(self) -> None:
        super().__init__()
        self._unread: list[bytes] = []
        """What came and waits to be looked at."""

    def connectionMade(self) -> None:
        """Begin; called by Twisted."""
        super().connectionMade()
        self.transport.bufferSize = READ_AT_ONCE
        handle = getattr(self.transport, "getHandle", lambda: None)()
        if handle is not None:
            size = self.site.rules.send_buffer
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; called by Twisted. Looking at them is work that waits for its turn, too."""
        if self._handlingRequest:
            super().dataReceived(data)
            return
        self._unread.append(data)
        if len(self._unread) == 1:
            self.site.work(peer_source(self), self._look)
        elif not self._is_full and sum(map(len, self._unread)) > READ_AT_ONCE:
            self._is_full = True
            self.transport.pauseProducing()

    def _look(self) -> None:
        data = b"".join(self._unread)
        self._unread.clear()
        if self._is_full:
            self._is_full = False
            self.transport.resumeProducing()
        if self.transport.connected:
            super().dataReceived(data)

    def resetTimeout(self) -> None:
        """Give a request no more time because a part of it came; called by Twisted."""

    def headerReceived(self, line: bytes) -> bool:
        """Take a line of the head; called by Twisted, which raises for a length of 5000 digits."""
        try:
            return bool(super().headerReceived(line))
        except ValueError:
            self.refuse(TOO_LARGE)
            return False

    def checkPersistence(self, request: http.Request, version: bytes) -> bool:
        """Say whether there may be another request after this one; called by Twisted."""
        self._asked += 1
        if self._asked < self.site.rules.requests:
            return bool(super().checkPersistence(request, version))
        request.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        return False

    def requestDone(self, request: http.Request) -> None:
        """Go on, or end, once the peer has taken the answer; called by Twisted.

        What it sends meanwhile waits, most of it on its side.
        """
        self.setTimeout(self.site.rules.answer_timeout)
        if self.persistent:
            self.transport.unregisterProducer()
            self.transport.registerProducer(_Taken(lambda: self._taken(request)), False)
        else:
            super().requestDone(request)

    def _taken(self, request: http.Request) -> None:
        self.transport.unregisterProducer()
        self.transport.registerProducer(self, True)
        self.resumeProducing()
        self.site.connections.waiting(self)
        super().requestDone(request)

    def timeoutConnection(self) -> None:
        """End a connection that takes too long to ask or to read; called by Twisted."""
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

    def __init__(
        self,
        root: Resource,
        uses: EndpointUses,
        scheduler: Scheduler,
        *,
        rules: SiteRules | None = None,
        hosts: HostNames | None = None,
        visitors: Visitors = NOBODY,
    ) -> None:
        """Requests are counted in `uses` by the status of the answer, each when it is over.

        `hosts` are the names of this server; without them it answers to addresses only.
        """
        self.rules = rules or SiteRules()
        self.hosts = hosts or HostNames()
        super().__init__(root, timeout=self.rules.request_timeout, parsePOSTFormSubmission=False)
        self._uses = uses
        self._visitors = visitors
        self._scheduler = scheduler
        self._timer = scheduler.timer(self)
        self._work: FairWork[Callable[[], None]] = FairWork(self.rules.work_share)
        self._is_working = False
        self.connections: Connections[PageChannel] = Connections(_cut)

    def configure(self, rules: SiteRules, hosts: HostNames) -> None:
        """Go on with other bounds and names; open connections keep what they began with."""
        self.rules = rules
        self.hosts = hosts
        self.timeOut = rules.request_timeout
        self._work.share = rules.work_share

    def buildProtocol(self, addr: IAddress | None) -> Any:
        """Take a connection, or None when it is one too many; called by Twisted."""
        host = plain_host(str(getattr(addr, "host", "")))
        if self.connections.admit(host, self.rules.connections) is not None:
            return None
        channel = super().buildProtocol(addr)
        self.connections.add(channel, host)
        return channel

    def take(self, request: PageRequest, answer: Callable[[], None]) -> None:
        """Have a request answered in its turn; a connection has one at a time."""
        is_signed_in = self._visitors.is_signed_in(request)
        if is_signed_in:
            self.connections.introduced(request.channel)
        else:
            self.connections.answering(request.channel)
        source = address_key(self._visitors.source(request))
        self.work(source, partial(_answer, request, answer), is_first=is_signed_in)

    def work(self, source: str, item: Callable[[], None], *, is_first: bool = False) -> None:
        """Have something done for an address in its turn, at once when nothing has to wait."""
        self._work.put(source, item, is_first=is_first)
        if not self._is_working:
            self._work_on(self._scheduler.now(), in_turn=False)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what has its turn; called by the scheduler."""
        self._work_on(now, in_turn=True)

    def _work_on(self, now: Monotonic, *, in_turn: bool) -> None:
        """Do what comes next: read a request, and answer it."""
        self._is_working = True
        try:
            for _ in range(AT_ONCE):
                item = self._work.take(now, in_turn=in_turn)
                if item is None:
                    break
                before = time.thread_time()
                item()
                self._work.charge(time.thread_time() - before + EACH_COSTS, now)
        finally:
            self._is_working = False
            self._scheduler.arm(self._timer, self._work.get_timer())

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


def _answer(request: PageRequest, answer: Callable[[], None]) -> None:
    """Answer a request, unless its connection has ended while it waited."""
    if request.channel is not None:
        answer()


def _cut(channel: PageChannel) -> None:
    """End a connection in favor of a new one."""
    channel.transport.abortConnection()
