"""Connections and requests of the web endpoint, limited in number, size, time and work.

Twisted's HTTP server alone writes a body of any size into a file, waits without limit for a body
that arrives byte by byte, and answers all pipelined requests at once even if the client does not
read. Here a request must be small and arrive in time. The next request of a connection is read when
the client has received the last answer. The requests of all addresses take turns, and while
requests wait, answering them takes only a share of the time.
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

from emu.admin.web.requests import HostNames, absolute_form, are_hosts
from emu.limits.addresses import address_key, plain_host
from emu.limits.connections import ConnectionLimits, Connections
from emu.limits.rates import FairWork
from emu.metrics import EndpointUses
from emu.net.scheduler import Scheduler
from emu.net.web.resources import ambiguous, misdirected, unsupported
from emu.times import Monotonic

LIMITS: Final = ConnectionLimits(most=512, per_address=512, silent_per_address=512)
LARGEST_BODY: Final = 16 * 1024
READ_AT_ONCE: Final = 16 * 1024
"""Bytes that are read from a connection at once; twice as many may wait behind a request."""
EACH_COSTS: Final = 0.0002
"""Seconds charged for each item in addition to its measured time, for I/O."""
AT_ONCE: Final = 2
"""Items handled before other work has its turn: bytes of a request, and its answer."""


def refusal(code: int, phrase: str) -> bytes:
    """Return a whole answer that refuses a request, and ends its connection."""
    head = f"HTTP/1.1 {code} {phrase}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    return head.encode("ascii")


TOO_LARGE: Final = refusal(413, "Content Too Large")
URI_TOO_LONG: Final = refusal(414, "URI Too Long")
HEADER_TOO_LARGE: Final = refusal(431, "Request Header Fields Too Large")


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The limits; times in seconds."""

    connections: ConnectionLimits = LIMITS
    """Behind a proxy all connections have one address.

    A connection without a pending answer is idle.
    """
    request_timeout: float = 30.0
    """Time for a request to arrive, from the connection or the last answer on."""
    answer_timeout: float = 30.0
    """Time for the client to receive an answer."""
    requests: int = 1000
    """Requests of one connection; then it is closed, and clients reconnect."""
    send_buffer: int = 128 * 1024
    """Bytes that the kernel keeps for a client that does not read."""
    work_share: float = 0.2
    """Share of the time that answers may take while requests wait."""


@dataclass(frozen=True, slots=True)
class Visitors:
    """Finds the sender of a request."""

    source: Callable[[Request], str]
    """Returns the client's address of a request; behind a proxy, the one that the proxy names."""
    is_signed_in: Callable[[Request], bool]


def peer_source(channel: PageChannel) -> str:
    """Return the peer's address of a connection."""
    return address_key(plain_host(str(getattr(channel.transport.getPeer(), "host", ""))))


def peer_of(request: Request) -> str:
    """Return the peer's address of a request."""
    return plain_host(str(getattr(request.getClientAddress(), "host", "")))


NOBODY: Final = Visitors(peer_of, lambda _request: False)


class PageRequest(Request):
    """One request. A body that is too large ends the connection."""

    channel: PageChannel
    content: BytesIO
    _is_refused = False
    _has_host = False

    def gotLength(self, length: int | None) -> None:
        """Check the length of the body, None for a chunked one; called by Twisted."""
        # With a longer or unknown length Twisted would keep the body in a temporary file.
        super().gotLength(min(length or 0, LARGEST_BODY))
        if length is not None and length > LARGEST_BODY:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:
        """Handle bytes of the body; called by Twisted."""
        if self._is_refused:
            return
        if self.content.tell() + len(data) > LARGEST_BODY:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Queue the complete request; called by Twisted."""
        if self._is_refused:
            return
        self._has_host = are_hosts(self.requestHeaders.getRawHeaders(b"host", []), version)
        whole = absolute_form(path)
        if whole is not None:
            host, path = whole
            self.requestHeaders.setRawHeaders(b"host", [host])
            # The name in the URL is the one that counts.
            self._has_host = self._has_host and are_hosts([host], version)
        answer = partial(super().requestReceived, command, path, version)
        self.channel.site.queue_request(self, answer)

    def process(self) -> None:
        """Find the resource and render it; called by Twisted."""
        hosts = self.requestHeaders.getRawHeaders(b"host", [])
        if not self._has_host:
            self._send(ambiguous(self))
        elif not all(map(self.channel.site.hosts.allow, hosts)):
            self._send(misdirected(self))
        else:
            super().process()

    def render(self, resrc: Resource) -> None:
        """Answer with a resource; called by Twisted.

        Twisted's own method logs every HEAD request, and sends a page for unsupported methods.
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
    """Waits until everything written to a connection has been sent."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._is_asked = False

    def resumeProducing(self) -> None:
        """Called by Twisted at once, and again when the buffer is empty."""
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
        """Bytes that were received and wait for their turn."""

    def connectionMade(self) -> None:
        """Start the connection; called by Twisted."""
        super().connectionMade()
        self.transport.bufferSize = READ_AT_ONCE
        handle = getattr(self.transport, "getHandle", lambda: None)()
        if handle is not None:
            size = self.site.rules.send_buffer
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def dataReceived(self, data: bytes) -> None:
        """Queue received bytes; called by Twisted.

        Parsing them is work that waits for its turn, too.
        """
        # While a request is answered, Twisted only keeps the bytes; that costs nothing.
        if self._handlingRequest:
            super().dataReceived(data)
            return
        self._unread.append(data)
        # Only the first bytes queue the work, which then takes all that came meanwhile.
        if len(self._unread) == 1:
            self.site.work(peer_source(self), self._parse)
        elif not self._is_full and sum(map(len, self._unread)) > READ_AT_ONCE:
            self._is_full = True
            self.transport.pauseProducing()

    def _parse(self) -> None:
        data = b"".join(self._unread)
        self._unread.clear()
        if self._is_full:
            self._is_full = False
            self.transport.resumeProducing()
        # The connection may have ended while the work waited.
        if self.transport.connected:
            super().dataReceived(data)

    def resetTimeout(self) -> None:
        """Do nothing: bytes of a request do not extend its time; called by Twisted."""

    def headerReceived(self, line: bytes) -> bool:
        """Handle a header; called by Twisted. Twisted raises for a length of 5000 digits."""
        try:
            return bool(super().headerReceived(line))
        except ValueError:
            self.refuse(TOO_LARGE)
            return False

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: ARG002  # the name is Twisted's
        """Refuse a line that is too long; called by Twisted."""
        # The first line of a request is the one with its URI.
        self.refuse(HEADER_TOO_LARGE if self._receivedHeaderSize else URI_TOO_LONG)

    def checkPersistence(self, request: http.Request, version: bytes) -> bool:
        """Return whether the connection may have another request; called by Twisted."""
        self._asked += 1
        if self._asked < self.site.rules.requests:
            return bool(super().checkPersistence(request, version))
        request.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        return False

    def requestDone(self, request: http.Request) -> None:
        """Continue or end when the client has received the answer; called by Twisted.

        Until then its further bytes wait, most of them in its own send buffer.
        """
        self.setTimeout(self.site.rules.answer_timeout)
        if self.persistent:
            self.transport.unregisterProducer()
            self.transport.registerProducer(_Taken(lambda: self._taken(request)), False)
        else:
            super().requestDone(request)

    def _taken(self, request: http.Request) -> None:
        # Twisted allows one producer for a transport; between answers that is the channel.
        self.transport.unregisterProducer()
        self.transport.registerProducer(self, True)
        self.resumeProducing()
        self.site.connections.waiting(self)
        super().requestDone(request)

    def timeoutConnection(self) -> None:
        """End a connection that sends or reads too slowly; called by Twisted."""
        self.transport.abortConnection()

    def refuse(self, answer: bytes) -> None:
        """Send a whole answer of `refusal` early and end the connection."""
        self.site.count(int(answer.split()[1]))
        self.transport.write(answer)
        self.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Clean up after the connection; called by Twisted."""
        super().connectionLost(reason)
        self.site.connections.remove(self)


class PageSite(Site):
    """Accepts connections; `close` ends them."""

    noisy = False
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
        """`uses` counts requests by the status of their answers, each at its end.

        `hosts` are the names of this server; without them it answers only to IP addresses.
        """
        self.rules = rules or SiteRules()
        self.hosts = hosts or HostNames()
        # The pages read their forms themselves, with limits on fields.
        super().__init__(root, timeout=self.rules.request_timeout, parsePOSTFormSubmission=False)
        self._uses = uses
        self._visitors = visitors
        self._scheduler = scheduler
        self._timer = scheduler.timer(self)
        self._work: FairWork[Callable[[], None]] = FairWork(self.rules.work_share)
        self._is_working = False
        self.connections: Connections[PageChannel] = Connections(_cut)

    def configure(self, rules: SiteRules, hosts: HostNames) -> None:
        """Change limits and names; open connections keep the old limits."""
        self.rules = rules
        self.hosts = hosts
        self.timeOut = rules.request_timeout
        self._work.share = rules.work_share

    def buildProtocol(self, addr: IAddress | None) -> Any:
        """Return a connection, or None if the limit is reached; called by Twisted."""
        host = plain_host(str(getattr(addr, "host", "")))
        if self.connections.admit(host, self.rules.connections) is not None:
            return None
        channel = super().buildProtocol(addr)
        self.connections.add_connection(channel, host)
        return channel

    def queue_request(self, request: PageRequest, answer: Callable[[], None]) -> None:
        """Queue a request to be answered; a connection has at most one."""
        is_signed_in = self._visitors.is_signed_in(request)
        if is_signed_in:
            self.connections.introduced(request.channel)
        else:
            self.connections.answering(request.channel)
        source = address_key(self._visitors.source(request))
        self.work(source, partial(_answer, request, answer), is_first=is_signed_in)

    def work(self, source: str, item: Callable[[], None], *, is_first: bool = False) -> None:
        """Queue work for an address; run it at once if nothing waits."""
        self._work.put(source, item, is_first=is_first)
        if not self._is_working:
            self._work_on(self._scheduler.now(), in_turn=False)

    def handle_timer(self, now: Monotonic) -> None:
        """Run the work that has its turn; called by the scheduler."""
        self._work_on(now, in_turn=True)

    def _work_on(self, now: Monotonic, *, in_turn: bool) -> None:
        """Run the next work: read a request, or answer it."""
        self._is_working = True
        try:
            for _ in range(AT_ONCE):
                item = self._work.take(now, in_turn=in_turn)
                if item is None:
                    break
                # Processor time: a wait for another process must not count as work of this source.
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
        """Close every connection when its bytes have been sent."""
        for channel in self.connections:
            channel.transport.loseConnection()


def _answer(request: PageRequest, answer: Callable[[], None]) -> None:
    """Answer a request unless its connection has ended meanwhile."""
    if request.channel is not None:
        answer()


def _cut(channel: PageChannel) -> None:
    """End a connection in favor of a new one."""
    channel.transport.abortConnection()
