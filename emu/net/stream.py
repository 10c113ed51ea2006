"""TCP connections: a `StreamProtocol` joined to a transport and a clock; listening addresses.

`Stream` decides when bytes are written and how many may wait for a slow reader, and it makes sure
that a closed connection is gone soon after. The protocol decides what bytes mean and how long
silence may last; subclasses of `Stream` handle its events.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final

from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.admin.status import OpenPort
from emu.config import Address, Config
from emu.config.ports import TCP, UDP, listening_ports
from emu.errors import ConfigError
from emu.limits.addresses import plain_host
from emu.limits.connections import StreamLimits
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler, Timed, Timer
from emu.net.watch import RefusalLog, Watch
from emu.stream_end import StreamProtocol
from emu.times import Monotonic

_log = logger("server")
_NO_FILE: Final = "EMFILE recovery: Closed socket from {address}"
REASON: Final = "no file is free"


@implementer(ILogObserver)
class OpenFiles:
    """Logs connections that Twisted closes for lack of a file descriptor. `start`, then `stop`.

    Twisted reports them only in its own log.
    """

    def __init__(self, scheduler: Scheduler, watch: Watch) -> None:
        self._refusals = RefusalLog(_log, scheduler)
        self.counters: Counter[str] = Counter()
        watch.reasons(
            "connections_cut",
            "TCP connections closed at once for lack of a file.",
            lambda: self.counters,
        )

    def start(self) -> None:
        """Observe the log from now on."""
        globalLogPublisher.addObserver(self)
        self._refusals.start()

    def stop(self) -> None:
        """Stop observing the log, and write the last summary."""
        globalLogPublisher.removeObserver(self)
        self._refusals.stop()

    def __call__(self, event: LogEvent) -> None:
        """Take an event of the log; called by Twisted."""
        if event.get("log_format") != _NO_FILE:
            return
        self.counters[REASON] += 1
        address = plain_host(str(event["address"][0]))
        if self._refusals.is_news("connections cut", "", "", REASON):
            _log.warn(
                "a connection from {address} was closed: the server may open no more files;"
                " raise LimitNOFILE or ulimit -n, or lower max_connections",
                address=address,
            )


BACKLOG: Final = 1024
"""Connections that may wait to be accepted, if many arrive at the same time."""


def listen_address(key: str, address: Address) -> Address:
    """Return the IP address to listen on, IPv4 if a host name has both; blocks for the resolver.

    `key` is the setting for the error: raises `ConfigError` if the name has no address.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            [f"{key}: the host name {address.host} cannot be resolved ({reason}); write an address"]
        ) from None
    # The sort is stable, so the resolver's order stays within IPv4 and IPv6.
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return Address(str(found[0][4][0]), address.port)


def open_port(key: str, port: Any, counters: Mapping[str, int]) -> OpenPort:
    """Return the description of an open port of Twisted; `key` is its setting."""
    host = port.getHost()
    if hasattr(host, "name"):
        return OpenPort(key, "UNIX", os.fsdecode(host.name), dict(counters))
    return OpenPort(key, host.type, str(Address(host.host, host.port)), dict(counters))


class UdpPortTaken(CannotListenError):
    """A UDP port cannot be opened; Twisted's own error does not say which protocol it was."""

    def __init__(self, interface: str, port: int, reason: OSError) -> None:
        super().__init__(interface, port, reason)  # type: ignore[no-untyped-call]


def _protocol(error: CannotListenError) -> str:
    return UDP if isinstance(error, UdpPortTaken) else TCP


_LISTEN_CURES: Final[dict[object, str]] = {
    errno.EADDRINUSE: "stop the program that holds the port, or choose another",
    errno.EADDRNOTAVAIL: "name an address of this machine, or 0.0.0.0 for all of them",
    errno.EAFNOSUPPORT: "this machine has no IPv6; name an IPv4 address",
    errno.EACCES: "choose a port above 1023, or give the server the right to open lower ones",
}
_LISTEN_CURES_ELSE: Final = "choose another address or port"


def cannot_listen(key: str, error: CannotListenError) -> str:
    """Return the error for a port that cannot be opened, with the cure; `key` is its setting."""
    reason = getattr(error.socketError, "strerror", None) or error.socketError
    cure = _LISTEN_CURES.get(getattr(error.socketError, "errno", None), _LISTEN_CURES_ELSE)
    return (
        f"{key}: cannot listen on {_protocol(error)} {error.interface}:{error.port} ({reason}); "
        f"{cure}"
    )


def key_of(config: Config, error: CannotListenError) -> str:
    """Return the setting of a port that cannot be opened."""
    failed = Address(str(error.interface), int(error.port))
    ports = [
        (port.key, port.address)
        for port in listening_ports(config)
        if port.protocol == _protocol(error)
    ]
    found = (key for key, address in ports if failed == listen_address(key, address))
    return next(found, "login.listen")


@implementer(IPushProducer)
class Stream(Protocol):
    """Base of Twisted protocols over a `StreamProtocol`.

    A subclass makes the core in `connectionMade` and handles its events.
    """

    core: StreamProtocol
    transport: Any  # Twisted's interfaces lack some methods of its transports

    def __init__(self, scheduler: Scheduler, limits: StreamLimits) -> None:
        self._scheduler = scheduler
        self._limits = limits
        self._timer: Timer[Timed] = Timer(self)
        self._last_call: DelayedCall | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._paused = False
        self._is_reading_paused = False
        self._serving = False
        self._gone = False
        self._finished = False
        self.begun = False
        """Whether there is a core; without one data is ignored, and a close aborts."""

    # -- for the owner

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self.core.closed

    @property
    def wants_data(self) -> bool:
        """Whether data is read from the peer; if not, it waits on the peer's side."""
        return True

    @property
    def is_behind(self) -> bool:
        """Whether output waits because the peer reads slowly."""
        return self._paused

    def close(self, reason: str, now: Monotonic) -> None:
        """Close the connection after all output is written."""
        if not self.begun:
            # Without a core there is no output that has to be written first.
            self.transport.abortConnection()
            return
        self.core.close(reason, now)
        self.serve()

    def cut_off(self, reason: str) -> None:
        """Abort the connection at once."""
        # What waits would never be read; without this the memory stays until Twisted reports the
        # end.
        self._waiting.clear()
        self._waiting_bytes = 0
        if self.begun:
            # The core first: its last events then have this reason and not that of a lost
            # connection.
            self.core.close(reason, self._scheduler.now())
        self.transport.abortConnection()
        if self.begun:
            self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Take an event of the core."""
        raise NotImplementedError

    # -- for the transport

    def start(self, core: StreamProtocol) -> None:
        """Begin with a core; the transport must be set."""
        self.core = core
        self.begun = True
        # True: a push producer, which Twisted pauses when the peer reads slowly.
        self.transport.registerProducer(self, True)
        self.serve()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes from the peer."""
        if self.begun:
            self.core.receive_data(data, self._scheduler.now())
            self.serve()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        """Note that the connection is lost."""
        self._gone = True
        self._waiting.clear()
        self._waiting_bytes = 0
        # Before the core is called: nothing that it does may arm the timer of a dead connection.
        self._scheduler.drop(self._timer)
        if self._last_call is not None:
            self._last_call.cancel()
        if self.begun:
            self.core.connection_lost(self._scheduler.now())
            self.serve()

    def pauseProducing(self) -> None:
        """Stop writing: the peer reads slowly."""
        self._paused = True
        if not self._gone and not self.closed and self._last_call is None:
            self._last_call = self._scheduler.later(self._limits.stall_timeout, self._stalled)
        # A subclass may stop reading from a peer that does not read its answers.
        self._listen_again()

    def resumeProducing(self) -> None:
        """Write again: the peer has read what waited."""
        self._paused = False
        if self._last_call is not None and not self.closed:
            self._last_call.cancel()
            self._last_call = None
        self._flush()
        self._listen_again()

    def stopProducing(self) -> None:
        """Stop writing for good; `connectionLost` follows."""
        self._paused = True

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due; called by the scheduler."""
        # A connection whose timer fails is aborted: without a timer it would stay for ever.
        try:
            self.core.handle_timer(now)
            self.serve()
        except Exception:
            self.transport.abortConnection()
            raise

    # -- between the two

    def serve(self) -> None:
        """Deliver events, write output, arm the timer, and finish a closed connection."""
        # A handler may send or close in the middle of this; the outer call then writes what it
        # added.
        if self._serving:
            return
        self._serving = True
        try:
            while (event := self.core.next_event()) is not None:
                self.take_event(event, self._scheduler.now())
        # A handler that raises must not keep the stream in this state: nothing would be served
        # again.
        finally:
            self._serving = False
        for data in self.core.data_to_send():
            self._waiting.append(data)
            self._waiting_bytes += len(data)
        self._flush()
        self._scheduler.arm(self._timer, None if self._gone else self.core.get_timer())
        if self.core.closed:
            if not self._finished:
                self._finish()
        elif not self._gone:
            self._listen()

    def _listen_again(self) -> None:
        if self.begun and not self._gone and not self.closed:
            self._listen()

    def _listen(self) -> None:
        """Start or stop reading from the peer, as `wants_data` says."""
        # Only on a change: Twisted's calls cost a system call each.
        if self._is_reading_paused == (not self.wants_data):
            return
        self._is_reading_paused = not self._is_reading_paused
        if self._is_reading_paused:
            self.transport.pauseProducing()
        else:
            self.transport.resumeProducing()

    def _flush(self) -> None:
        if self._gone:
            return
        while self._waiting and not self._paused:
            data = self._waiting.popleft()
            self._waiting_bytes -= len(data)
            self.transport.write(data)
        # Checked after the writing: only what the peer did not take counts.
        if self._waiting_bytes > self._limits.write_buffer and not self.closed:
            self.cut_off("peer does not read")

    def _stalled(self) -> None:
        self._last_call = None
        self.cut_off("peer does not read")

    def _finish(self) -> None:
        """Close the connection; abort it if the peer does not read the last bytes in time."""
        self._finished = True
        if self._gone:
            return
        if self._last_call is not None:
            self._last_call.cancel()
        # `loseConnection` waits for the last bytes without a limit, so this call ends the wait.
        self._last_call = self._scheduler.later(
            self._limits.close_linger, self.transport.abortConnection
        )
        if self._is_reading_paused:  # read and drop further data, to notice when the peer closes
            self.transport.resumeProducing()
        # Written even while paused: Twisted keeps these bytes until the peer reads or the abort.
        self.transport.writeSequence(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        self.transport.unregisterProducer()
        self.transport.loseConnection()
