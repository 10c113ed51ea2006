"""The test client in a world on UDP sockets.

A `ClientWorldConnection` has one socket for each session of a `WorldClientCore`, and at most one
reactor call. It passes datagrams and time to the core, and lets an ``async def`` wait for a
condition or for events. `enter_world` does all steps, beginning at the login server.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, Self, TypeVar
from weakref import WeakSet

from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import DatagramProtocol

from emu.client.events import Closed
from emu.client.flow import STEP_TIMEOUT, Entrance, granted
from emu.client.world import (
    ClientWorldMessages,
    WorldClientCore,
    WorldHandoff,
    WorldPhase,
    make_session,
)
from emu.client.world.core import EVENT_LIMIT
from emu.client.world.events import Refused, WorldEvent
from emu.client.world.surroundings import RUNNING_SPEED
from emu.dialects import Dialects, shipped_rules
from emu.errors import CommandError
from emu.net.client.connection import open_client
from emu.net.scheduler import Scheduler, Timed, Timer
from emu.opcodes import OpcodeTables, shipped_tables
from emu.session import Session
from emu.structs import shipped_catalog
from emu.times import Monotonic

EventKind = TypeVar("EventKind", bound=WorldEvent)

LEAVE_TIMEOUT: Final = 5.0
"""Seconds that a leaving client waits for the end of its session."""


class _Socket(DatagramProtocol):
    """The socket of one session."""

    noisy = False

    def __init__(self, owner: ClientWorldConnection) -> None:
        self._owner = owner

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: ARG002
        """Pass a datagram on; a connected socket only receives the server's."""
        self._owner.received(self, datagram)

    def connectionRefused(self) -> None:
        """Do nothing: a lost server is detected by its silence."""

    def stopProtocol(self) -> None:
        """Handle the loss of the socket; some reactors close it when nothing listens there."""
        self._owner.socket_gone(self)


class EventQueue(Generic[EventKind]):
    """The events of some kinds from now on, as an asynchronous iterator; `events` makes it.

    The iteration ends with the session. A queue keeps the latest 4,096 events, and has one reader.
    """

    def __init__(self, client: ClientWorldConnection, kinds: tuple[type[EventKind], ...]) -> None:
        self._client = client
        self._kinds = kinds
        self._events: deque[EventKind] = deque(maxlen=EVENT_LIMIT)

    def __len__(self) -> int:
        """Return how many events wait."""
        return len(self._events)

    def __bool__(self) -> bool:
        return True  # an empty queue is a queue

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventKind:
        await self._client.wait(lambda: self._events)
        if not self._events:
            raise StopAsyncIteration
        return self._events.popleft()

    async def next(
        self,
        timeout: float | None = None,  # noqa: ASYNC109  # measured on our clock
    ) -> EventKind:
        """Wait for the next event and return it. `timeout` is in seconds.

        The default timeout is that of the connection. Raises `CommandError` at the timeout, or when
        the session ends before.
        """
        names = " or ".join(kind.__name__ for kind in self._kinds)
        await self._client.until(lambda: self._events, f"the event {names}", timeout=timeout)
        return self._events.popleft()

    def put(self, event: WorldEvent) -> None:
        """Add an event if it is of one of the kinds; called by the connection."""
        if isinstance(event, self._kinds):
            self._events.append(event)


class ClientWorldConnection:
    """A client of one world; made by `enter_world`.

    `core` has the client's state: the zone, the place, the ghosts around. `on_event` is called with
    every event. `timeout` is how long `until` waits, in seconds.
    """

    def __init__(
        self,
        reactor: Any,
        core: WorldClientCore,
        *,
        interface: str = "",
        timeout: float = STEP_TIMEOUT,
        on_event: Callable[[WorldEvent], None] = lambda _event: None,
    ) -> None:
        self.core = core
        self.on_event = on_event
        self.on_step: Callable[[Monotonic], None] = lambda _now: None
        """Called after the client's timer was handled, which may have sent a step."""
        self._reactor = reactor
        self._interface = interface
        self._timeout = timeout
        self._scheduler = Scheduler(reactor)
        self._timer: Timer[Timed] = Timer(self)
        self._socket: _Socket | None = None
        self._port: Any = None
        self._session: Session | None = None
        self._reason = ""
        """Why the session has ended."""
        self._waiting: list[tuple[Callable[[], object], Deferred[None]]] = []
        # Weak: a queue whose owner has forgotten it must not collect events for ever.
        self._queues: WeakSet[EventQueue[Any]] = WeakSet()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.leave()

    # Requests.

    def now(self) -> Monotonic:
        """Return the time of the client's clock, in seconds."""
        return self._scheduler.now()

    def act(self, action: Callable[[WorldClientCore], object]) -> None:
        """Run an action on the client and send its datagrams at once.

        Raises what the action raises.
        """
        try:
            action(self.core)
        finally:
            self._turn(self.now())

    def command(self, line: str) -> None:
        """Send a slash command, with or without the slash: ``say Hello``, ``tell Borvik Hi``.

        An answer of the world arrives as an event: `Heard`, `LineShown`, `WhoListed`. Raises
        `CommandError` when the character is not in a zone, or may not use the command.
        """
        self.act(lambda core: core.command(line))

    def walk_to(self, x: float, y: float, z: float, speed: float = RUNNING_SPEED) -> None:
        """Start to walk straight to a place; `arrival` waits for the end.

        x, y and z are world units with Y up, the speed is in units per second. Raises
        `CommandError` when the character is not in a zone.
        """
        self.act(lambda core: core.walk_to(x, y, z, self.now(), speed))

    async def arrival(
        self,
        timeout: float = 60.0,  # noqa: ASYNC109  # measured on our clock
    ) -> None:
        """Wait until the walk has ended, also because the server moved the character elsewhere.

        `timeout` is in seconds. Raises `CommandError` at the timeout, or when the session ends.
        """
        await self.until(
            lambda: self.core.walker.goal is None, "the end of the walk", timeout=timeout
        )

    def events(self, *kinds: type[EventKind]) -> EventQueue[EventKind]:
        """Return a queue of the events of these kinds from now on; see `emu.client.world.events`.

        The queue ends when its owner forgets it.
        """
        queue = EventQueue(self, kinds)
        self._queues.add(queue)
        return queue

    async def until(
        self,
        condition: Callable[[], object],
        what: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # measured on our clock
    ) -> None:
        """Wait until a condition holds; it is tested after every event.

        Raises `CommandError` that names `what` at the timeout, or when the session ends before.
        """
        if condition():
            return
        self._need_open(what)
        seconds = self._timeout if timeout is None else timeout
        late = CommandError(f"timed out after {seconds:g} s while waiting for {what}")
        await self.wait(condition, seconds, late)
        if not condition():
            self._need_open(what)

    async def wait(
        self,
        condition: Callable[[], object],
        seconds: float = math.inf,
        failure: CommandError | None = None,
    ) -> None:
        """Wait until a condition holds or the session is over.

        After some `seconds` it raises the `failure` or `CommandError`.
        """
        if condition() or self._port is None or self._is_over():
            return
        waiting: Deferred[None] = Deferred()
        self._waiting.append((condition, waiting))
        late = None
        if seconds < math.inf:
            error = failure or CommandError(f"timed out after {seconds:g} s")
            late = self._scheduler.later(seconds, lambda: waiting.errback(error))
        try:
            await waiting
        finally:
            if late is not None:
                late.cancel()
            self._waiting = [one for one in self._waiting if one[1] is not waiting]

    async def stand(self) -> None:
        """Wait until the character stands in its zone. Raises `CommandError` as `until` does."""
        await self.until(lambda: self.core.phase is WorldPhase.STANDING, "standing in the zone")

    async def pause(self, seconds: float) -> None:
        """Let some seconds pass; datagrams are handled meanwhile."""
        await self._scheduler.pause(seconds)

    async def leave(self) -> None:
        """Quit the game, or end the session if the character is not in a zone; close the socket."""
        try:
            if self.core.phase is WorldPhase.STANDING:
                self.act(WorldClientCore.quit)
            elif self._port is not None:
                self.act(WorldClientCore.close)
            if self._port is not None:
                await self.until(self._is_over, "the end of the session", timeout=LEAVE_TIMEOUT)
        except CommandError:
            pass  # The server no longer answers, so there is nothing to end.
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Close the socket at once, without notifying the server."""
        self._scheduler.drop(self._timer)
        self._socket = None
        port, self._port = self._port, None
        self._wake()
        if port is not None:
            await port.stopListening()

    def _is_over(self) -> bool:
        return self.core.phase is WorldPhase.CLOSED

    def _need_open(self, what: str) -> None:
        if self._port is None or self._is_over():
            why = f": {self._reason}" if self._reason else ""
            raise CommandError(f"the session ended before {what}{why}")

    # Network and time.

    def start(self) -> None:
        """Open a socket and send the session request. Raises `CommandError`."""
        now = self.now()
        self.core.connect(now)
        self._turn(now)

    def received(self, socket: _Socket, datagram: bytes) -> None:
        """Handle one datagram; ignore those on the socket of an earlier session."""
        if socket is self._socket:
            now = self.now()
            self.core.receive_datagram(datagram, now)
            self._turn(now)

    def socket_gone(self, socket: _Socket) -> None:
        """Handle the loss of a socket; ignore that of an earlier session."""
        if socket is self._socket:
            self._socket = self._port = None
            self.act(lambda core: core.lost("the server's port is closed"))

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the timer; called by the scheduler."""
        due = self.core.get_timer()
        if due is not None and due <= now:
            self.core.handle_timer(now)
            self.on_step(now)
        self._turn(now)

    def _turn(self, now: Monotonic) -> None:
        # A change of the zone may open another session, which needs a socket of its own.
        while self.core.session is not self._session:
            self._open()
            self._send(now)
        self._send(now)
        while (event := self.core.next_event()) is not None:
            self._note(event)
            # The iteration over a set of weak references costs more than the event.
            if self._queues:
                for queue in self._queues:
                    queue.put(event)
            self.on_event(event)
        self._wake()
        if self._port is not None:
            self._scheduler.arm(self._timer, self.core.get_timer())

    def _note(self, event: WorldEvent) -> None:
        if isinstance(event, Refused):
            self._reason = f"refused with {event.code}: {event.text}"
        elif isinstance(event, Closed) and not self._reason:
            self._reason = event.reason

    def _wake(self) -> None:
        """Resume the waiting coroutines whose condition holds, or can no longer."""
        # A copy: a coroutine that continues may wait again.
        for condition, waiting in list(self._waiting):
            if not waiting.called and (condition() or self._port is None or self._is_over()):
                waiting.callback(None)

    def _send(self, now: Monotonic) -> None:
        for datagram in self.core.datagrams_to_send(now):
            self._write(datagram)

    def _open(self) -> None:
        """Open a socket for a new session."""
        self._session = self.core.session
        if self._port is not None:
            # Each session has its own port: late datagrams of the earlier one must not reach it.
            self._port.stopListening()
        self._socket = _Socket(self)
        handoff = self.core.handoff
        interface = self._interface or ("::" if ":" in handoff.host else "")
        try:
            self._port = self._reactor.listenUDP(0, self._socket, interface=interface)
            self._port.connect(handoff.host, handoff.port)
        except (CannotListenError, OSError, ValueError) as error:
            raise CommandError(
                f"{handoff.host}:{handoff.port}: cannot open a socket: {error}"
            ) from None

    def _write(self, datagram: bytes) -> None:
        try:
            if self._port is not None:
                self._port.write(datagram)
        except OSError:
            pass  # A full buffer or an unreachable network: the session sends it again.


def world_messages(version: int, tables: OpcodeTables | None = None) -> ClientWorldMessages:
    """Return the world's messages of a version. Raises `UnknownVersion` and `CommandError`."""
    known = tables or shipped_tables()
    dialects = Dialects(lambda: known, shipped_catalog(), shipped_rules())
    return ClientWorldMessages(dialects.for_version(version))


async def enter_world(
    reactor: Any,
    host: str,
    port: int,
    entrance: Entrance,
    *,
    timeout: float = STEP_TIMEOUT,  # noqa: ASYNC109  # per step, measured on our clock
    on_event: Callable[[WorldEvent], None] = lambda _event: None,
    messages: ClientWorldMessages | None = None,
    tables: OpcodeTables | None = None,
    make_session: Callable[[], Session] = make_session,
) -> ClientWorldConnection:
    """Log in, choose or create a character, play it, and return when it stands in its zone.

    `host` and `port` are those of the login server; the world's come from its answer. `timeout` is
    for each step, in seconds. `tables` are the opcodes, by default the shipped ones; `messages`
    saves making them for each of many clients. Use the result with ``async with``: at its end the
    character leaves. Raises `CommandError` with the step and the reason.
    """
    messages = messages or world_messages(entrance.version, tables)
    login = await open_client(
        reactor, host, port, entrance.credentials, version=entrance.version, timeout=timeout,
        tables=tables, interface=entrance.interface,
    )  # fmt: skip
    async with login:
        answer = await login.run(granted(login.core, entrance))
    handoff = WorldHandoff(answer.address, answer.port, answer.account_id, answer.access_code)
    core = WorldClientCore(
        messages, handoff, make_session, reads_ghosts=entrance.reads_ghosts,
        reads_possessions=entrance.reads_possessions,
    )  # fmt: skip
    world = ClientWorldConnection(
        reactor, core, interface=entrance.interface, timeout=timeout, on_event=on_event
    )
    try:
        world.start()
        await world.stand()
    except BaseException:
        await world.stop()
        raise
    return world
