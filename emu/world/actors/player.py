"""One player in the world: character, spawn, client, titles, friends and ignored names.

A player whose client is gone stays for a while (link-dead); the next session of its character takes
it over. Handlers of messages change the state here: `emu.world.handlers.interaction`,
`emu.world.entry`.

A client is sent all titles of its player with TitleUpdate, and names the ones it shows by their
place in that list (docs/protocol/world/entering.md#small-messages).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from emu.commands import Cost
from emu.dialects import Dialect
from emu.errors import CommandError
from emu.limits.rates import RateLimit
from emu.model import Membership, Present, Title, WorldCharacter
from emu.quests.journal import Journal
from emu.times import Moment, Monotonic
from emu.world.actors.client import ERROR_COLOR, PlayerClient, SheetSender, send_text
from emu.world.actors.client_data import ClientData
from emu.world.actors.holdings import Holdings
from emu.world.actors.item_lists import ItemLists
from emu.world.actors.movement import Pace, StepReader
from emu.world.actors.options import PlayerOptions
from emu.world.actors.past import Past
from emu.world.actors.spawn import Destination, Spawn, StateWord, Verb
from emu.world.actors.unsaved import Unsaved
from emu.world.rules import MovementRules
from emu.world_stream.movement import FULL_TURN, Position, to_client

if TYPE_CHECKING:
    from emu.world.visibility.viewer import Viewer
    from emu.world.zones.zone import Zone

MOST_NAMES: Final = 200
LONGEST_NAME: Final = 64


class Relation(enum.IntEnum):
    """Types of ChatRelationship on the wire (docs/protocol/world/entering.md#order)."""

    FRIEND = 0
    IGNORED = 2


class Relations:
    """Friends and ignored players of a character; names are compared without regard to case."""

    __slots__ = ("_names",)

    def __init__(self, rows: Iterable[tuple[Relation, str]] = ()) -> None:
        self._names: dict[Relation, dict[str, str]] = {kind: {} for kind in Relation}
        for kind, name in rows:
            # The key is compared, the value is shown: players see the name as they typed it.
            self._names[kind][name.casefold()] = name

    def names(self, kind: Relation) -> list[str]:
        """Return the names of one kind, in the order they were added."""
        return list(self._names[kind].values())

    def rows(self) -> list[tuple[Relation, str]]:
        """Return kind and name of every entry, to be stored."""
        return [(kind, name) for kind in Relation for name in self.names(kind)]

    def knows(self, kind: Relation, name: str) -> bool:
        """Return whether a name is on the list of a kind."""
        return name.casefold() in self._names[kind]

    def add_name(self, kind: Relation, name: str) -> None:
        """Add a name. Raises `CommandError` if it is there already, or the list is full."""
        self.check(kind, name)
        self._names[kind][name.casefold()] = name

    def check(self, kind: Relation, name: str) -> None:
        """Raise `CommandError` if a name cannot be added: it is there, or the list is full."""
        names = self._names[kind]
        # Commands call this with text that a player has typed, so it is checked here.
        if len(name) > LONGEST_NAME:
            raise CommandError(f"no name has more than {LONGEST_NAME} letters")
        if name.casefold() in names:
            raise CommandError(f"{names[name.casefold()]} is on the list already")
        if len(names) >= MOST_NAMES:
            raise CommandError(f"the list holds {MOST_NAMES} names at most")

    def remove(self, kind: Relation, name: str) -> str:
        """Remove a name; return it as it was on the list. Raises `CommandError`."""
        found = self._names[kind].pop(name.casefold(), None)
        if found is None:
            raise CommandError(f"{name} is not on the list")
        return found


LONGEST_TITLE: Final = 63
"""Bytes of a ghost for each of the two."""
MOST_TITLES: Final = 250
NONE: Final = -1


class Titles:
    """The titles of a player, of which it shows at most one before and one after its name."""

    __slots__ = ("_given", "prefix", "suffix")

    def __init__(self, given: Iterable[Title] = (), prefix: str = "", suffix: str = "") -> None:
        # A dict keeps the order in which titles were given: clients name a title by its place.
        self._given = dict.fromkeys(given)
        # A title that was taken away since the last save must not be shown any more.
        self.prefix = prefix if Title(prefix, is_prefix=True) in self._given else ""
        self.suffix = suffix if Title(suffix) in self._given else ""

    @property
    def given(self) -> tuple[Title, ...]:
        """All titles, in the order they were given."""
        return tuple(self._given)

    def give(self, title: Title) -> bool:
        """Give a title; return False if the player has it already. Raises `CommandError`."""
        # Bytes, because the field of a ghost has a fixed width in bytes.
        if not title.text.isprintable() or not 0 < len(title.text.encode()) <= LONGEST_TITLE:
            raise CommandError(f"a title has 1 to {LONGEST_TITLE} letters")
        if title in self._given:
            return False
        if len(self._given) >= MOST_TITLES:
            raise CommandError(f"nobody has more than {MOST_TITLES} titles")
        self._given[title] = None
        return True

    def bear(self, title: Title) -> None:
        """Show one of the titles from now on. Raises `CommandError` if it was not given."""
        if title not in self._given:
            raise CommandError(f"you have no title {title.text}")
        if title.is_prefix:
            self.prefix = title.text
        else:
            self.suffix = title.text

    def find(self, name: str, *, is_prefix: bool) -> Title:
        """Return a title by its place in the list or its text. Raises `CommandError`."""
        for place, title in enumerate(self._given):
            # Clients send the place in the list; people type the text.
            if title.is_prefix == is_prefix and name.casefold() in (
                str(place), title.text.casefold(),
            ):  # fmt: skip
                return title
        where = "before" if is_prefix else "behind"
        raise CommandError(f"you have no such title to bear {where} your name")

    def lay_down(self, *, is_prefix: bool) -> None:
        """Show no title before, or after, the name."""
        if is_prefix:
            self.prefix = ""
        else:
            self.suffix = ""

    def show(self, spawn: Spawn) -> None:
        """Show the titles on the spawn; do nothing if it shows them already."""
        # Each change is sent to all observers, so an equal one is not made.
        if (spawn.prefix, spawn.suffix) != (self.prefix, self.suffix):
            spawn.set_info(prefix=self.prefix, suffix=self.suffix)

    def send(self, client: PlayerClient) -> None:
        """Send a client its titles, and which of them it shows."""
        given = self.given
        client.send(
            "WS_TitleUpdate",
            {
                "num_titles": len(given),
                "titles_array": [
                    {"title": title.text, "prefix": int(title.is_prefix)} for title in given
                ],
                "current_prefix": self._place(Title(self.prefix, is_prefix=True)),
                "current_suffix": self._place(Title(self.suffix)),
            },
        )

    def _place(self, borne: Title) -> int:
        return self.given.index(borne) if borne in self._given else NONE


@dataclass(slots=True)
class MailWindow:
    """The open mail window of a player."""

    kiosk: int
    """The client's index of the spawn at which the window was opened."""
    coins: int = 0
    """Copper that is to be sent with the letter in the window; it is the player's until then."""
    thing: int = 0
    """The number of the thing that is to be sent; it is locked until then. 0 without one."""
    count: int = 0
    """How many of its stack are sent."""
    has_sent: bool = False
    """Whether a letter was sent by it."""


NO_LOCATION: Final = 0xFFFFFFFF


class PlayerState(enum.Enum):
    """State of a player; each state names what the server waits for."""

    LOADING = "loading the zone"
    """The client was sent the zone and has not reported that it is loaded."""
    PLACING = "loading what is in the zone"
    """The client was sent the spawns near it."""
    APPEARING = "appearing"
    """The client was sent its own ghost; its avatar does not stand yet."""
    STANDING = "in the zone"
    ZONING = "changing the zone"
    """The client was sent to another zone and has not connected again."""
    LINK_DEAD = "link-dead"
    GONE = "gone"

    __hash__ = object.__hash__
    """Each message asks for it, and that of `Enum` is a call of Python code."""


class PlayerDeadline(enum.Enum):
    """What happens to a player at a time, unless something prevents it."""

    CAMP = "camp"
    """It leaves the world."""
    LINK_DEAD = "link-dead"
    """It is removed; no client has taken it over."""
    ZONING = "zoning"
    """It is removed; its client has not connected again."""
    CONFIRMED = "confirmed"
    """It is answered although its change is not stored yet."""
    CLOSING = "closing"
    """Its session is closed, although its last save is not stored yet."""
    SAVE_CHANGES = "keep"
    """Its changes are saved."""
    SAVE = "save"
    """It is saved, as at every `WorldRules.save_interval`."""
    VERB = "verb"
    """The verb that it uses takes effect."""


IN_ZONE: Final = frozenset((PlayerState.APPEARING, PlayerState.STANDING))
"""States in which a player's spawn is controlled by its client."""


class VerbUse(NamedTuple):
    """A verb that a player is using, of which spawn, and where it began."""

    spawn: Spawn
    verb: Verb
    zone: Zone
    began: Position


@dataclass(slots=True)
class Journey:
    """The change of the zone of one player."""

    destination: Destination | None = None
    """Where it goes, while it changes the zone."""
    is_travelling: bool = False
    """Whether a zone change is in progress of which its client was not sent a message yet."""
    is_elsewhere: bool = False
    """Whether it has left this process for another one, and not the world."""
    is_from_node: bool = False
    """Whether it came into this process from another node of the world, by a change of the zone."""
    is_returning: bool = False
    """Whether its client only changed the zone, and has the messages that are sent once."""
    key: int = 0
    """The key with which its client connects again, while it changes the zone."""


class ClientSession:
    """What belongs to the present client of a player; it begins anew with each client."""

    __slots__ = (
        "_messages", "command_words", "items", "predictions", "proposed_last_name", "sheet",
        "skill_base",
        "skill_book",
    )  # fmt: skip

    def __init__(self, dialect: Dialect) -> None:
        self.command_words: frozenset[str] = frozenset()
        """The words of the table of commands that the client was sent."""
        # A new client begins with zeros, so a delta against the old client's last step would be
        # garbage.
        self.predictions = StepReader(dialect)
        self.sheet = SheetSender(dialect)
        self.items = ItemLists(dialect)
        """The lists of things that the client has."""
        self.skill_base = b""
        """What the next skill book is XORed with; rows that are gone stay in it."""
        self.skill_book = b""
        """The rows of the skill book that the client has."""
        self.proposed_last_name: str | None = None
        """The last name that waits for its confirmation; empty to remove the present one."""
        self._messages: RateLimit | None = None

    def may_send(self, now: Monotonic, rate: float, burst: int) -> bool:
        """Count a message of the client; return False if there are more than `rate` allows."""
        if self._messages is None:
            self._messages = RateLimit(rate, burst, now)
        return self._messages.take(1, now)


class PlayerLimits:
    """How often a player may speak and use expensive commands, and whether it is muted."""

    __slots__ = ("_costs", "_speech", "_speech_rules", "_waits", "muted_until")

    def __init__(self, muted_until: Moment) -> None:
        self.muted_until = muted_until
        """When its mute ends; see `emu.times.lies_ahead`."""
        self._costs: dict[Cost, RateLimit] = {}
        self._waits = -math.inf
        self._speech: RateLimit | None = None
        self._speech_rules = (0.0, 0)

    def may_speak(self, now: Monotonic, rate: float, burst: int) -> bool:
        """Count a message of chat; return False if there are more than `rate` allows."""
        # The rules can change by a reload while the player is in the world.
        if self._speech is None or self._speech_rules != (rate, burst):
            self._speech, self._speech_rules = RateLimit(rate, burst, now), (rate, burst)
        return self._speech.take(1, now)

    def may_use(self, cost: Cost, pace: tuple[float, int], now: Monotonic) -> bool:
        """Count one use of an expensive command; return False if there are more than `pace` allows.

        `pace` is uses a second over time, and uses at once.
        """
        if cost not in self._costs:
            self._costs[cost] = RateLimit(*pace, now)
        return self._costs[cost].take(1, now)

    def may_be_asked_to_wait(self, now: Monotonic) -> bool:
        """Return whether to ask the player to wait with expensive commands: once a second."""
        if now < self._waits:
            return False
        self._waits = now + 1.0
        return True


class Following:
    """Whom a player follows, and who follows it."""

    __slots__ = ("followers", "leader")

    def __init__(self) -> None:
        self.leader: Player | None = None
        self.followers: set[Player] = set()


class Player:
    """One character that is in the world."""

    __slots__ = (
        "away_message", "channels", "character", "client", "client_data", "follows", "holdings",
        "journal", "journey", "limits", "mail", "options", "pace", "past", "relations",
        "session", "since", "spawn", "state", "target", "titles", "unsaved", "use", "viewer",
        "zone",
    )  # fmt: skip

    def __init__(
        self,
        character: WorldCharacter,
        spawn: Spawn,
        zone: Zone,
        client: PlayerClient,
        *,
        movement: MovementRules,
        now: Monotonic,
        holdings: Holdings,
    ) -> None:
        self.character = character
        self.spawn = spawn
        self.zone = zone
        self.since = now
        """When it entered the world."""
        self.pace = Pace(movement, now)
        self.state = PlayerState.LOADING
        self.viewer: Viewer | None = None
        self.target: Spawn | None = None
        self.use: VerbUse | None = None
        """The verb that takes its time."""
        self.journey = Journey()
        self.relations = Relations((Relation(kind), name) for kind, name in character.relations)
        self.titles = Titles(character.titles, character.prefix, character.suffix)
        self.channels: dict[str, Membership] = {
            one.channel.casefold(): one for one in character.channels
        }
        """Its memberships in channels of players, by the channel's name without case."""
        self.unsaved = Unsaved(now)
        self.away_message = ""
        self.options, self.past = PlayerOptions(character.options), Past(character.past)
        self.client_data = ClientData(character.client_data, character.hotkeys)
        self.journal = Journal(character.quests)
        """Its quests; `emu.world.quests` gives them their plans."""
        self.follows = Following()
        self.mail: MailWindow | None = None
        self.holdings = holdings
        """Its things."""
        self.limits = PlayerLimits(character.muted_until)
        self.connect(client)

    def connect(self, client: PlayerClient) -> None:
        """Use another client for this character; all that belongs to a client begins anew."""
        self.client = client
        self.session = ClientSession(client.dialect)
        self.viewer = None

    @property
    def id(self) -> int:
        """The character's id."""
        return self.character.id

    @property
    def name(self) -> str:
        """The character's name."""
        return self.character.name

    @property
    def rank(self) -> int:
        """The character's rank; 0 without one."""
        return max(0, self.character.admin_status)

    def played(self, now: Monotonic) -> int:
        """Return how many seconds it has been in the world, in all."""
        return self.character.played + max(0, round(now - self.since))

    def follow(self, other: Player | None) -> None:
        """Follow another player, or nobody any more; its client does the walking."""
        if self.follows.leader is not None:
            self.follows.leader.follows.followers.discard(self)
        self.follows.leader = other
        if other is not None:
            other.follows.followers.add(self)
        index = self.index_of(other.spawn) if other is not None else None
        self.spawn.set_info(follow_index=index)

    def rename_family(self, name: str) -> None:
        """Give it another last name, also as others see it."""
        self.character = replace(self.character, last_name=name)
        self.spawn.set_info(last_name=name)

    def set_target(self, spawn: Spawn | None) -> None:
        """Set what it has targeted, also as others see it."""
        self.target = spawn
        self.spawn.set_target(spawn)

    def aim(self, spawn: Spawn) -> None:
        """Set what it has targeted, also at its client: now, or once that has the ghost."""
        self.set_target(spawn)
        index = self.index_of(spawn)
        if index is not None:
            self.client.send("WS_ServerUpdateTarget", {"spawn_id": index})
        elif self.viewer is not None:
            self.viewer.awaited = spawn, lambda: self._aim_again(spawn)

    def _aim_again(self, spawn: Spawn) -> None:
        # A client that lost the ghost of its target may have said that it has none.
        if self.target is None or self.target is spawn:
            self.aim(spawn)

    @property
    def position(self) -> Position:
        """Where the player is."""
        return self.spawn.position

    @property
    def present(self) -> Present:
        """What other processes know of it."""
        character = self.character
        return Present(
            character.account_id,
            character.id,
            self.zone.zone_id,
            name=character.name,
            level=character.level,
            class_=character.class_,
            race=character.race,
            away=StateWord.AFK in self.spawn.words,
            anonymous=StateWord.ANONYMOUS in self.spawn.words,
            hidden=self.spawn.hidden,
        )

    def teleport(self, to: Position, now: Monotonic) -> None:
        """Put the player at another place in its zone."""
        # Before the move, so that no step of the client is measured against the new place with an
        # empty bucket.
        self.pace.teleported(now)
        self.spawn.move(to)
        self.send_place(to)

    def send_place(self, place: Position) -> None:
        """Send the client a place that its player moves to."""
        # EQ2Emulator adds half a turn to the heading and leaves 180 to 540 as it is (recorded).
        self.client.send(
            "WS_MoveClient",
            {
                "x": place.x,
                "y": place.y,
                "z": place.z,
                "heading": to_client(place.heading) + FULL_TURN,
                "unknown": 1,
                "location": NO_LOCATION,
            },
        )

    def close_view(self, now: Monotonic) -> None:
        """Stop showing the zone to the client."""
        # Emptied first: if the zone raises, nothing is sent to the old client any more.
        viewer, self.viewer = self.viewer, None
        if viewer is not None:
            self.zone.leave(viewer, now)

    @property
    def is_online(self) -> bool:
        """Whether a client plays it now."""
        return self.state not in (PlayerState.LINK_DEAD, PlayerState.GONE)

    def index_of(self, spawn: Spawn) -> int | None:
        """Return the index by which its client knows a spawn."""
        return self.viewer.interest.index_of(spawn) if self.viewer is not None else None


DEAD: Final = "You cannot do that right now."
"""What the dead read who want to do something."""


def refuses_dead(player: Player) -> bool:
    """Return whether a player is dead, and say that it can do nothing then."""
    if player.spawn.hp_percent > 0:
        return False
    send_text(player.client, DEAD, ERROR_COLOR)
    return True


async def act_alive(player: Player, act: Callable[[], object]) -> None:
    """Carry out an act after the exchanges that a player is in; the dead do nothing.

    Raises `CommandError`.
    """
    await player.holdings.gate.carry_out(lambda: refuses_dead(player) or act())
