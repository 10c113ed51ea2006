"""The test client without input and output: one login session, as a real client conducts it.

It handles datagrams (`receive_datagram`), time (`get_timer`, `handle_timer`) and the requests of
its owner (`connect`, `request_worlds`, `create` and so on). It returns datagrams
(`datagrams_to_send`) and events (`next_event`).

Like a real client it sends some messages by itself: the statistics request after the session setup,
key block and login request in one datagram, and the alert log after an accepted login
(docs/protocol/transport.md#setup, docs/protocol/login.md#flow).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from enum import Enum

from emu.client import events
from emu.client.events import Event, ListedCharacter, ListedWorld
from emu.client.messages import ClientLoginMessages, Request
from emu.errors import LocalProtocolError
from emu.session import (
    KeyEstablished,
    Message,
    Session,
    SessionClosed,
    SessionConfig,
    SessionEstablished,
    StatisticsReceived,
)
from emu.times import Monotonic

EVENT_LIMIT = 256
"""Events kept until the owner reads them; the oldest are dropped first."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Account name and password; the password is not in the repr."""

    user: str
    password: str = field(repr=False)


class LoginPhase(Enum):
    """The progress of the login."""

    NEW = "new"
    CONNECTING = "waiting for the session response"
    CONNECTED = "waiting for the key request"
    LOGGING_IN = "waiting for the login reply"
    ACCEPTED = "logged in"
    DENIED = "login denied"
    CLOSED = "closed"


@dataclass(slots=True, eq=False, repr=False)
class LoginClient:
    """One client of a login server.

    `session_id`, `key_block` and `config` are those of `Session.client`. Without `credentials` it
    only sets up a session.
    """

    messages: ClientLoginMessages
    credentials: Credentials | None
    _: KW_ONLY
    session_id: InitVar[int | None] = None
    key_block: InitVar[bytes | None] = None
    config: InitVar[SessionConfig | None] = None
    session: Session = field(init=False)
    phase: LoginPhase = LoginPhase.NEW
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=EVENT_LIMIT))
    """Events that were not read yet, oldest first."""
    worlds: dict[int, ListedWorld] = field(default_factory=dict)
    """The worlds by id, from the list and the updates since."""
    characters: tuple[ListedCharacter, ...] | None = None
    """The latest character list; None before the first."""
    account_id: int = 0
    """The account's id; 0 before the first character list."""

    def __post_init__(
        self, session_id: int | None, key_block: bytes | None, config: SessionConfig | None
    ) -> None:
        self.session = Session.client(config, session_id=session_id, key_block=key_block)

    @property
    def version(self) -> int:
        """The client data version."""
        return self.messages.version

    @property
    def drops(self) -> Mapping[str, int]:
        """How many datagrams and packets of the server were dropped, by reason."""
        return self.session.drops

    # Network and time.

    def connect(self, now: Monotonic) -> None:
        """Begin the session; all steps up to the login reply follow without further calls."""
        self._need(LoginPhase.NEW, "connect")
        if self.credentials is not None:
            # Raises here, before anything is sent, when name or password cannot be encoded.
            self.messages.login(self.credentials.user, self.credentials.password)
        self.phase = LoginPhase.CONNECTING
        self.session.connect(now)

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Handle one datagram of the server; never raises for its bytes."""
        self.session.receive_datagram(data, now)
        self._pump()

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams to send now, in order; call it after each of the other methods."""
        datagrams = self.session.datagrams_to_send(now)
        self._pump()  # The session may give up here.
        return datagrams

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due, by the same clock as `now`, or None for never."""
        return self.session.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Handle what is due: repetitions, retransmissions, keep-alives, and giving up."""
        self.session.handle_timer(now)
        self._pump()

    def next_event(self) -> Event | None:
        """Return the next event (`emu.client.events`), or None."""
        return self.events.popleft() if self.events else None

    def close(self) -> None:
        """End the session; the event `Closed` follows when it is over."""
        # Nothing was sent yet, so there is no session to close.
        if self.phase is LoginPhase.NEW:
            self._close("closed by this side")
        elif self.phase is not LoginPhase.CLOSED:
            self.session.close()
            self._pump()

    # Requests of the owner.

    def request_worlds(self) -> None:
        """Request the worlds; `WorldList`, `Characters` and later `WorldStatus` follow."""
        self._request(self.messages.worlds(), events.WorldList)

    def load_keymap(self) -> None:
        """Request the keymap, as the client does after the character list; few servers answer."""
        self._request(self.messages.keymap_load(), events.Keymap)

    def create(self, world_id: int, name: str, choices: Mapping[str, object] | None = None) -> None:
        """Request a new character; `choices` are CreateCharacter fields over the defaults.

        Raises `StructValueError` for a field that this version does not have.
        """
        self._request(self.messages.create(world_id, name, choices or {}), events.Created)

    def delete(self, character: ListedCharacter) -> None:
        """Request the deletion of a character; `Deleted` follows.

        Raises `LocalProtocolError` before the login is accepted, as every request does.
        """
        self._request(self.messages.delete(character), events.Deleted)

    def play(self, character: ListedCharacter) -> None:
        """Request to enter the character's world; `PlayAnswer` follows with address and key."""
        self._request(self.messages.play(character), events.PlayAnswer)

    # Helpers.

    def _need(self, phase: LoginPhase, action: str) -> None:
        if self.phase is not phase:
            raise LocalProtocolError(f"{action} is not possible now: {self.phase.value}")

    def _request(self, request: Request, answer: type[Event]) -> None:
        """Send a request; drop earlier events, which cannot be its answer."""
        self._need(LoginPhase.ACCEPTED, "a request")
        # A late answer to an earlier request would otherwise end the next step of a script at once.
        stale = [event for event in self.events if isinstance(event, (answer, events.Unexpected))]
        for event in stale:
            self.events.remove(event)
        self.session.send(*request)

    def _pump(self) -> None:
        while (event := self.session.next_event()) is not None:
            match event:
                case Message(opcode, payload):
                    self._message(opcode, payload)
                case SessionEstablished(session_id):
                    self.phase = LoginPhase.CONNECTED
                    self.events.append(events.SessionUp(session_id))
                case StatisticsReceived():
                    # The server also sends statistics later; only the first ones are a step of the
                    # login.
                    if self.phase in (LoginPhase.CONNECTED, LoginPhase.LOGGING_IN):
                        self.events.append(events.StatisticsAnswered())
                case KeyEstablished():
                    self._log_in()
                case SessionClosed(reason):
                    self._close(str(reason))

    def _log_in(self) -> None:
        self.events.append(events.KeySent())
        if self.credentials is None:
            return
        # In the same turn as the key block, so that one datagram carries both.
        user, password = self.credentials.user, self.credentials.password
        self.session.send(*self.messages.login(user, password))
        self.phase = LoginPhase.LOGGING_IN

    def _close(self, reason: str) -> None:
        self.phase = LoginPhase.CLOSED
        self.events.append(events.Closed(reason))

    def _message(self, opcode: int, payload: bytes) -> None:
        event = self.messages.read_message(opcode, payload)
        match event:
            # The phase is checked because a faulty server may send a reply at any time.
            case events.LoginAccepted() if self.phase is LoginPhase.LOGGING_IN:
                self.phase = LoginPhase.ACCEPTED
                self.session.send(*self.messages.alert_log())
            case events.LoginDenied() if self.phase is LoginPhase.LOGGING_IN:
                self.phase = LoginPhase.DENIED
            case events.WorldList(worlds):
                self.worlds = {world.id: world for world in worlds}
            case events.WorldStatus(world_id, up, locked) if world_id in self.worlds:
                # Worlds are immutable values, because owners may keep the objects of earlier
                # events.
                world = self.worlds[world_id]
                self.worlds[world_id] = replace(world, up=up, locked=locked)
            case events.Characters(characters, account):
                self.characters = characters
                self.account_id = account.account_id
        self.events.append(event)
