"""The bus over PostgreSQL's LISTEN and NOTIFY, on one connection of its own.

The connection's descriptor is a reader of the reactor. A thread only makes the connection, because
that looks up names and waits. Nothing is sent while a statement is carried out; what piled up
meanwhile goes as the next one.

A payload has at most 7,999 bytes, so a message is sent in one or more parts. Each part begins with
``NUMBER.PART.PARTS`` and a space: PostgreSQL joins equal payloads of one transaction.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from itertools import count
from typing import Any, Final

import psycopg
from psycopg import pq
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReadWriteDescriptor
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.database.postgresql.connection import parameters
from emu.database.where import ServerUrl
from emu.net.bus.transport import HEARTBEAT, MOST_QUEUED, BusReceiver, TransportState
from emu.net.scheduler import DelayedCall, Scheduler
from emu.processes.exchange import MOST_OTHERS
from emu.processes.messages import LARGEST

PART: Final = 7900
"""Bytes of a message in one payload, which may have 7,999 with the numbers."""
LONGEST_CHANNEL: Final = 63
"""Bytes of a channel's name."""
MOST_IN_STATEMENT: Final = 500
"""Payloads of one statement."""
_SEND: Final = (
    b"SELECT count(pg_notify(channel, payload))"
    b" FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)"
)
_PREPARED: Final = b"emu_notify"
_GOOD: Final = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


def channel_of(subject: str) -> str:
    """Return the name of a subject's channel."""
    name = f"emu.{subject}"
    if len(name) <= LONGEST_CHANNEL:
        return name
    return f"emu:{hashlib.sha256(subject.encode()).hexdigest()[:48]}"


def parts_of(number: int, data: bytes) -> list[bytes]:
    """Return the payloads of a message."""
    pieces = [data[at : at + PART] for at in range(0, len(data), PART)] or [b""]
    return [
        b"%x.%d.%d %b" % (number, part, len(pieces), piece)
        for part, piece in enumerate(pieces, start=1)
    ]


class Joiner:
    """Joins the parts of each sender's messages; a sender sends one message after the other."""

    def __init__(self) -> None:
        self._begun: OrderedDict[int, tuple[bytes, list[bytes]]] = OrderedDict()

    def join(self, sender: int, payload: bytes) -> bytes | None:
        """Return the message that a payload completes; None if there is none.

        Raises `ValueError` for a payload that is not a part.
        """
        head, _, piece = payload.partition(b" ")
        number, part, parts = head.split(b".")
        if int(parts) == 1:
            return piece
        begun = self._begun.pop(sender, (b"", []))
        if int(part) == 1:
            begun = (number, [])
        name, pieces = begun
        # A part of it was lost, and with it the message.
        if name != number or len(pieces) != int(part) - 1:
            return None
        pieces.append(piece)
        if int(part) == int(parts):
            return b"".join(pieces)
        # A sender with a fault must not fill the memory.
        if len(pieces) * PART <= LARGEST:
            self._begun[sender] = begun
        if len(self._begun) > MOST_OTHERS:
            self._begun.popitem(last=False)
        return None


def array_of(texts: list[bytes]) -> bytes:
    """Return texts as PostgreSQL's array."""
    quoted = (text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') for text in texts)
    return b'{"' + b'","'.join(quoted) + b'"}' if texts else b"{}"


@implementer(IReadWriteDescriptor)
class Link:
    """One open connection, in the reactor."""

    def __init__(self, owner: PostgresqlTransport, connection: psycopg.Connection[Any]) -> None:
        self.is_ready = False
        self._owner = owner
        self._connection = connection
        self._core: Any = connection.pgconn
        self._core.nonblocking = 1
        # A copy: the driver closes its own when the connection fails, and the reactor must forget
        # the number before another file can get it.
        self._descriptor = os.dup(self._core.socket)
        self._pid = self._core.backend_pid
        self._commands: deque[Callable[[], object]] = deque()
        self._payloads: deque[tuple[bytes, bytes]] = deque()
        self._size = 0
        self._joiner = Joiner()
        self._is_busy = False
        self._is_closed = False
        owner.reactor.addReader(self)

    @property
    def is_idle(self) -> bool:
        """Whether everything was sent."""
        return self._is_closed or not (self._is_busy or self._payloads or self._commands)

    def prepare(self) -> None:
        """Prepare the statement that sends."""
        self._command(lambda: self._core.send_prepare(_PREPARED, _SEND))

    def command(self, sql: str) -> None:
        """Carry out statements without results."""
        self._command(lambda: self._core.send_query(sql.encode()))

    def then(self, call: Callable[[], object]) -> None:
        """Call a function when all commands up to here are carried out."""

        def called() -> None:
            self._is_busy = False
            call()

        self._command(called)

    def send(self, channel: bytes, payloads: list[bytes]) -> bool:
        """Send the payloads of a message; return False if too much waits already."""
        size = sum(map(len, payloads))
        if self._size + size > MOST_QUEUED:
            return False
        self._size += size
        self._payloads.extend((channel, payload) for payload in payloads)
        self._go_on()
        return True

    def close(self) -> int:
        """Close the connection; return how many payloads were not sent."""
        if not self._is_closed:
            self._owner.reactor.removeReader(self)
            self._owner.reactor.removeWriter(self)
            self._is_closed = True
            os.close(self._descriptor)
            self._connection.close()
        return len(self._payloads)

    # What the reactor calls.

    def fileno(self) -> int:
        """Return the descriptor of the connection."""
        return -1 if self._is_closed else self._descriptor

    def logPrefix(self) -> str:
        """Return a name for the log."""
        return "bus"

    def connectionLost(self, reason: Failure) -> None:
        """Close the connection: its descriptor cannot be used any more."""
        self._lost(reason.getErrorMessage())

    def doRead(self) -> None:
        """Take what the server has sent."""
        self._guarded(self._core.consume_input)

    def doWrite(self) -> None:
        """Write what the descriptor did not take before."""
        self._guarded(lambda: None)

    # Statements.

    def _command(self, call: Callable[[], object]) -> None:
        self._commands.append(call)
        self._go_on()

    def _go_on(self) -> None:
        self._guarded(lambda: None)

    def _guarded(self, call: Callable[[], object]) -> None:
        if self._is_closed:
            return
        try:
            call()
            self._take_notes()
            self._take_results()
            while not self._is_busy and not self._is_closed and (self._commands or self._payloads):
                self._is_busy = True
                self._begin()
            if not self._is_closed and self._core.flush():
                self._owner.reactor.addWriter(self)
            else:
                self._owner.reactor.removeWriter(self)
        except psycopg.Error as error:
            self._lost(" ".join(str(error).split()))

    def _begin(self) -> None:
        if self._commands:
            self._commands.popleft()()
            return
        channels: list[bytes] = []
        payloads: list[bytes] = []
        while self._payloads and len(payloads) < MOST_IN_STATEMENT:
            channel, payload = self._payloads.popleft()
            self._size -= len(payload)
            channels.append(channel)
            payloads.append(payload)
        values = [array_of(channels), array_of(payloads)]
        self._core.send_query_prepared(_PREPARED, values)

    def _take_results(self) -> None:
        while self._is_busy and not self._core.is_busy():
            result = self._core.get_result()
            if result is None:
                self._is_busy = False
            elif result.status not in _GOOD:
                # For instance: the server's queue of notifications is full.
                raise psycopg.OperationalError(result.error_message.decode("utf-8", "replace"))

    def _take_notes(self) -> None:
        while not self._is_closed and (note := self._core.notifies()) is not None:
            if note.be_pid == self._pid:
                self._owner.own(note.relname)
                continue
            try:
                data = self._joiner.join(note.be_pid, note.extra)
            except ValueError:
                self._owner.state.counters["malformed"] += 1
                continue
            if data is not None:
                self._owner.received(note.relname, data)

    def _lost(self, reason: str) -> None:
        if not self._is_closed:
            self._owner.lost(self, reason)


class PostgresqlTransport:
    """A `BrokerTransport` on a database; its processes are those with the same database."""

    def __init__(
        self, where: ServerUrl, reactor: Any, scheduler: Scheduler, heartbeat: float = HEARTBEAT
    ) -> None:
        """`heartbeat` is how many seconds are between two heartbeats."""
        self.reactor = reactor
        self.receiver: BusReceiver
        self.state = TransportState(str(where))
        self._where = where
        self._scheduler = scheduler
        self._subjects: dict[bytes, str] = {}
        """By channel."""
        # A channel of its own: the heartbeats of one process need not reach the others.
        self._beat_channel = channel_of(f"beat.{secrets.token_hex(8)}").encode()
        self._numbers = count(1)
        self._link: Link | None = None
        self._heartbeat = heartbeat
        self._is_running = False
        self._later: DelayedCall | None = None
        self._beats: DelayedCall | None = None

    def start(self) -> None:
        """Begin to connect, and connect again whenever the connection is lost."""
        self._is_running = True
        self._beats = self._scheduler.every(self._heartbeat, self._beat)
        self._attempt()

    async def stop(self) -> None:
        """Send what waits and close the connection."""
        self._is_running = False
        for call in (self._later, self._beats):
            if call is not None:
                call.cancel()
        until = self._scheduler.now() + 0.5
        while self._link and not self._link.is_idle and self._scheduler.now() < until:
            await self._scheduler.pause(0.01)
        if self._link is not None:
            self._close(self._link)

    # -- the exchange -------------------------------------------------------------------------

    def send(self, subject: str, data: bytes) -> None:
        """Send a message, or drop it."""
        link = self._link
        payloads = parts_of(next(self._numbers), data)
        if (
            link is None
            or not link.is_ready
            or not link.send(channel_of(subject).encode(), payloads)
        ):
            self.state.dropped()

    def listen(self, subject: str) -> None:
        """Receive the messages of a subject, now and after each new connection."""
        channel = channel_of(subject)
        self._subjects[channel.encode()] = subject
        if self._link is not None:
            self._link.command(f'LISTEN "{channel}"')

    def ignore(self, subject: str) -> None:
        """Receive them no longer."""
        channel = channel_of(subject)
        self._subjects.pop(channel.encode(), None)
        if self._link is not None:
            self._link.command(f'UNLISTEN "{channel}"')

    # -- the link -----------------------------------------------------------------------------

    def received(self, channel: bytes, data: bytes) -> None:
        """Pass a message on."""
        subject = self._subjects.get(channel)
        if subject is not None:
            self.receiver.received(subject, data)

    def own(self, channel: bytes) -> None:
        """Take what this process has sent: only its heartbeats are of use."""
        if channel == self._beat_channel:
            self.state.heard_beat(self._scheduler.now())

    def lost(self, link: Link, reason: str) -> None:
        """Close a connection that cannot be used any more, and connect anew."""
        if self._close(link):
            self._again(reason)

    # -- connecting ---------------------------------------------------------------------------

    def _attempt(self) -> None:
        self._later = None
        pool = self.reactor.getThreadPool()
        attempt: Deferred[Any] = deferToThreadPool(self.reactor, pool, connect, self._where)
        # Also of `_opened`: a connection may be lost before the reactor has it.
        attempt.addCallback(self._opened).addErrback(self._failed)

    def _opened(self, connection: psycopg.Connection[Any]) -> None:
        if not self._is_running:
            connection.close()
            return
        try:
            link = self._link = Link(self, connection)
        except BaseException:
            connection.close()
            raise
        link.prepare()
        channels = [*self._subjects, self._beat_channel]
        link.command("; ".join(f'LISTEN "{channel.decode()}"' for channel in channels))
        link.then(lambda: self._ready(link))

    def _ready(self, link: Link) -> None:
        link.is_ready = True
        self.state.connected()
        self.receiver.connected()

    def _failed(self, failure: Failure) -> None:
        detail = " ".join(str(failure.value).split())
        self._again(self._where.hide(detail) or type(failure.value).__name__)

    def _again(self, reason: str) -> None:
        if self._is_running:
            self._later = self._scheduler.later(self.state.lost(reason), self._attempt)

    def _close(self, link: Link) -> bool:
        """Close a connection; return whether it was the one in use."""
        unsent = link.close()
        if link is not self._link:
            return False
        self._link = None
        self.state.dropped(unsent)
        if link.is_ready:
            self.receiver.disconnected()
        return True

    def _beat(self) -> None:
        link = self._link
        if link is None:
            return
        payload = b"%x.1.1 " % next(self._numbers)
        send = lambda: link.send(self._beat_channel, [payload])  # noqa: E731
        # Also while the first commands are carried out: the server may stand still then.
        if not self.state.beat(self._scheduler.now(), send):
            self.lost(link, "it does not answer")


def connect(where: ServerUrl) -> psycopg.Connection[Any]:
    """Return a new connection; called in a thread. Raises `psycopg.Error`."""
    return psycopg.Connection.connect(autocommit=True, **parameters(where.named("emu-bus")))
