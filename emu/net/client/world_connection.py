"""The test client in the world on UDP sockets: a new one for every zone, as sessions are new.

Feeds datagrams and time to a `WorldClient`, writes what it wants sent, hands out what happened, and
lets an ``async def`` wait until something is so. `enter_world` is the whole way in, through the
login server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self

from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import DatagramProtocol

from emu.client.entrance import Entrance, granted
from emu.client.steps import STEP_TIMEOUT
from emu.client.world import Pass, WorldClient, WorldMessages, WorldStage
from emu.client.world.events import WorldEvent
from emu.client.world.walking import RUNNING_SPEED
from emu.dialects import Dialects, shipped_rules
from emu.errors import CommandError
from emu.net.client.connection import open_client
from emu.net.scheduler import Scheduler
from emu.net.timers import Timed, Timer
from emu.opcodes import OpcodeTables, shipped_tables
from emu.session import Session
from emu.structs import shipped_catalog
from emu.times import Monotonic

LEAVE_TIMEOUT: Final = 5.0
"""Seconds that a client waits for the end of its session when it leaves."""


class _Socket(DatagramProtocol):
    """The socket of one session."""

    def __init__(self, owner: WorldConnection) -> None:
        self._owner = owner

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: ARG002
        """Hand a datagram on; a connected socket lets only the server's through."""
        self._owner.received(self, datagram)

    def connectionRefused(self) -> None:
        """Let it be: a server that is gone shows by its silence."""

    def stopProtocol(self) -> None:
        """Learn that the socket is gone; some reactors close it when nothing listens there."""
        self._owner.socket_gone(self)


class WorldConnection:
    """A client of one world; made by `enter_world`.

    `core` has all that is known; `on_event` is called with everything that happens. `timeout` is
    how long `until` waits, in seconds.
    """

    def __init__(
        self,
        reactor: Any,
        core: WorldClient,
        *,
        interface: str = "",
        timeout: float = STEP_TIMEOUT,
        on_event: Callable[[WorldEvent], None] = lambda _event: None,
    ) -> None:
        self.core = core
        self.on_event = on_event
        self.on_step: Callable[[Monotonic], None] = lambda _now: None
        """Called when the client's time was handled: it may have made a step."""
        self._reactor = reactor
        self._interface = interface
        self._timeout = timeout
        self._scheduler = Scheduler(reactor)
        self._timer: Timer[Timed] = Timer(self)
        self._socket: _Socket | None = None
        self._port: Any = None
        self._session: Session | None = None
        self._waiting: list[tuple[Callable[[], object], Deferred[None]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.leave()

    # what one wants

    def now(self) -> Monotonic:
        """Return the time that the client lives in."""
        return self._scheduler.now()

    def act(self, wish: Callable[[WorldClient], object]) -> None:
        """Let the client do something; it leaves at once. Raises what the wish raises."""
        try:
            wish(self.core)
        finally:
            self._turn(self.now())

    def walk_to(self, x: float, y: float, z: float, speed: float = RUNNING_SPEED) -> None:
        """Walk to a place."""
        self.act(lambda core: core.walk_to(x, y, z, self.now(), speed))

    async def until(
        self,
        condition: Callable[[], object],
        what: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # measured on our clock
    ) -> None:
        """Wait until a condition holds; it is looked at whenever something has happened.

        Raises `CommandError` that names `what` when it does not in time, or when the session ends
        before.
        """
        if condition():
            return
        self._need_open(what)
        waiting: Deferred[None] = Deferred()
        self._waiting.append((condition, waiting))
        seconds = self._timeout if timeout is None else timeout
        late = self._scheduler.later(
            seconds,
            lambda: waiting.errback(CommandError(f"waited in vain for {what} ({seconds:g} s)")),
        )
        try:
            await waiting
        finally:
            late.cancel()
            self._waiting = [one for one in self._waiting if one[1] is not waiting]
        if not condition():
            self._need_open(what)

    async def stand(self) -> None:
        """Wait until the character stands in its zone."""
        await self.until(lambda: self.core.stage is WorldStage.STANDING, "standing in the zone")

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        await self._scheduler.pause(seconds)

    async def leave(self) -> None:
        """Quit the game, or end the session when the character stands nowhere; close the socket."""
        try:
            if self.core.stage is WorldStage.STANDING:
                self.act(WorldClient.quit)
            elif self._port is not None:
                self.act(WorldClient.close)
            if self._port is not None:
                await self.until(self._is_over, "the end of the session", timeout=LEAVE_TIMEOUT)
        except CommandError:
            pass  # nobody is there any more; there is nothing left to leave
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Close the socket at once, without a word to the server."""
        self._scheduler.drop(self._timer)
        self._socket = None
        port, self._port = self._port, None
        self._wake()
        if port is not None:
            await port.stopListening()

    def _is_over(self) -> bool:
        return self.core.stage is WorldStage.CLOSED

    def _need_open(self, what: str) -> None:
        if self._port is None or self._is_over():
            raise CommandError(f"the session ended before {what}")

    # network and time

    def start(self) -> None:
        """Open a socket and send the session request. Raises `CommandError`."""
        now = self.now()
        self.core.connect(now)
        self._turn(now)

    def received(self, socket: _Socket, datagram: bytes) -> None:
        """Take one datagram; those of an earlier session's socket are let be."""
        if socket is self._socket:
            now = self.now()
            self.core.receive_datagram(datagram, now)
            self._turn(now)

    def socket_gone(self, socket: _Socket) -> None:
        """Learn that a socket was closed; that of an earlier session is let be."""
        if socket is self._socket:
            self._socket = self._port = None
            self.act(lambda core: core.lost("the server's port is closed"))

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due; called by the scheduler."""
        due = self.core.get_timer()
        if due is not None and due <= now:
            self.core.handle_timer(now)
            self.on_step(now)
        self._turn(now)

    def _turn(self, now: Monotonic) -> None:
        while self.core.session is not self._session:
            self._open()
            self._send(now)
        self._send(now)
        while (event := self.core.next_event()) is not None:
            self.on_event(event)
        self._wake()
        if self._port is not None:
            self._scheduler.arm(self._timer, self.core.get_timer())

    def _wake(self) -> None:
        """Let those go on whose condition holds, or can no longer."""
        for condition, waiting in list(self._waiting):
            if not waiting.called and (condition() or self._port is None or self._is_over()):
                waiting.callback(None)

    def _send(self, now: Monotonic) -> None:
        for datagram in self.core.datagrams_to_send(now):
            self._write(datagram)

    def _open(self) -> None:
        """Give a session that is new a socket of its own."""
        self._session = self.core.session
        if self._port is not None:
            self._port.stopListening()
        self._socket = _Socket(self)
        door = self.core.door
        interface = self._interface or ("::" if ":" in door.host else "")
        try:
            self._port = self._reactor.listenUDP(0, self._socket, interface=interface)
            self._port.connect(door.host, door.port)
        except (CannotListenError, OSError, ValueError) as error:
            raise CommandError(f"{door.host}:{door.port}: no socket: {error}") from None

    def _write(self, datagram: bytes) -> None:
        try:
            if self._port is not None:
                self._port.write(datagram)
        except OSError:
            pass  # a full buffer or an unreachable net: it is sent again


def world_messages(version: int, tables: OpcodeTables | None = None) -> WorldMessages:
    """Return how a version speaks in the world. Raises `UnknownVersion` and `CommandError`."""
    known = tables or shipped_tables()
    dialects = Dialects(lambda: known, shipped_catalog(), shipped_rules())
    return WorldMessages(dialects.for_version(version))


async def enter_world(
    reactor: Any,
    host: str,
    port: int,
    entrance: Entrance,
    *,
    timeout: float = STEP_TIMEOUT,  # noqa: ASYNC109  # per step, measured on our clock
    on_event: Callable[[WorldEvent], None] = lambda _event: None,
    messages: WorldMessages | None = None,
    tables: OpcodeTables | None = None,
) -> WorldConnection:
    """Log in, choose or make a character, play it, and return when it stands in its zone.

    Raises `CommandError` with what came in between.
    """
    messages = messages or world_messages(entrance.version, tables)
    login = await open_client(
        reactor, host, port, entrance.credentials, version=entrance.version, timeout=timeout,
        tables=tables, interface=entrance.interface,
    )  # fmt: skip
    async with login:
        answer = await login.run(granted(login.core, entrance))
    door = Pass(answer.address, answer.port, answer.account_id, answer.access_code)
    core = WorldClient(messages, door, looks=entrance.looks)
    world = WorldConnection(
        reactor, core, interface=entrance.interface, timeout=timeout, on_event=on_event
    )
    try:
        world.start()
        await world.stand()
    except BaseException:
        await world.stop()
        raise
    return world
