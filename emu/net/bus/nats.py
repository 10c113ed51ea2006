"""The bus over NATS (core, without JetStream), with the client nats-py.

nats-py needs asyncio, which runs in a thread of its own: the reactor stays the default one, which
serves datagrams faster. What one side has for the other is handed over in batches.

Notes go to ``PREFIX.note.TOPIC`` and are received by one subscription, so that those of one sender
stay in order. The channels of chat are subjects of their own, ``PREFIX.channel.HASH``: a process
receives only those in which it has members.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Final

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from twisted.internet.defer import Deferred

from emu.errors import ConfigError, unusable
from emu.files import read_whole
from emu.net.bus.transport import (
    HEARTBEAT,
    MOST_QUEUED,
    RETRY_FIRST,
    RETRY_MOST,
    BusReceiver,
    TransportState,
)
from emu.net.scheduler import Scheduler

CONNECT_TIMEOUT: Final = 2
"""Seconds for one attempt."""
LAST: Final = 0.5
"""Seconds for sending the last messages when this process ends."""
PING: Final = 1
"""Seconds between two pings; two without an answer end the connection."""
_CHANNEL: Final = "note.channel."
_JWT: Final = b"BEGIN NATS USER JWT"


@dataclass(frozen=True, slots=True)
class NatsServer:
    """Where the brokers are, and what they ask for."""

    url: str
    """``nats://HOST:PORT`` or ``tls://HOST:PORT``, several with commas."""
    prefix: str
    """The first tokens of every subject; worlds that share a broker need different ones."""
    credentials_file: Path | None = None
    certificate: Path | None = None

    def options(self) -> dict[str, Any]:
        """Return the client's options for login and TLS. Raises `ConfigError`."""
        found: dict[str, Any] = {}
        if self.credentials_file is not None:
            found |= self._login(self.credentials_file)
        if self.certificate is not None:
            try:
                found["tls"] = ssl.create_default_context(cafile=str(self.certificate))
            except (OSError, ssl.SSLError) as error:
                raise ConfigError([f"bus.certificate: {self.certificate}: {error}"]) from None
        elif "tls://" in self.url:
            found["tls"] = ssl.create_default_context()
        return found

    def _login(self, path: Path) -> dict[str, Any]:
        try:
            data = read_whole(path)
        except OSError as error:
            raise ConfigError([f"bus.credentials_file: {unusable(error)}"]) from None
        if _JWT in data:
            return {"user_credentials": str(path)}
        line = data.decode("utf-8-sig", "replace").partition("\n")[0]
        user, colon, password = line.partition(":")
        if not colon:
            return {"token": user.strip()}
        return {"user": user.strip(), "password": password.strip()}


@dataclass(slots=True)
class _Queue:
    """Calls from one thread to the other, in batches; `wake` is called for the first one."""

    wake: Callable[[], object]
    items: deque[tuple[str, bytes]] = field(default_factory=deque)
    # Each is changed by one thread only; one sum that both change would drift.
    put_bytes: int = 0
    taken_bytes: int = 0
    is_awake: bool = False

    def put(self, subject: str, data: bytes) -> bool:
        """Add a message; return False if too much waits already."""
        if self.put_bytes - self.taken_bytes > MOST_QUEUED:
            return False
        self.put_bytes += len(data)
        self.items.append((subject, data))
        if not self.is_awake:
            self.is_awake = True
            self.wake()
        return True

    def take(self) -> tuple[str, bytes] | None:
        """Return the next message, None if there is none."""
        # First: a message that is put meanwhile wakes the taker again.
        if not self.items:
            self.is_awake = False
        if not self.items:
            return None
        subject, data = self.items.popleft()
        self.taken_bytes += len(data)
        return subject, data


class NatsTransport:
    """A `BrokerTransport` on NATS; its processes are those with the same prefix."""

    def __init__(
        self, server: NatsServer, reactor: Any, scheduler: Scheduler, heartbeat: float = HEARTBEAT
    ) -> None:
        """`heartbeat` is how many seconds are between two measurements of the delay."""
        self.receiver: BusReceiver
        self.state = TransportState(server.url)
        self._server = server
        self._reactor = reactor
        self._scheduler = scheduler
        self._heartbeat = heartbeat
        self._subjects: set[str] = set()
        self._is_up = False
        self._stopped: Deferred[None] | None = None
        self._thread: Thread | None = None
        # Of the thread.
        self._loop = asyncio.new_event_loop()
        self._pause = RETRY_FIRST
        self._client = Client()
        self._ending = asyncio.Event()
        self._woken = asyncio.Event()
        self._subscriptions: dict[str, Any] = {}
        self._out = _Queue(lambda: self._loop.call_soon_threadsafe(self._woken.set))
        self._in = _Queue(lambda: reactor.callFromThread(self._deliver))

    def start(self) -> None:
        """Begin to connect, and connect again whenever the connection is lost."""
        self._thread = Thread(target=self._run, name="emu-nats", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Send what waits and close the connection."""
        if self._thread is None:
            return
        self._is_up = False
        stopped = self._stopped = Deferred()
        self._loop.call_soon_threadsafe(self._ending.set)
        await stopped
        self._thread.join()
        self._thread = None

    # -- the exchange -------------------------------------------------------------------------

    def send(self, subject: str, data: bytes) -> None:
        """Send a message, or drop it."""
        if not self._is_up or not self._out.put(self._full(subject), data):
            self.state.dropped()

    def listen(self, subject: str) -> None:
        """Receive the messages of a subject, now and after each new connection."""
        self._subjects.add(self._heard(subject))
        self._changed()

    def ignore(self, subject: str) -> None:
        """Receive them no longer."""
        # One subscription is for all notes; those that nobody hears are few.
        if self._heard(subject) == self._full(subject):
            self._subjects.discard(self._full(subject))
            self._changed()

    def _changed(self) -> None:
        if self._is_up:
            self._loop.call_soon_threadsafe(self._subscribe_soon, frozenset(self._subjects))

    def _full(self, subject: str) -> str:
        if subject.startswith(_CHANNEL):
            subject = subject.removeprefix("note.")
        return f"{self._server.prefix}.{subject}"

    def _heard(self, subject: str) -> str:
        if subject.startswith("note.") and not subject.startswith(_CHANNEL):
            return f"{self._server.prefix}.note.>"
        return self._full(subject)

    def _deliver(self) -> None:
        """Pass on what was received; called by the reactor."""
        prefix = len(self._server.prefix) + 1
        while (message := self._in.take()) is not None:
            subject, data = message
            subject = subject[prefix:]
            if subject.startswith("channel."):
                subject = f"note.{subject}"
            if self._is_up:
                self.receiver.received(subject, data)

    def _connected(self) -> None:
        self._is_up = True
        self.state.connected()
        self.receiver.connected()
        # Subjects that were added while the others were subscribed to.
        self._changed()

    def _lost(self, reason: str) -> None:
        if self._stopped is None:
            self.state.lost(reason)
        if self._is_up:
            self._is_up = False
            self.receiver.disconnected()

    def _ended(self) -> None:
        if self._stopped is not None:
            self._stopped.callback(None)

    def _measured(self, delay: float) -> None:
        self.state.delay = delay

    # -- the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._main())
        finally:
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=LAST))
            self._loop.close()
            self._reactor.callFromThread(self._ended)

    async def _main(self) -> None:
        """Connect again and again until this process ends."""
        while not self._ending.is_set():
            try:
                await _either(self._session(), self._ended_late())
            # All of them: what a broken broker sends makes the client raise errors of any kind, and
            # without this loop the bus would stay away for ever.
            except Exception as error:  # noqa: BLE001
                self._reactor.callFromThread(self._lost, str(error) or type(error).__name__)
            if not self._ending.is_set():
                await _either(self._ending.wait(), asyncio.sleep(self._pause))
                self._pause = min(RETRY_MOST, 2 * self._pause)

    async def _ended_late(self) -> None:
        """Wait until this process has ended for as long as the last messages may take."""
        await self._ending.wait()
        await asyncio.sleep(LAST)

    async def _session(self) -> None:
        """Connect and serve one connection until it is lost or this process ends."""
        gone = asyncio.Event()

        async def lost() -> None:
            gone.set()

        async def failed(error: Exception) -> None:
            self._reactor.callFromThread(self._count, error)

        client = self._client = Client()
        try:
            await client.connect(
                self._server.url.split(","), name="emu", no_echo=True, allow_reconnect=False,
                connect_timeout=CONNECT_TIMEOUT, ping_interval=PING, max_outstanding_pings=2,
                error_cb=failed, disconnected_cb=lost, closed_cb=lost,
                **self._server.options(),
            )  # fmt: skip
        except Exception:
            # Each attempt would keep its socket otherwise.
            _close_socket(client)
            raise
        self._pause = RETRY_FIRST
        self._subscriptions = {}
        try:
            self._drop_queued()
            await self._subscribe(frozenset(self._subjects))
            await client.flush(CONNECT_TIMEOUT)
            self._reactor.callFromThread(self._connected)
            # Whatever ends the writer ends the connection, too.
            with suppress(TimeoutError, NatsError, OSError):
                await _either(
                    gone.wait(), self._ending.wait(), self._write(client), self._beat(client)
                )
            if self._ending.is_set() and not gone.is_set():
                await self._write_all(client)
                await client.flush(1)
        finally:
            if not self._ending.is_set():
                self._reactor.callFromThread(self._lost, "the connection is lost")
            # The client waits long for the end of TLS on a wire that loses everything.
            await asyncio.wait([asyncio.ensure_future(client.close())], timeout=LAST)
            _close_socket(client)

    def _drop_queued(self) -> None:
        """Drop what was not sent by the connection before: whoever waited for it has given up."""
        # Also so that the queue wakes the new writer: the one before may have ended within a call.
        unsent = 0
        while self._out.take() is not None:
            unsent += 1
        self._reactor.callFromThread(self.state.dropped, unsent)

    async def _write(self, client: Client) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            await self._write_all(client)

    async def _write_all(self, client: Client) -> None:
        while (message := self._out.take()) is not None:
            await client.publish(*message)

    async def _beat(self, client: Client) -> None:
        while True:
            begun = self._loop.time()
            await client.flush(10)
            self._reactor.callFromThread(self._measured, self._loop.time() - begun)
            await asyncio.sleep(self._heartbeat)

    def _subscribe_soon(self, subjects: frozenset[str]) -> None:
        task = self._loop.create_task(self._subscribe(subjects))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _subscribe(self, subjects: frozenset[str]) -> None:
        for subject in subjects - self._subscriptions.keys():
            # Noted first: a second change may come before the broker has the first one.
            self._subscriptions[subject] = None
            self._subscriptions[subject] = await self._client.subscribe(subject, cb=self._take)
        for subject in self._subscriptions.keys() - subjects:
            subscription = self._subscriptions.pop(subject)
            if subscription is not None:
                await subscription.unsubscribe()

    async def _take(self, message: Msg) -> None:
        if not self._in.put(message.subject, message.data):
            self._reactor.callFromThread(self._count, NatsError("too much waits"))

    def _count(self, error: Exception) -> None:
        """Count an error that ends no connection: a slow receiver, a right that is missing."""
        self.state.counters[type(error).__name__] += 1
        if "permissions violation" in str(error).lower():
            self.state.reason = str(error)


def _close_socket(client: Client) -> None:
    """Close the socket of a client that has not connected, which closes it only once it has."""
    transport: Any = client._transport  # noqa: SLF001  # it has no public name
    if transport is not None:
        transport.close()


async def _either(*waits: Awaitable[object]) -> None:
    """Wait for the first of several; raise what it raises."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    # The client takes no notice when it is cancelled while it connects.
    await asyncio.wait(tasks, timeout=LAST)
    for task in done:
        await task
