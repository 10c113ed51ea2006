"""The test client on UDP sockets: at the login server, and in the world.

A `ClientConnection` is one socket, one `LoginClient` and at most one reactor call. It passes
datagrams and time to the core, sends the core's datagrams, and turns the end of a script into the
result of an ``async def``. A thousand of them fit into one process.

A `ClientWorldConnection` does the same for a `WorldClientCore`, and lets an ``async def`` wait for
a condition. `enter_world` does all steps, beginning at the login server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError
from twisted.internet.protocol import DatagramProtocol

from emu.client import flow
from emu.client.core import Credentials, LoginClient, LoginPhase
from emu.client.events import (
    Created,
    Deleted,
    ListedCharacter,
    ListedWorld,
    LoginAccepted,
    PlayAnswer,
)
from emu.client.flow import STEP_TIMEOUT, Entrance, LoginFlow, Script, StepDone, StepFailed, granted
from emu.client.messages import LoginMessages
from emu.client.world import (
    ClientWorldMessages,
    WorldClientCore,
    WorldHandoff,
    WorldPhase,
    make_session,
)
from emu.client.world.events import WorldEvent
from emu.client.world.surroundings import RUNNING_SPEED
from emu.config import Address
from emu.dialects import Dialects, shipped_rules
from emu.errors import CommandError, LocalProtocolError
from emu.net.scheduler import Scheduler, Timed, Timer
from emu.opcodes import OpcodeTables, shipped_tables
from emu.session import Session, SessionConfig
from emu.structs import shipped_catalog
from emu.times import Monotonic
from emu.versions import CLIENT_2006

Result = TypeVar("Result")


class ClientConnection(DatagramProtocol):
    """A client of one login server; made by `open_client`.

    `reactor` needs what `Scheduler` does, and `listenUDP`. `core` is the `LoginClient` with the
    worlds and characters; `steps` are the finished steps of all scripts so far. Every waiting
    method raises `CommandError` with address and step when the server does not answer, refuses the
    login or ends the session.
    """

    def __init__(
        self,
        reactor: Any,
        core: LoginClient,
        address: Address,
        *,
        timeout: float = STEP_TIMEOUT,
        interface: str = "",
    ) -> None:
        self.core = core
        self.address = address
        self.steps: list[StepDone] = []
        self._reactor = reactor
        self._timeout = timeout
        self._interface = interface
        self._port: Any = None
        self._flow: LoginFlow[Any] | None = None
        self._waiting: Deferred[None] | None = None
        self._scheduler = Scheduler(reactor)
        self._timer: Timer[Timed] = Timer(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    # Requests to a server.

    async def login(self) -> LoginAccepted:
        """Wait for the login, which the session begins by itself."""
        return await self.run(flow.finish_login())

    async def worlds(self) -> tuple[ListedWorld, ...]:
        """Request the worlds."""
        return (await self.run(flow.worlds())).worlds

    async def characters(self) -> tuple[ListedCharacter, ...]:
        """Return the latest character list; request it if there is none yet."""
        return await self.run(flow.characters(self.core))

    async def create(self, world_id: int, name: str, **choices: object) -> Created:
        """Request a character; `choices` are CreateCharacter fields over the defaults.

        A refusal is a result, not an error. Up to 561 a success is followed by the answer to a play
        request that the server makes by itself: `play_answer` waits for it.
        """
        return await self.run(flow.create(world_id, name, **choices))

    async def delete(self, character: ListedCharacter | str) -> Deleted:
        """Request the deletion of a character, by list entry or name; a refusal is a result."""
        return await self.run(flow.delete(self._character(character)))

    async def play(self, character: ListedCharacter | str) -> PlayAnswer:
        """Request to enter the world, by list entry or name; a refusal is a result."""
        return await self.run(flow.play(self._character(character)))

    async def play_answer(self) -> PlayAnswer:
        """Wait for a play answer without a request (clients up to 561, after a create)."""
        return await self.run(flow.auto_play())

    async def close(self) -> None:
        """End the session and close the socket; raises nothing if the session is over already."""
        try:
            if self.core.phase is not LoginPhase.CLOSED and self._port is not None:
                await self.run(flow.close())
        except CommandError:
            pass  # The server no longer answers, so there is nothing to end.
        finally:
            await self.stop()

    async def run(
        self,
        script: Script[Result],
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # per step, measured on our clock
        on_step: Callable[[StepDone], None] | None = None,
    ) -> Result:
        """Run a script and return what it returns; `timeout` is for each step, in seconds.

        Raises `LocalProtocolError` when another script is still running.
        """
        if self._flow is not None:
            raise LocalProtocolError("another script is still running on this client")
        if self._port is None:
            raise CommandError(f"{self.address}: the socket is closed")
        running = LoginFlow(
            self.core,
            script,
            timeout=self._timeout if timeout is None else timeout,
            on_step=on_step,
        )
        self._flow, self._waiting = running, Deferred()
        waiting = self._waiting
        now = self._scheduler.now()
        try:
            running.begin(now)
            self._turn(now)
            await waiting
        finally:
            self._flow = self._waiting = None
            self.steps += running.steps
        if running.failure is not None:
            if isinstance(running.failure, StepFailed):
                raise StepFailed(running.failure.step, f"{self.address}: {running.failure}")
            if isinstance(running.failure, CommandError):
                raise CommandError(f"{self.address}: {running.failure}")
            raise running.failure
        return running.result  # type: ignore[return-value]  # set when there is no failure

    async def stop(self) -> None:
        """Close the socket at once, without a word to the server; a running script fails."""
        self._scheduler.drop(self._timer)
        port, self._port = self._port, None
        self._lost("the client was stopped")
        if port is not None:
            await port.stopListening()

    def _character(self, character: ListedCharacter | str) -> ListedCharacter:
        if isinstance(character, str):
            return flow.find_character(self.core, character)
        return character

    # network and time

    def start(self) -> None:
        """Open the socket and send the session request."""
        interface = self._interface or ("::" if isIPv6Address(self.address.host) else "")
        try:
            self._port = self._reactor.listenUDP(0, self, interface=interface)
            self._port.connect(self.address.host, self.address.port)
        except (CannotListenError, OSError) as error:
            raise CommandError(f"{self.address}: no socket: {error}") from None
        now = self._scheduler.now()
        self.core.connect(now)
        self._turn(now)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: ARG002
        """Handle one datagram; a connected socket only receives the server's."""
        now = self._scheduler.now()
        self.core.receive_datagram(datagram, now)
        self._turn(now)

    def connectionRefused(self) -> None:
        """Fail at once if nothing listens there.

        A server that is lost later is detected by its silence.
        """
        if self.core.phase is LoginPhase.CONNECTING:
            self._lost("nothing listens there")

    def stopProtocol(self) -> None:
        """Handle the loss of the socket; some reactors close it when nothing listens there."""
        if self._port is None:
            return  # `stop` has closed it.
        self._port = None
        connecting = self.core.phase is LoginPhase.CONNECTING
        self._lost("nothing listens there" if connecting else "the server's port is closed")

    def _lost(self, why: str) -> None:
        if self._flow is not None:
            self._flow.fail(CommandError(why))
            self._turn(self._scheduler.now())

    def _turn(self, now: Monotonic) -> None:
        """Advance the script, send the datagrams, and set the timer."""
        running = self._flow
        if running is not None:
            running.advance(now)
        self._send(now)
        self._arm()
        if running is not None and running.done and self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            waiting.callback(None)

    def _send(self, now: Monotonic) -> None:
        datagrams = self.core.datagrams_to_send(now)
        if self._port is None:
            return
        try:
            for datagram in datagrams:
                self._port.write(datagram)
        except OSError as error:
            if self._flow is not None:
                self._flow.fail(CommandError(f"cannot send: {error.strerror}"))

    def _arm(self) -> None:
        """Set the timer to the earlier deadline of session and script."""
        if self._port is None:
            return
        deadline = self.core.get_timer()
        step = None if self._flow is None else self._flow.get_timer()
        if deadline is None or (step is not None and step < deadline):
            deadline = step
        self._scheduler.arm(self._timer, deadline)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the timer; called by the scheduler."""
        deadline = self.core.get_timer()
        if deadline is not None and deadline <= now:
            self.core.handle_timer(now)
        self._turn(now)


async def open_client(
    reactor: Any,
    host: str,
    port: int,
    credentials: Credentials | None,
    *,
    version: int = CLIENT_2006,
    timeout: float = STEP_TIMEOUT,  # noqa: ASYNC109  # per step, measured on our clock
    config: SessionConfig | None = None,
    tables: OpcodeTables | None = None,
    interface: str = "",
) -> ClientConnection:
    """Open a socket and send the session request; wait only for the host name.

    `timeout` is for each step, in seconds. `tables` are the opcodes, by default the shipped ones.
    `interface` is the address to send from. Raises `UnknownVersion`, or `CommandError` when the
    host name or the credentials cannot be used.
    """
    core = LoginClient(
        LoginMessages(version, tables or shipped_tables(), shipped_catalog()),
        credentials,
        config=config,
    )
    address = Address(await _resolve(reactor, host), port)
    client = ClientConnection(reactor, core, address, timeout=timeout, interface=interface)
    try:
        client.start()
    except BaseException:
        await client.stop()
        raise
    return client


async def _resolve(reactor: Any, host: str) -> str:
    if isIPAddress(host) or isIPv6Address(host):
        return host
    try:
        address: str = await reactor.resolve(host)
    except Exception:  # noqa: BLE001  # Twisted's resolvers fail in many ways
        raise CommandError(f"the host name {host} cannot be resolved") from None
    return address


LEAVE_TIMEOUT: Final = 5.0
"""Seconds that a leaving client waits for the end of its session."""


class _Socket(DatagramProtocol):
    """The socket of one session."""

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


class ClientWorldConnection:
    """A client of one world; made by `enter_world`.

    `core` has the client's state; `on_event` is called with every event. `timeout` is how long
    `until` waits, in seconds.
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
        self._waiting: list[tuple[Callable[[], object], Deferred[None]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.leave()

    # Requests.

    def now(self) -> Monotonic:
        """Return the time of the client's clock."""
        return self._scheduler.now()

    def act(self, action: Callable[[WorldClientCore], object]) -> None:
        """Run an action on the client and send its datagrams at once.

        Raises what the action raises.
        """
        try:
            action(self.core)
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
        """Wait until a condition holds; it is tested after every event.

        Raises `CommandError` that names `what` at the timeout, or when the session ends before.
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
        await self.until(lambda: self.core.phase is WorldPhase.STANDING, "standing in the zone")

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
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
            raise CommandError(f"the session ended before {what}")

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
        """Resume the waiting coroutines whose condition holds, or can no longer."""
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
            self._port.stopListening()
        self._socket = _Socket(self)
        handoff = self.core.handoff
        interface = self._interface or ("::" if ":" in handoff.host else "")
        try:
            self._port = self._reactor.listenUDP(0, self._socket, interface=interface)
            self._port.connect(handoff.host, handoff.port)
        except (CannotListenError, OSError, ValueError) as error:
            raise CommandError(f"{handoff.host}:{handoff.port}: no socket: {error}") from None

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

    Raises `CommandError` with the reason.
    """
    messages = messages or world_messages(entrance.version, tables)
    login = await open_client(
        reactor, host, port, entrance.credentials, version=entrance.version, timeout=timeout,
        tables=tables, interface=entrance.interface,
    )  # fmt: skip
    async with login:
        answer = await login.run(granted(login.core, entrance))
    handoff = WorldHandoff(answer.address, answer.port, answer.account_id, answer.access_code)
    core = WorldClientCore(messages, handoff, make_session, reads_ghosts=entrance.reads_ghosts)
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
