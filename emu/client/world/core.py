"""The client in the world without input and output: from the world key to leaving.

Like `LoginClient` it handles datagrams, time, and requests of its owner. It completes the steps of
a zone entry by itself, as a real client does (docs/protocol/world/entering.md#order). It keeps the
ghosts and sends its own movement.

To change zones it begins a new session with the key that it was sent. `session` is then another
object, and `handoff` has its address.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import Final

from emu.client.events import Closed, Unexpected
from emu.client.world import events, messages
from emu.client.world.events import DialogOpened, OptionsShown, WaysShown, WorldEvent, ZoneToLoad
from emu.client.world.messages import ClientWorldMessages, PredictionWriter
from emu.client.world.possessions import MESSAGES as OWN_MESSAGES
from emu.client.world.possessions import Possessions
from emu.client.world.surroundings import (
    GHOST_COMMANDS,
    RUNNING_SPEED,
    ClientSurroundings,
    Place,
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
from emu.world_stream.ghosts import POSITION, TITLE_CHANGED
from emu.world_stream.movement import from_client

EVENT_LIMIT: Final = 4096
"""Events kept until the owner reads them; the oldest are dropped first."""
ZONING_PATIENCE: Final = 2.0
"""Seconds to wait for the end of the old session when the client changes zones."""
RETURN_TIME: Final = 50.0
"""Seconds for which a client that changes zones repeats unanswered sessions.

Its key is valid for 60.
"""
UNANSWERED: Final = frozenset((CloseReason.NO_ANSWER, CloseReason.SILENCE, CloseReason.PEER))
"""How a session ends if its server has not seen the key.

`PEER` is the reason of a server that waited too long for the key.
"""
MOST_RETURNS: Final = 4
"""Most sessions for one change of zones: a wrong key ends them too."""
OWN_THING: Final = 0
"""The type of a request to examine a thing that the character carries."""
SESSIONS: Final = SessionConfig(keep_alive_interval=2.0)
"""Keep-alives of sessions in the world: frequent enough to survive a gap of 40 s without messages.
"""


def make_session() -> Session:
    """Return a new client session for the world, with keep-alives every 2 seconds."""
    return Session.client(SESSIONS)


@dataclass(frozen=True, slots=True)
class WorldHandoff:
    """The address of a world's session, with the account and the key to show there."""

    host: str
    port: int
    account_id: int
    key: int = field(repr=False)


class WorldPhase(Enum):
    """The progress of a client in the world."""

    NEW = "not begun"
    KNOCKING = "waiting for the world's answer"
    LOADING = "entering"
    STANDING = "in the zone"
    ZONING = "changing the zone"
    CLOSED = "closed"


@dataclass(slots=True, eq=False, repr=False)
class WorldClientCore:
    """The client of one character, from the world key to its leaving, over any number of zones.

    Its owner passes datagrams and the time in, and takes datagrams and events out. A request
    outside of a zone raises `CommandError`; so does one that the client version cannot express.
    """

    messages: ClientWorldMessages
    handoff: WorldHandoff
    """The address and key of its session."""
    make_session: Callable[[], Session] = make_session
    """Returns a new client session; called once for each zone."""
    _: KW_ONLY
    reads_ghosts: bool = True
    """Whether it decodes ghosts; most clients of a crowd do not need them."""
    reads_possessions: bool = False
    """Whether it decodes its sheet, things and spells."""
    session: Session = field(init=False)
    events: deque[WorldEvent] = field(default_factory=lambda: deque(maxlen=EVENT_LIMIT))
    drops: Counter[str] = field(default_factory=Counter)
    """Messages that were not decoded, by name."""
    phase: WorldPhase = WorldPhase.NEW
    zone: ZoneToLoad | None = None
    character: str = ""
    commands: Mapping[str, int] = field(default_factory=dict)
    """The positions of the world's slash commands in its table, by name."""
    dialog: DialogOpened | None = None
    """The open dialog."""
    ways: WaysShown | None = None
    """The open window of a transporter."""
    options: OptionsShown | None = None
    """The open window of options."""
    walker: Walker = field(default_factory=Walker)
    surroundings: ClientSurroundings | None = None
    """None for versions with unknown ghosts, and if `reads_ghosts` is False."""
    possessions: Possessions | None = None
    """None if `reads_possessions` is False."""
    own_index: int = 0
    entering: float | None = None
    """Seconds from showing the key to the end of the initial messages; None before."""
    _predictions: PredictionWriter | None = None
    _interface_said: bool = False
    _key_shown: float = 0.0
    _waiting_since: float | None = None
    _may_return_until: float = -math.inf
    """Until when an unanswered session is repeated during a change of zones."""
    _returns: int = 0
    """Sessions for this change of zones."""
    _end_reason: str = ""
    """The reason for `Closed` after the client has started to leave."""

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Begin a session with new baselines for all deltas."""
        self.session = self.make_session()
        self.own_index = 0
        self._interface_said = False
        # Baselines of the old session must not be applied to deltas of the new one.
        self._predictions = self.surroundings = None
        dialect = self.messages.dialect
        self.possessions = Possessions(dialect) if self.reads_possessions else None
        try:
            self._predictions = PredictionWriter(dialect)
            if self.reads_ghosts:
                self.surroundings = ClientSurroundings(dialect)
        except UnknownStruct:
            pass  # A version without known layouts: the client sees nothing, or cannot walk.

    @property
    def version(self) -> int:
        """The client data version."""
        return self.messages.version

    @property
    def place(self) -> Place:
        """The character's place as this client has it: world units, Y up, heading in degrees."""
        return self.walker.place

    # Network and time.

    def connect(self, now: Monotonic) -> None:
        """Begin the session; all steps up to standing in the zone follow without further calls."""
        if self.phase is not WorldPhase.NEW:
            raise LocalProtocolError("the client has begun already")
        self.phase = WorldPhase.KNOCKING
        self.session.connect(now)

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Handle one datagram of the server; never raises for its bytes."""
        self.session.receive_datagram(data, now)
        self._pump(now)

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams to send now, in order; call it after each of the other methods."""
        # `_pump` may begin another session; the datagrams belong to this one.
        session = self.session
        datagrams = session.datagrams_to_send(now)
        self._pump(now)  # The session may give up here.
        return datagrams

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due, by the same clock as `now`, or None for never."""
        due, other = self.session.get_timer(), None
        if self.phase is WorldPhase.STANDING:
            other = self.walker.get_timer()
        elif self._waiting_since is not None:
            # While the zone changes, the old server has some seconds to end the session by itself.
            other = Monotonic(self._waiting_since + ZONING_PATIENCE)
        if due is None or other is None:
            return other if due is None else due
        return min(due, other)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle steps that are due, and the session's timer."""
        due = self.session.get_timer()
        # The call may be for a step alone; the session's timer runs only when it is due.
        if due is not None and due <= now:
            self.session.handle_timer(now)
        step = self.walker.get_timer()
        if self.phase is WorldPhase.STANDING and step is not None and step <= now:
            self._send_step(now)
        self._pump(now)
        since = self._waiting_since
        # The old server may never end the session, for example because it has crashed.
        if since is not None and now >= since + ZONING_PATIENCE:
            self._connect_again(now)

    def next_event(self) -> WorldEvent | None:
        """Return the next event (`emu.client.world.events`), or None."""
        return self.events.popleft() if self.events else None

    def close(self) -> None:
        """End the session without notifying the world: the character becomes link-dead."""
        if self.phase is WorldPhase.NEW:
            self._end("closed by this side")
        elif self.phase is not WorldPhase.CLOSED:
            # Without this the end of the session would begin the next zone.
            self._waiting_since = None
            self.session.close()

    def lost(self, reason: str) -> None:
        """End the client because the network is lost; `reason` is that of the event `Closed`."""
        if self.phase is not WorldPhase.CLOSED:
            self._end(reason)

    # Requests of the owner.

    def command(self, line: str) -> None:
        """Send a slash command, with or without the slash.

        Raises `CommandError` for a command that the world has not given to this client.
        """
        name, _, rest = line.removeprefix("/").strip().partition(" ")
        if name not in self.commands:
            raise CommandError(f"the world has given this character no command {name}")
        position = self.commands[name]
        self._say("WS_RemoteCmdMsg", command_handler=position, arguments=rest.strip())

    def walk_to(
        self, x: float, y: float, z: float, now: Monotonic, speed: float = RUNNING_SPEED
    ) -> None:
        """Walk straight to a place in world units, at a speed in world units per second.

        Steps follow with the timer. Raises `CommandError` outside of a zone.
        """
        self._need_zone()
        if self._predictions is None:
            raise CommandError(f"nobody knows how clients of version {self.version} walk")
        self.walker.walk_to(Place(x, y, z), now, speed)

    def stand_still(self, now: Monotonic) -> None:
        """Stop a walk, if there is one. Raises `CommandError` outside of a zone."""
        self._need_zone()
        if self.walker.goal is not None:
            self.walker.stop(now)

    def approach(self, to: Place, reach: float, now: Monotonic, speed: float) -> bool:
        """Walk to within half of `reach` of a place; return whether it is in reach already.

        Raises `CommandError` as `walk_to`.
        """
        here = self.place
        away = here.distance_to(to)
        if away <= reach:
            return True
        part = (away - reach / 2) / away
        self.walk_to(
            here.x + (to.x - here.x) * part, to.y, here.z + (to.z - here.z) * part, now, speed
        )
        return False

    def sit(self) -> None:
        """Sit down. Raises `CommandError` outside of a zone."""
        self._need_zone()
        self._send("OP_SitMsg")
        self.walker.is_sitting = True

    def stand(self) -> None:
        """Stand up; this ends a camp. Raises `CommandError` outside of a zone."""
        self._need_zone()
        self._send("OP_StandMsg")
        self.walker.is_sitting = False

    def camp(self) -> None:
        """Request to leave after the server's countdown (`CampBegun`). Raises `CommandError`."""
        self._say("WS_RequestCamp", quit=0, camp_desktop=0)

    def quit(self) -> None:
        """Leave the world at once; `Closed` follows. Raises `CommandError` outside of a zone."""
        self._say("WS_RequestCamp", quit=1, camp_desktop=1)
        self._end_reason = "you left the world"

    def target(self, index: int | None) -> None:
        """Target a ghost by its index in `surroundings`, or None for no target.

        Raises `CommandError` outside of a zone.
        """
        wanted = NO_TARGET if index is None else index
        self._say("WS_UpdateTarget", spawn_index=wanted)

    def use(self, index: int, verb: str = "") -> None:
        """Use a ghost, by its index: go through a door, read a sign.

        `verb` is one of `VerbsShown`; without one it is the usual one. Raises `CommandError`
        outside of a zone.
        """
        self._need_zone()
        if verb:
            self._say("WS_EntityVerbsVerb", spawn_id=index, command=verb)
        else:
            self._send("OP_EntityVerbsVerbMsg", index.to_bytes(4, "little"))

    def ask_verbs(self, index: int) -> None:
        """Ask what can be done with a ghost; `VerbsShown` follows. Raises `CommandError`."""
        self._say("WS_EntityVerbsRequest", spawn_id=index)

    def loot_all(self, index: int) -> None:
        """Take everything out of the open window of a body or a chest. Raises `CommandError`."""
        self._say("WS_LootItem", loot_id=index, loot_all=1, target_id=index)

    def examine(self, unique: int) -> None:
        """Examine a thing of the character, by its unique number. Raises `CommandError`."""
        self._say("WS_ExamineInfoRequestMsg", type=OWN_THING, unique_id=unique, id=unique)

    def inspect_quest(self, quest: int) -> None:
        """Ask for a quest of the journal; `QuestShown` follows. Raises `CommandError`."""
        self._say("WS_QuestJournalInspectMsg", quest_id=quest)

    def buy_house(self, number: int) -> None:
        """Buy the house of the open window (`HousePriced`). Raises `CommandError`."""
        self._say("WS_BuyHouse", house_id=number)

    def enter_house(self, number: int) -> None:
        """Enter the house of the open window (`HouseShown`). Raises `CommandError`."""
        self._say("WS_EnterHouse", house_id=number)

    def put_thing(self, index: int, place: Place) -> None:
        """Put a thing where the window asks for it (`PlaceAsked`). Raises `CommandError`."""
        self._say(
            "WS_PlaceMoveableObject", spawn_id=index, x=place.x, y=place.y, z=place.z,
            heading=place.heading,
        )  # fmt: skip

    def signal(self, text: str) -> None:
        """Send a signal, as at the end of a lesson. Raises `CommandError` outside of a zone."""
        self._say("WS_Signal", signal=text)

    def send_mail(self, to: str, subject: str, text: str) -> None:
        """Send a letter by the mail window; `MailSent` follows. Raises `CommandError`."""
        self._say("WS_MailSendMessage", player_to=to, subject=subject, mail_body=text)

    def answer(self, choice: int) -> None:
        """Send an answer of the open dialog, counted from 1. Raises `CommandError`."""
        dialog = self._open_dialog()
        if not 1 <= choice <= len(dialog.choices):
            raise CommandError(f"the dialog has the answers 1 to {len(dialog.choices)}")
        self.dialog = None
        self._say("WS_DialogSelect", conversation_id=dialog.conversation, response=choice - 1)

    def travel(self, name: str) -> None:
        """Take a way of the open window of destinations, by its name. Raises `CommandError`."""
        if self.ways is None:
            raise CommandError("no window of destinations is open")
        wanted = name.casefold()
        way = next((one for one in self.ways.ways if one.name.casefold() == wanted), None)
        if way is None:
            names = ", ".join(one.name for one in self.ways.ways)
            raise CommandError(f"there is no way to {name}; the window has: {names}")
        index, self.ways = self.ways.index, None
        self._say(
            "WS_TeleportDestination", spawn_id=index, unique_id=way.id, zone_name=way.zone,
            cost=way.cost,
        )  # fmt: skip

    def choose(self, name: str) -> None:
        """Choose a row of the open window of options, by its name. Raises `CommandError`."""
        if self.options is None:
            raise CommandError("no window of options is open")
        wanted = name.strip().casefold()
        row = next(
            (one for one in self.options.rows if one.name.strip().casefold() == wanted), None
        )
        if row is None:
            names = ", ".join(one.name.strip() for one in self.options.rows)
            raise CommandError(f"there is no option {name}; the window has: {names}")
        self.command(f"select 0 {row.command}")
        self.options = None

    def close_dialog(self) -> None:
        """Close the open dialog. Raises `CommandError` when there is none."""
        dialog = self._open_dialog()
        self.dialog = None
        self._say("WS_DialogClose", conversation_id=dialog.conversation)

    def send(self, name: str, payload: bytes = b"") -> None:
        """Send any message, even one that the world does not expect.

        `name` is an opcode's name or decimal number; `payload` is the bytes after the opcode.
        Raises `CommandError` for a name that the version does not have, and without a session.
        """
        if self.phase in (WorldPhase.NEW, WorldPhase.CLOSED):
            raise CommandError(f"nothing can be sent now: {self.phase.value}")
        self._send(name, payload)

    def _send(self, name: str, payload: bytes = b"") -> None:
        self.session.send(*self.messages.plain(name, payload))

    def _open_dialog(self) -> DialogOpened:
        if self.dialog is None:
            raise CommandError("no dialog is open")
        return self.dialog

    def _need_zone(self) -> None:
        if self.phase is not WorldPhase.STANDING:
            raise CommandError(f"the character is not in the zone: {self.phase.value}")

    def _say(self, struct: str, **values: object) -> None:
        """Send a message that is valid in a zone, by the name of its struct."""
        self._need_zone()
        self.session.send(*self.messages.filled(struct, **values))

    def _send_step(self, now: Monotonic) -> None:
        assert self._predictions is not None  # noqa: S101  # without them nobody walks
        step = self.walker.step(now)
        # The field has 32 bits, so the time wraps after 49 days.
        payload = self._predictions.write(step.fields(), int(now * 1000) & 0xFFFFFFFF)
        self._send(self.messages.step_name, payload)

    # Messages of the world.

    def _pump(self, now: Monotonic) -> None:
        # Only events of this session: `_connect_again` replaces `self.session`.
        session = self.session
        while (event := session.next_event()) is not None:
            match event:
                case Message(opcode, payload):
                    self._message(opcode, payload, now)
                case KeyEstablished():
                    self._key_shown = now
                    session.send(
                        *self.messages.login_by_number(self.handoff.account_id, self.handoff.key)
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
                self.events.append(self.surroundings.handle_command(name, payload))
        elif name in OWN_MESSAGES and self.possessions is not None:
            self.events.append(self.possessions.handle_message(name, payload))
        elif name == TITLE_CHANGED and self.surroundings is not None:
            self.surroundings.rename(payload)
        elif not self._goes_on(name, payload, now):
            event = self.messages.read_message(name, payload)
            if event is None:
                self.drops[name] += 1
            else:
                if isinstance(event, events.ControlChanged):
                    self.walker.control(event.flags, now, is_on=event.is_on)
                self._note(event)
                self.events.append(event)

    def _note(self, event: WorldEvent) -> None:
        match event:
            case events.Refused():
                self.session.close()
            case ZoneToLoad():
                self.phase = WorldPhase.LOADING
                self.ways = self.options = None
                self.zone = event
                self.character = event.character
                # Before the answer: the next step must start where the world has put the character.
                self.walker.stand_at(Place(event.x, event.y, event.z))
                self.walker.is_held = False  # The world says again what holds the character.
                self._send(messages.ZONE_LOADED)
            case events.CampBegun():
                # The server ends the session after the countdown with a reason of its own, which
                # says less.
                self._end_reason = "you camped"
            case events.CampStopped():
                self._end_reason = ""
            case events.PutSomewhere(x, y, z, heading):
                self.walker.stand_at(Place(x, y, z, from_client(heading)))
            case WaysShown():
                self.ways = event
            case OptionsShown():
                self.options = event
            case DialogOpened():
                self.dialog = event
            case events.DialogClosed():
                self.dialog = None

    def _goes_on(self, name: str, payload: bytes, now: Monotonic) -> bool:
        """Handle a message that continues the zone entry or the change of zones.

        False for others.
        """
        match name:
            case "OP_SetRemoteCmdsMsg":
                self.commands = self.messages.commands(payload)
            case messages.ENTITIES_SENT:
                self.entering = now - self._key_shown
                self._send(messages.ENTITIES_LOADED)
                if not self.messages.has(messages.INTERFACE_LOADED):
                    self._stand_up()  # This version has no message about its interface.
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
        """Store which ghost is the own one; the world has sent what the interface needs."""
        index = self.messages.dialect.layout("WS_SetPOVGhostCmd").decode(payload)["spawn_id"]
        self.own_index = index
        if self.surroundings is not None and index in self.surroundings:
            # The zone message has no heading; the own ghost has.
            heading = place_of(self.surroundings.part(index, POSITION)).heading
            self.walker.stand_at(self.place._replace(heading=heading))
        if self.messages.has(messages.INTERFACE_LOADED) and not self._interface_said:
            # Once only: a second message would make the server send the last part of the entry
            # again.
            self._interface_said = True
            self._send(messages.INTERFACE_LOADED)

    def _stand_up(self) -> None:
        # The interface message may come again; only the first one completes the entry.
        if self.phase is not WorldPhase.LOADING:
            return
        self.session.send(*self.messages.avatar_ready())
        self.phase = WorldPhase.STANDING
        self.events.append(events.Stood())

    def _zone_changes(self, payload: bytes, now: Monotonic) -> None:
        fields = self.messages.zone_change(payload)
        host, port = fields["ip_address"], fields["port"]
        self.handoff = WorldHandoff(host, port, fields["account_id"], fields["key"])
        self.phase = WorldPhase.ZONING
        self._waiting_since = now
        # The new session may be lost or refused before the new server knows the key, so an
        # unanswered session is repeated while the key is valid.
        self._may_return_until = now + RETURN_TIME
        self._returns = 0
        self._send(messages.READY_TO_ZONE)
        self.events.append(events.ZoneLeft(host, port))

    def _connect_again(self, now: Monotonic) -> None:
        self._waiting_since = None
        self._returns += 1
        self.phase = WorldPhase.KNOCKING
        self.dialog = None
        self._begin()
        self.session.connect(now)

    def _is_returning(self, reason: str, now: Monotonic) -> bool:
        """Whether a session ended unanswered while its key is valid."""
        is_asking = self.phase is WorldPhase.KNOCKING
        may_return = self._returns < MOST_RETURNS and now < self._may_return_until
        return is_asking and reason in UNANSWERED and may_return

    def _end(self, reason: str) -> None:
        self.phase = WorldPhase.CLOSED
        self._waiting_since = None
        self.events.append(Closed(self._end_reason or reason))
