"""The test client without input or output: one login session, driven as a real client drives it.

It is driven by three things: datagrams (`receive_datagram`), time (`get_timer`, `handle_timer`) and
its owner's wishes (`connect`, `request_worlds`, `create` and so on). It answers with datagrams
(`datagrams_to_send`) and events (`next_event`). What a real client does unasked it does as well:
statistics request after the set-up, key block and login request in one datagram, alert log after
an accepted login (docs/protocol/transport.md#setup, docs/protocol/login.md#flow). It knows no
socket, clock or reactor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from enum import Enum

from emu.client import events
from emu.client.events import Event, ListedCharacter, ListedWorld
from emu.client.messages import LoginMessages, Request
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
"""Events kept for an owner who does not fetch them; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Account name and password; the password is not shown in a repr."""

    user: str
    password: str = field(repr=False)


class LoginPhase(Enum):
    """How far the login has come."""

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
    sets a session up and never logs in.
    """

    messages: LoginMessages
    credentials: Credentials | None
    _: KW_ONLY
    session_id: InitVar[int | None] = None
    key_block: InitVar[bytes | None] = None
    config: InitVar[SessionConfig | None] = None
    session: Session = field(init=False)
    stage: LoginPhase = LoginPhase.NEW
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=EVENT_LIMIT))
    """What has happened and was not fetched yet, oldest first."""
    worlds: dict[int, ListedWorld] = field(default_factory=dict)
    """The worlds by id, as listed and updated since."""
    characters: tuple[ListedCharacter, ...] | None = None
    """The latest character list, None before the first."""
    account_id: int = 0
    """The account's id, known from the first character list on."""

    def __post_init__(
        self, session_id: int | None, key_block: bytes | None, config: SessionConfig | None
    ) -> None:
        self.session = Session.client(config, session_id=session_id, key_block=key_block)

    @property
    def version(self) -> int:
        """The client data version it plays."""
        return self.messages.version

    @property
    def drops(self) -> Mapping[str, int]:
        """How many datagrams and packets of the server were dropped, by reason."""
        return self.session.drops

    # network and time

    def connect(self, now: Monotonic) -> None:
        """Begin the session; everything up to the login reply then happens by itself."""
        self._need(LoginPhase.NEW, "connect")
        if self.credentials is not None:
            # Fails here, before anything is sent, when name or password cannot be written.
            self.messages.login(self.credentials.user, self.credentials.password)
        self.stage = LoginPhase.CONNECTING
        self.session.connect(now)

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one datagram of the server; never raises for its bytes."""
        self.session.receive_datagram(data, now)
        self._pump()

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams to send now."""
        datagrams = self.session.datagrams_to_send(now)
        self._pump()  # giving up shows here
        return datagrams

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is to be called, None for never."""
        return self.session.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: repeat, resend, keep alive, give up."""
        self.session.handle_timer(now)
        self._pump()

    def next_event(self) -> Event | None:
        """Return what happened next, None when that was all."""
        return self.events.popleft() if self.events else None

    def close(self) -> None:
        """End the session in order; `Closed` comes when it is over."""
        if self.stage is LoginPhase.NEW:
            self._close("closed by us")
        elif self.stage is not LoginPhase.CLOSED:
            self.session.close()
            self._pump()

    # wishes

    def request_worlds(self) -> None:
        """Ask for the worlds: list, flags, characters and later status changes follow."""
        self._request(self.messages.worlds(), events.WorldList)

    def load_keymap(self) -> None:
        """Ask for the keymap, as the client does after the character list; answers are rare."""
        self._request(self.messages.keymap_load(), events.Keymap)

    def create(self, world_id: int, name: str, choices: Mapping[str, object] | None = None) -> None:
        """Ask for a new character; `choices` are CreateCharacter fields other than the defaults.

        Raises `StructValueError` for a field that this version does not have.
        """
        self._request(self.messages.create(world_id, name, choices or {}), events.Created)

    def delete(self, character: ListedCharacter) -> None:
        """Ask for a character's deletion."""
        self._request(self.messages.delete(character), events.Deleted)

    def play(self, character: ListedCharacter) -> None:
        """Ask to enter the character's world."""
        self._request(self.messages.play(character), events.PlayAnswer)

    # inside

    def _need(self, stage: LoginPhase, wish: str) -> None:
        if self.stage is not stage:
            raise LocalProtocolError(f"{wish} is not possible now: {self.stage.value}")

    def _request(self, request: Request, answer: type[Event]) -> None:
        """Send a request; what came before it cannot be its answer and is forgotten."""
        self._need(LoginPhase.ACCEPTED, "a request")
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
                    self.stage = LoginPhase.CONNECTED
                    self.events.append(events.SessionUp(session_id))
                case StatisticsReceived():
                    if self.stage in (LoginPhase.CONNECTED, LoginPhase.LOGGING_IN):
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
        self.stage = LoginPhase.LOGGING_IN

    def _close(self, reason: str) -> None:
        self.stage = LoginPhase.CLOSED
        self.events.append(events.Closed(reason))

    def _message(self, opcode: int, payload: bytes) -> None:
        event = self.messages.read(opcode, payload)
        match event:
            case events.LoginAccepted() if self.stage is LoginPhase.LOGGING_IN:
                self.stage = LoginPhase.ACCEPTED
                self.session.send(*self.messages.alert_log())
            case events.LoginDenied() if self.stage is LoginPhase.LOGGING_IN:
                self.stage = LoginPhase.DENIED
            case events.WorldList(worlds):
                self.worlds = {world.id: world for world in worlds}
            case events.WorldStatus(world_id, up, locked) if world_id in self.worlds:
                world = self.worlds[world_id]
                self.worlds[world_id] = replace(world, up=up, locked=locked)
            case events.Characters(characters, account):
                self.characters = characters
                self.account_id = account.account_id
        self.events.append(event)
