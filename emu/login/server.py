"""The login server for players' clients: their sessions, and the handler of each message.

A message whose name is not in the table is counted as unknown. A message in a state that does not
allow it is counted as out of order. Neither ends the session. Before the login, only the login
request is handled.

The shell, which owns sockets and sessions, and the world directory drive it:

* `connect` returns a `Client` for an established session. The shell passes messages to
  `Client.message` in order, calls `Client.handle_timer` when `Client.get_timer` is due, and
  `Client.closed` when the session is over. It provides a `ClientLink` for each session. After each
  call, and at `ClientLink.wake`, it reads the timer again and sends the session's output.
* The directory calls the `WorldObserver` methods; `LoginServer` subscribes to it.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.dialects import BEFORE_LOGIN
from emu.login.client import (
    Client,
    ClientContext,
    ClientDeadline,
    ClientLink,
    guarded,
)
from emu.login.directory import GONE, WorldState, state_of
from emu.login.events import AnswerDropped, ClientMoved
from emu.login.messages.characters import CharacterMessages
from emu.login.messages.login import LoginMessages
from emu.login.messages.play import PlayMessages
from emu.login.messages.table import LoginMessageTable
from emu.login.service import LoginService
from emu.model import CreateResponse, PlayResponse
from emu.times import Monotonic
from emu.worlds import WorldEntry


class LoginServer:
    """The connected clients; passes the worlds' answers to them."""

    def __init__(self, service: LoginService) -> None:
        self.service = service
        self.messages = LoginMessageTable()
        self._play = PlayMessages(service)
        self._characters = CharacterMessages(service, self._play)
        for one in (self._play, self._characters, LoginMessages(service)):
            one.register(self.messages)
        self._deadlines: dict[ClientDeadline, Callable[[Client], None]] = {
            ClientDeadline.LOGIN: lambda client: client.close("did not log in in time"),
            ClientDeadline.DISCONNECT: lambda client: client.close("login refused"),
            ClientDeadline.IDLE: lambda client: client.close("idle at the character list"),
            ClientDeadline.PLAY: self._play.play_timed_out,
            ClientDeadline.CREATE: self._characters.timed_out,
            ClientDeadline.STATUS: self._play.push_world_states,
        }
        self._context = ClientContext(
            dispatch=self._dispatch,
            deadline_passed=self._deadline_passed,
            ended=service.client_ended,
            journal=service.journal,
            login_timeout=service.config.login_timeout,
            waiting_before_login=service.config.waiting_before_login,
            waiting_messages=service.config.waiting_messages,
        )
        service.worlds.observe(self)

    def connect(self, link: ClientLink, address: str, now: Monotonic) -> Client:
        """Start a client for a new session; `address` is its IP address without the port."""
        self.service.counters["clients connected"] += 1
        # The version is unknown until the login request, so the first dialect only reads that
        # message.
        dialect = self.service.dialects.for_version(BEFORE_LOGIN)
        return Client(self._context, dialect, link, address, now)

    async def _dispatch(self, client: Client, opcode: int, payload: bytes) -> None:
        """Pass one message to its handler."""
        is_known = client.is_logged_in
        if is_known:
            # For any message, known or not: a client that sends something is not idle.
            self.service.restart_idle_timer(client, self.service.clock.now())
        name = client.dialect.table.names.get(opcode, str(opcode))
        rule = self.messages.get(name)
        if rule is not None and client.state in rule.states:
            await guarded(client, name, rule.handler(client, payload))
        elif not is_known:
            # Not logged by name: anybody can send anything before the login.
            client.drop(name, "message before login")
        elif rule is None:
            client.unknown(opcode, payload)
        else:
            client.drop(name, "message out of order")

    # Calls of the world directory (WorldObserver).

    def moved(self, client: Client, address: str, port: int) -> None:
        """Note that the session of a client goes on at another address."""
        before = client.address
        self.service.logged_in.move(client, address)
        self.service.log(ClientMoved(address, client.account_name, before, port))

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        """Notify clients of a world that appeared, or whose lock changed."""
        self._set_world_state(entry.id, state_of(entry), now)

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        """Notify clients that a world is gone, first those that wait for its answer."""
        # Those that wait come first: their answer must not be overtaken by the news that the world
        # is gone.
        for pending in self.service.creates.world_gone(world_id):
            self._characters.world_gone(pending)
        for client in self.service.logged_in:
            self._play.world_gone(client, world_id)
        self._set_world_state(world_id, GONE, now)

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:  # noqa: ARG002
        """Pass a world's answer to a play request to the client that waits for it."""
        # An account has one client at most, so the account id is enough to find it.
        client = self.service.logged_in.find(answer.account_id)
        # The client may have left, or asked for another character since.
        if client is None or not self._play.play_answered(client, answer):
            self._drop_answer(answer.world_id, "nobody waits for this play answer")

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:  # noqa: ARG002
        """Save the character that a world has created, and answer the client."""
        # The answer belongs to a request, not to a client: the character is stored even if its
        # client has left.
        pending = self.service.creates.answered(answer)
        if pending is None:
            self._drop_answer(answer.world_id, "nobody waits for this create answer")
        else:
            self.service.start(self._characters.answered(pending, answer))

    def _deadline_passed(self, client: Client, name: ClientDeadline) -> None:
        self._deadlines[name](client)

    def _set_world_state(self, world_id: int, state: WorldState, now: Monotonic) -> None:
        if self.service.world_states.change(world_id, state):
            for client in self.service.logged_in:
                self._play.note_world_state(client, world_id, state, now)

    def _drop_answer(self, world_id: int, reason: str) -> None:
        self.service.journal.counters["answer dropped"] += 1
        self.service.log(AnswerDropped(str(world_id), reason))
