"""The test client on UDP sockets, at the login server.

A `ClientConnection` is one socket, one `LoginClient` and at most one reactor call. It passes
datagrams and time to the core, sends the core's datagrams, and turns the end of a script into the
result of an ``async def``. A thousand of them fit into one process.

`emu.net.client.world_connection` is the client in the world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

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
from emu.client.flow import STEP_TIMEOUT, LoginFlow, Script, StepDone, StepFailed
from emu.client.messages import ClientLoginMessages
from emu.config import Address
from emu.errors import CommandError, LocalProtocolError
from emu.net.scheduler import Scheduler, Timed, Timer
from emu.opcodes import OpcodeTables, shipped_tables
from emu.session import SessionConfig
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

    noisy = False

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
        """Wait for the login, which the session begins by itself; return the server's reply."""
        return await self.run(flow.finish_login())

    async def worlds(self) -> tuple[ListedWorld, ...]:
        """Request the worlds and return them, by ascending id."""
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
        # Before the script begins: it may be done within its first step.
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
        """Close the socket at once, without notifying the server; a running script fails."""
        self._scheduler.drop(self._timer)
        # Cleared first, so that `stopProtocol` can distinguish our own close from a loss.
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
        """Open the socket and send the session request. Raises `CommandError`."""
        # The socket must be of the same version of IP as the server.
        interface = self._interface or ("::" if isIPv6Address(self.address.host) else "")
        try:
            self._port = self._reactor.listenUDP(0, self, interface=interface)
            # A connected socket gets only the server's datagrams, and reports that nothing listens.
            self._port.connect(self.address.host, self.address.port)
        except (CannotListenError, OSError) as error:
            raise CommandError(f"{self.address}: cannot open a socket: {error}") from None
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
        # At the end, because the waiting coroutine may begin the next script at once.
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
        ClientLoginMessages(version, tables or shipped_tables(), shipped_catalog()),
        credentials,
        config=config,
    )
    address = Address(await _resolve(reactor, host), port)
    client = ClientConnection(reactor, core, address, timeout=timeout, interface=interface)
    try:
        client.start()
    # A cancelled start must not leave the socket open.
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
