"""The client in the world without input or output: from the hand-off key to leaving.

Driven as `LoginClient` is: datagrams, time, and its owner's wishes. It goes through the steps of
entering by itself, as a real client does (docs/protocol/world/entering.md#order), keeps its ghosts,
tells its own movement, and changes zones by beginning a new session with the key it is given: then
`session` is another one, and `door` says where it goes. Knows no socket, clock or reactor.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import Final

from emu.client.events import Closed, Unexpected
from emu.client.world import events, messages
from emu.client.world.events import DialogOpened, WorldEvent, ZoneTold
from emu.client.world.messages import PredictionWriter, WorldMessages
from emu.client.world.surroundings import (
    GHOST_COMMANDS,
    RUNNING_SPEED,
    Place,
    Surroundings,
    Walker,
    place_of,
)
from emu.dialects.dialect import NO_TARGET
from emu.errors import CommandError, LocalProtocolError, MalformedMessage, UnknownStruct
from emu.session import (
    CloseReason,
    KeyEstablished,
    Message,
    Session,
    SessionClosed,
    SessionConfig,
)
from emu.times import Monotonic
from emu.world_stream.ghosts import POSITION

EVENT_LIMIT: Final = 4096
"""Events kept for an owner who does not fetch them; the oldest go first."""
ZONING_PATIENCE: Final = 2.0
"""Seconds until a client that changes zones no longer waits for the old session's end."""
RETURN_TIME: Final = 50.0
"""Seconds in which a client that changes zones begins sessions anew when one is not answered. Its
key works for 60."""
UNANSWERED: Final = frozenset((CloseReason.NO_ANSWER, CloseReason.SILENCE, CloseReason.PEER))
"""How a session ends whose server has not seen the key: the last is what a server says that waited
for it in vain."""
MOST_RETURNS: Final = 4
"""Sessions that a client begins at most for one change of zones: a wrong key ends them, too."""
SESSIONS: Final = SessionConfig(keep_alive_interval=2.0)
"""How sessions in the world are kept alive: often enough that both sides survive a gap of 40 s
although nothing was said before it."""


def make_session() -> Session:
    """Return a new client session for the world."""
    return Session.client(SESSIONS)


@dataclass(frozen=True, slots=True)
class Pass:
    """What lets a client in once: where, and the account and key to show."""

    host: str
    port: int
    account_id: int
    key: int = field(repr=False)


class WorldPhase(Enum):
    """How far a client has come."""

    NEW = "not begun"
    KNOCKING = "waiting for the world's answer"
    LOADING = "entering"
    STANDING = "in the zone"
    ZONING = "changing the zone"
    CLOSED = "closed"


@dataclass(slots=True, eq=False, repr=False)
class WorldClientCore:
    """One character's client."""

    messages: WorldMessages
    door: Pass
    """Where its session goes, and with which key."""
    make_session: Callable[[], Session] = make_session
    """Returns a new client session; it is called once for every zone."""
    _: KW_ONLY
    looks: bool = True
    """Whether it reads ghosts at all; a crowd whose eyes nobody asks needs none."""
    session: Session = field(init=False)
    events: deque[WorldEvent] = field(default_factory=lambda: deque(maxlen=EVENT_LIMIT))
    drops: Counter[str] = field(default_factory=Counter)
    """Messages that were not read, by name."""
    stage: WorldPhase = WorldPhase.NEW
    zone: ZoneTold | None = None
    character: str = ""
    commands: tuple[str, ...] = ()
    """The slash commands it was given, in the order it counts them."""
    dialog: DialogOpened | None = None
    """The dialog that is open."""
    walker: Walker = field(default_factory=Walker)
    surroundings: Surroundings | None = None
    """None for versions whose ghosts are not known, and for a client told not to look."""
    own_index: int = 0
    entering: float | None = None
    """Seconds from showing the key to being sent all that is near; None before."""
    _predictions: PredictionWriter | None = None
    _interface_said: bool = False
    _key_shown: float = 0.0
    _waiting_since: float | None = None
    _may_return_until: float = -math.inf
    """Until when an unanswered session is begun anew, because the client changes zones."""
    _returns: int = 0
    """Sessions begun for this change of zones."""
    _farewell: str = ""
    """How it takes its leave, while it does."""

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Begin a session: all that is told as changes begins anew."""
        self.session = self.make_session()
        self.own_index = 0
        self._interface_said = False
        self._predictions = self.surroundings = None
        try:
            self._predictions = PredictionWriter(self.messages.dialect)
            if self.looks:
                self.surroundings = Surroundings(self.messages.dialect)
        except UnknownStruct:
            pass  # a version that nobody has written down: it sees nothing, or cannot walk

    @property
    def version(self) -> int:
        """The client version it plays."""
        return self.messages.version

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.walker.place

    # network and time

    def connect(self, now: Monotonic) -> None:
        """Begin; everything up to standing in the zone then happens by itself."""
        if self.stage is not WorldPhase.NEW:
            raise LocalProtocolError("the client has begun already")
        self.stage = WorldPhase.KNOCKING
        self.session.connect(now)

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one datagram of the server; never raises for its bytes."""
        self.session.receive_datagram(data, now)
        self._pump(now)

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams to send now."""
        session = self.session
        datagrams = session.datagrams_to_send(now)
        self._pump(now)  # giving up shows here
        return datagrams

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is to be called, None for never."""
        times = [self.session.get_timer()]
        if self.stage is WorldPhase.STANDING:
            times.append(self.walker.get_timer())
        elif self._waiting_since is not None:
            times.append(Monotonic(self._waiting_since + ZONING_PATIENCE))
        return min((time for time in times if time is not None), default=None)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: steps, and all that the session does over time."""
        due = self.session.get_timer()
        if due is not None and due <= now:
            self.session.handle_timer(now)
        step = self.walker.get_timer()
        if self.stage is WorldPhase.STANDING and step is not None and step <= now:
            self._tell_step(now)
        self._pump(now)
        since = self._waiting_since
        if since is not None and now >= since + ZONING_PATIENCE:
            self._connect_again(now)

    def next_event(self) -> WorldEvent | None:
        """Return what happened next, None when that was all."""
        return self.events.popleft() if self.events else None

    def close(self) -> None:
        """End the session in order, without a word to the world: the character is link-dead."""
        if self.stage is WorldPhase.NEW:
            self._end("closed by us")
        elif self.stage is not WorldPhase.CLOSED:
            self._waiting_since = None
            self.session.close()

    def lost(self, reason: str) -> None:
        """Learn that nobody can be reached any more."""
        if self.stage is not WorldPhase.CLOSED:
            self._end(reason)

    # wishes

    def command(self, line: str) -> None:
        """Call a slash command by its line, with or without the slash.

        Raises `CommandError` for one that the world has not given this client.
        """
        name, _, rest = line.removeprefix("/").strip().partition(" ")
        if name not in self.commands:
            raise CommandError(f"the world has given this character no command {name}")
        index = self.commands.index(name)
        self._say("WS_RemoteCmdMsg", command_handler=index, arguments=rest.strip())

    def walk_to(
        self, x: float, y: float, z: float, now: Monotonic, speed: float = RUNNING_SPEED
    ) -> None:
        """Walk to a place, straight ahead, at a speed in world units a second."""
        self._need_zone()
        if self._predictions is None:
            raise CommandError(f"nobody knows how clients of version {self.version} walk")
        self.walker.walk_to(Place(x, y, z), now, speed)

    def sit(self) -> None:
        """Sit down."""
        self._need_zone()
        self._send("OP_SitMsg")
        self.walker.is_sitting = True

    def stand(self) -> None:
        """Stand up; whoever camps stops that."""
        self._need_zone()
        self._send("OP_StandMsg")
        self.walker.is_sitting = False

    def camp(self) -> None:
        """Leave the world after the time that it counts down."""
        self._say("WS_RequestCamp", quit=0, camp_desktop=0)

    def quit(self) -> None:
        """Leave the world at once."""
        self._say("WS_RequestCamp", quit=1, camp_desktop=1)
        self._farewell = "you left the world"

    def target(self, index: int | None) -> None:
        """Look at a ghost, or at none."""
        wanted = NO_TARGET if index is None else index
        self._say("WS_UpdateTarget", spawn_index=wanted)

    def use(self, index: int) -> None:
        """Do with a ghost what is usually done with it: go through a door, read a sign."""
        self._need_zone()
        self._send("OP_EntityVerbsVerbMsg", index.to_bytes(4, "little"))

    def answer(self, choice: int) -> None:
        """Choose an answer of the open dialog, counted from 1. Raises `CommandError`."""
        dialog = self._open_dialog()
        if not 1 <= choice <= len(dialog.choices):
            raise CommandError(f"the dialog has the answers 1 to {len(dialog.choices)}")
        self.dialog = None
        self._say("WS_DialogSelect", conversation_id=dialog.conversation, response=choice)

    def close_dialog(self) -> None:
        """Close the open dialog. Raises `CommandError` when there is none."""
        dialog = self._open_dialog()
        self.dialog = None
        self._say("WS_DialogClose", conversation_id=dialog.conversation)

    def send(self, name: str, payload: bytes = b"") -> None:
        """Send any message by name or number, whatever the world makes of it."""
        if self.stage in (WorldPhase.NEW, WorldPhase.CLOSED):
            raise CommandError(f"nothing can be sent now: {self.stage.value}")
        self._send(name, payload)

    def _send(self, name: str, payload: bytes = b"") -> None:
        self.session.send(*self.messages.plain(name, payload))

    def _open_dialog(self) -> DialogOpened:
        if self.dialog is None:
            raise CommandError("no dialog is open")
        return self.dialog

    def _need_zone(self) -> None:
        if self.stage is not WorldPhase.STANDING:
            raise CommandError(f"the character is not in the zone: {self.stage.value}")

    def _say(self, struct: str, **values: object) -> None:
        """Send the message that a struct is, from inside a zone."""
        self._need_zone()
        self.session.send(*self.messages.filled(struct, **values))

    def _tell_step(self, now: Monotonic) -> None:
        assert self._predictions is not None  # noqa: S101  # without them nobody walks
        step = self.walker.step(now)
        payload = self._predictions.write(step.fields(), int(now * 1000) & 0xFFFFFFFF)
        self._send("OP_PredictionUpdateMsg", payload)

    # what comes

    def _pump(self, now: Monotonic) -> None:
        session = self.session
        while (event := session.next_event()) is not None:
            match event:
                case Message(opcode, payload):
                    self._message(opcode, payload, now)
                case KeyEstablished():
                    self._key_shown = now
                    session.send(
                        *self.messages.login_by_number(self.door.account_id, self.door.key)
                    )
                case SessionClosed(reason):
                    if self._waiting_since is not None or self._is_returning(reason, now):
                        self._connect_again(now)
                    else:
                        self._end(str(reason))

    def _message(self, opcode: int, payload: bytes, now: Monotonic) -> None:
        try:
            for name, body in self.messages.unwrapped(opcode, payload):
                self._take(name, body, now)
        except MalformedMessage as error:
            name = self.messages.dialect.table.name(opcode) or ""
            self.events.append(Unexpected(opcode, name, str(error)))

    def _take(self, name: str, payload: bytes, now: Monotonic) -> None:
        if name in GHOST_COMMANDS:
            if self.surroundings is not None:
                self.events.append(self.surroundings.take(name, payload))
        elif not self._goes_on(name, payload, now):
            event = self.messages.read(name, payload)
            if event is None:
                self.drops[name] += 1
            else:
                self._note(event)
                self.events.append(event)

    def _note(self, event: WorldEvent) -> None:
        match event:
            case events.Refused():
                self.session.close()
            case ZoneTold():
                self.stage = WorldPhase.LOADING
                self.zone = event
                self.character = event.character
                self.walker.put(Place(event.x, event.y, event.z))
                self._send(messages.ZONE_LOADED)
            case events.CampBegun():
                self._farewell = "you camped"
            case events.CampStopped():
                self._farewell = ""
            case events.PutSomewhere(x, y, z):
                self.walker.put(Place(x, y, z, self.place.heading))
            case DialogOpened():
                self.dialog = event
            case events.DialogClosed():
                self.dialog = None

    def _goes_on(self, name: str, payload: bytes, now: Monotonic) -> bool:
        """Take a message that moves the client itself on; False for those that only tell."""
        match name:
            case "OP_SetRemoteCmdsMsg":
                self.commands = self.messages.commands(payload)
            case messages.ENTITIES_SENT:
                self.entering = now - self._key_shown
                self._send(messages.ENTITIES_LOADED)
                if not self.messages.has(messages.INTERFACE_LOADED):
                    self._stand_up()  # its version has no word for its interface
            case "OP_EqSetPOVGhostCmd":
                self._own_ghost_named(payload)
            case messages.INTERFACE_LOADED:
                self._stand_up()
            case "OP_ChangeZoneMsg":
                self._zone_changes(payload, now)
            case _:
                return False
        return True

    def _own_ghost_named(self, payload: bytes) -> None:
        """Learn which ghost is one's own; the world has sent what the interface needs."""
        index = self.messages.dialect.layout("WS_SetPOVGhostCmd").decode(payload)["spawn_id"]
        self.own_index = index
        if self.surroundings is not None and index in self.surroundings:
            heading = place_of(self.surroundings.part(index, POSITION)).heading
            self.walker.put(self.place._replace(heading=heading))
        if self.messages.has(messages.INTERFACE_LOADED) and not self._interface_said:
            self._interface_said = True
            self._send(messages.INTERFACE_LOADED)

    def _stand_up(self) -> None:
        if self.stage is not WorldPhase.LOADING:
            return
        self.session.send(*self.messages.avatar_ready())
        self.stage = WorldPhase.STANDING
        self.events.append(events.Stood())

    def _zone_changes(self, payload: bytes, now: Monotonic) -> None:
        fields = self.messages.zone_change(payload)
        host, port = fields["ip_address"], fields["port"]
        self.door = Pass(host, port, fields["account_id"], fields["key"])
        self.stage = WorldPhase.ZONING
        self._waiting_since = now
        self._may_return_until = now + RETURN_TIME
        self._returns = 0
        self._send(messages.READY_TO_ZONE)
        self.events.append(events.ZoneLeft(host, port))

    def _connect_again(self, now: Monotonic) -> None:
        self._waiting_since = None
        self._returns += 1
        self.stage = WorldPhase.KNOCKING
        self.dialog = None
        self._begin()
        self.session.connect(now)

    def _is_returning(self, reason: str, now: Monotonic) -> bool:
        """Whether a session ended unanswered whose key is still good."""
        is_asking = self.stage is WorldPhase.KNOCKING
        may_return = self._returns < MOST_RETURNS and now < self._may_return_until
        return is_asking and reason in UNANSWERED and may_return

    def _end(self, reason: str) -> None:
        self.stage = WorldPhase.CLOSED
        self._waiting_since = None
        self.events.append(Closed(self._farewell or reason))
