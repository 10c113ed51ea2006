"""Events of the game: what happens to somebody in the world, each a value with a type of its own.

Who causes something publishes its event; who reacts to it subscribes to the type in the one table
of the world (`Events`). A message, a command and a script that do the same publish the same event.
Those of things are in `emu.world.item_events`, of quests in `quest_events`, log lines in `reports`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from emu.rules.combat import Result
from emu.times import Monotonic
from emu.world.reports import Faults

if TYPE_CHECKING:
    from emu.model import WorldCharacter
    from emu.world.actors.player import Player
    from emu.world.actors.spawn import Spawn, Verb
    from emu.world.zones.zone import Zone

HAIL: Final = "hail"
"""The word with which a player begins the line that hails its target."""


@dataclass(frozen=True, slots=True)
class GameEvent:
    """Something that has happened to `player`; None if it concerns nobody in particular."""

    player: Player | None = None


@dataclass(frozen=True, slots=True)
class PlayerEvent(GameEvent):
    """Something that has happened to a player."""

    player: Player


@dataclass(frozen=True, slots=True)
class Arrived(PlayerEvent):
    """A player stands in a zone and has come from outside the world."""

    now: Monotonic


@dataclass(frozen=True, slots=True)
class Entered(PlayerEvent):
    """A player stands in a zone."""

    now: Monotonic


@dataclass(frozen=True, slots=True)
class ClientLoaded(PlayerEvent):
    """A player's client has loaded its windows."""


@dataclass(frozen=True, slots=True)
class Signalled(PlayerEvent):
    """A player's client has sent a signal: its avatar stands, or a step of the tutorial is done."""

    signal: str


@dataclass(frozen=True, slots=True)
class LeftZone(PlayerEvent):
    """A player has left its zone, or the world."""


@dataclass(frozen=True, slots=True)
class LeftWorld(PlayerEvent):
    """A player has left the world."""


@dataclass(frozen=True, slots=True)
class HidingChanged(PlayerEvent):
    """A player is hidden now, or visible again."""


@dataclass(frozen=True, slots=True)
class RankChanged(PlayerEvent):
    """The rank of a player whose client is here has changed."""


@dataclass(frozen=True, slots=True)
class PlayedElsewhere(PlayerEvent):
    """Another process plays the character of a player that is still here."""


@dataclass(frozen=True, slots=True)
class CharacterClaimed(GameEvent):
    """This process lets a character in, whose term has grown; it may have left here before."""

    _: KW_ONLY
    character: WorldCharacter
    """With its new term."""


@dataclass(frozen=True, slots=True)
class GridChanged(PlayerEvent):
    """A player's client says that it is in another grid of the zone's map."""

    before: int
    grid: int


@dataclass(frozen=True, slots=True)
class FaultReported(PlayerEvent):
    """A player has reported a fault of the world."""

    number: int
    """That of the report."""


@dataclass(frozen=True, slots=True)
class Targeted(PlayerEvent):
    """A player has targeted a spawn."""

    target: Spawn


@dataclass(frozen=True, slots=True)
class Came(PlayerEvent):
    """A player has come near a spawn that looks out for players."""

    spawn: Spawn


@dataclass(frozen=True, slots=True)
class Went(PlayerEvent):
    """A player is no longer near a spawn that looks out for players."""

    spawn: Spawn


@dataclass(frozen=True, slots=True)
class Spoken(PlayerEvent):
    """A player has said something aloud that hails nobody."""

    text: str
    target: Spawn | None
    """The spawn that the player had targeted."""


@dataclass(frozen=True, slots=True)
class SpawnSpoke(GameEvent):
    """A spawn has said something, by its script or behavior; `player` is None."""

    _: KW_ONLY
    spawn: Spawn
    text: str


@dataclass(frozen=True, slots=True)
class Hailed(PlayerEvent):
    """A player has hailed its target, by whatever way: a line, a command or a verb."""

    text: str
    target: Spawn


@dataclass(frozen=True, slots=True)
class VerbChosen(PlayerEvent):
    """A player has chosen a verb of a spawn, by its menu or by a script; it may need time."""

    target: Spawn
    verb: Verb
    now: Monotonic


@dataclass(frozen=True, slots=True)
class MayUse(PlayerEvent):
    """A player is about to use a verb; a listener that refuses it adds the reason."""

    target: Spawn
    verb: Verb
    refusals: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class VerbBegun(PlayerEvent):
    """A player has begun to use a verb that takes time."""

    target: Spawn
    verb: Verb


@dataclass(frozen=True, slots=True)
class VerbBroken(PlayerEvent):
    """A player has broken off the use of a verb that takes time."""

    target: Spawn
    verb: Verb


class Doer(enum.Enum):
    """The kind of listener that has done something about a use."""

    WAY = enum.auto()
    """The target leads somewhere or moves; nobody else is to do anything."""
    COMMAND = enum.auto()
    SCRIPT = enum.auto()


@dataclass(frozen=True, slots=True)
class Used(PlayerEvent):
    """A player has used a verb of a spawn."""

    target: Spawn
    verb: Verb
    now: Monotonic
    done_by: set[Doer] = field(default_factory=set)
    """Each listener that does something adds its kind."""


@dataclass(frozen=True, slots=True)
class WidgetUsed(GameEvent):
    """A widget, such as a lift, is about to move; `player` is None if a script uses it."""

    _: KW_ONLY
    zone: Zone
    target: Spawn
    is_open: bool
    answers: list[str] = field(default_factory=list)
    """A listener that answers the use instead adds its name: the widget stays as it is."""


@dataclass(frozen=True, slots=True)
class Boarded(GameEvent):
    """Somebody has stepped on a transport, or off it."""

    _: KW_ONLY
    zone: Zone
    transport: Spawn
    rider: Spawn
    is_on: bool


@dataclass(frozen=True, slots=True)
class Chosen(PlayerEvent):
    """A player has used a command that windows of scripts send."""

    command: str
    text: str
    """What stood behind the command."""


@dataclass(frozen=True, slots=True)
class DialogAnswered(PlayerEvent):
    """A player has answered a dialog."""

    owner: Hashable
    """The one that opened the dialog."""
    reply: Any
    """The owner's own word for the answer."""


@dataclass(frozen=True, slots=True)
class MayLevel(PlayerEvent):
    """A player is about to reach a level by experience; a listener that forbids it says so."""

    before: int
    after: int
    points: int
    """The points that are not yet among those of the character: what the level takes and more."""
    refusals: list[str] = field(default_factory=list)
    """A listener that forbids the level adds its name; the points are kept."""


@dataclass(frozen=True, slots=True)
class MayTradeLevel(MayLevel):
    """The same before a tradeskill level."""


@dataclass(frozen=True, slots=True)
class LetterRead(PlayerEvent):
    """A player has opened a letter for the first time."""

    letter_id: int


@dataclass(frozen=True, slots=True)
class LevelGained(PlayerEvent):
    """A player has another level of adventurers, in whatever way, higher or lower."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class TenthGained(PlayerEvent):
    """A player has a further tenth of the points of its level: some spells come with one."""


@dataclass(frozen=True, slots=True)
class TradeLevelGained(PlayerEvent):
    """A player has another tradeskill level, in whatever way, higher or lower."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SkillGained(PlayerEvent):
    """A skill of a player has become better."""

    skill: int
    """The number of the skill."""
    value: int


@dataclass(frozen=True, slots=True)
class SkillsChanged(PlayerEvent):
    """A script has changed the skills of a player, whose client does not know it yet."""


@dataclass(frozen=True, slots=True)
class KillAsked(PlayerEvent):
    """A game master kills a creature; the listener that does it adds its name."""

    target: Spawn
    done_by: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Died(GameEvent):
    """A player or a creature has died; `player` has killed it, None if no player has."""

    _: KW_ONLY
    zone: Zone
    victim: Spawn
    killer: Spawn | None = None
    fighters: tuple[Spawn, ...] = ()
    """The spawns of the players who fought it."""
    stays: list[float] = field(default_factory=list)
    """Seconds for which the body has to stay; a listener with a reason adds its own."""
    is_rewarded: bool = True
    """Whether anybody gets something for it; not after a call for help."""
    kind: int = 0
    """The type of the damage that has killed it."""


@dataclass(frozen=True, slots=True)
class Revived(PlayerEvent):
    """A dead player lives again."""


@dataclass(frozen=True, slots=True)
class MayDrop(GameEvent):
    """A creature may have a loot table of its level, race or zone; `player` is None."""

    _: KW_ONLY
    zone: Zone
    spawn: Spawn
    kind: str
    """``level``, ``racial`` or ``zone``."""
    table: int
    levels: tuple[int, int]
    """The lowest and the highest level of the table."""
    answers: list[bool] = field(default_factory=list)
    """A listener that decides adds whether the creature has it."""


@dataclass(frozen=True, slots=True)
class FightEvent(GameEvent):
    """Something has happened between two spawns that fight; `player` is None."""

    _: KW_ONLY
    zone: Zone
    spawn: Spawn
    foe: Spawn | None = None
    """Missing if nobody has caused it."""


@dataclass(frozen=True, slots=True)
class Hated(FightEvent):
    """A creature hates a foe more than before, and may begin to fight it."""


@dataclass(frozen=True, slots=True)
class Provoked(FightEvent):
    """A creature begins to fight a foe."""


@dataclass(frozen=True, slots=True)
class Thinks(FightEvent):
    """A creature whose script decides what it does in a fight thinks about its foe."""


@dataclass(frozen=True, slots=True)
class FightOver(FightEvent):
    """A creature that lives has nobody left to fight, or gives up."""


@dataclass(frozen=True, slots=True)
class MayHurt(FightEvent):
    """A spawn is about to lose health; a listener that changes how much adds its number."""

    _: KW_ONLY
    damage: int
    answers: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Warded(FightEvent):
    """A damage has passed a spawn's armor; a listener that takes some of it off adds how much.

    `foe` is the attacker. A listener with less to take off than is `left` takes only that.
    """

    _: KW_ONLY
    damage: int
    damage_type: int
    absorbed: list[int] = field(default_factory=list)

    @property
    def left(self) -> int:
        """What is left of the damage."""
        return max(0, self.damage - sum(self.absorbed))


@dataclass(frozen=True, slots=True)
class MayCast(FightEvent):
    """A creature thinks about its foe; a listener that lets it cast adds its pause in seconds."""

    _: KW_ONLY
    pauses: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BlowLanded(FightEvent):
    """The blow of a spawn has hit its foe, and its damage is taken: procs follow from it."""

    _: KW_ONLY
    damage: int
    damage_type: int
    is_ranged: bool = False
    is_critical: bool = False


@dataclass(frozen=True, slots=True)
class BlowAvoided(FightEvent):
    """A spawn has parried, blocked or dodged the blow of its foe."""

    _: KW_ONLY
    result: Result


@dataclass(frozen=True, slots=True)
class Hurt(FightEvent):
    """A foe has struck a spawn, or has hurt it in another way."""

    _: KW_ONLY
    damage: int
    """The health that it lost; 0 for a blow that it has avoided."""
    kind: int = 0
    """The type of the damage."""
    spell_id: int = 0
    """The spell that has done it; 0 for a blow."""


@dataclass(frozen=True, slots=True)
class Struck(FightEvent):
    """A spawn has struck at a foe with its main hand."""


@dataclass(frozen=True, slots=True)
class Healed(FightEvent):
    """A spell has given a spawn health or power; `foe` is who has cast it."""

    _: KW_ONLY
    amount: int
    is_power: bool = False


@dataclass(frozen=True, slots=True)
class Cast(FightEvent):
    """A spawn has finished a cast; `foe` is its first target, `targets` are all it acted on."""

    _: KW_ONLY
    spell_id: int
    tier: int
    has_landed: bool = True
    name: str = ""
    targets: tuple[Spawn, ...] = ()
    is_harmful: bool = False


@dataclass(frozen=True, slots=True)
class ClassChanged(PlayerEvent):
    """A player has another class of adventurers."""

    before: int


@dataclass(frozen=True, slots=True)
class SpellLearned(PlayerEvent):
    """A player's book has a spell, or a higher tier of one."""

    spell_id: int
    tier: int
    is_quiet: bool = False
    has_hotkey: bool = True
    """Whether the client puts it into a free place of a bar."""


@dataclass(frozen=True, slots=True)
class StatusChanged(GameEvent):
    """The number of players or the lock has changed: what login servers and queries show."""


def spoken(player: Player, text: str) -> Spoken | Hailed:
    """Return the event of a line that a player has said aloud."""
    target = player.target
    if target is not None and text.casefold().startswith(HAIL):
        return Hailed(player, text, target)
    return Spoken(player, text, target)


class Order(enum.IntEnum):
    """Whose listener is called first. Within one order, the one that has subscribed first."""

    OWNER = 0
    """The component that owns the state which the event changes."""
    SUBJECTS = 1
    """The other components of the world."""
    MINDS = 2
    """Scripts and behaviors."""
    RECORDS = 3
    """Statistics, operators and other programs."""


E = TypeVar("E", bound=GameEvent)
_Listener = Callable[[Any], object]


class Events:
    """The subscriptions of one world, by the type of the event.

    A listener that raises does not stop the others: the fault is counted and reported.
    """

    __slots__ = ("_faults", "_listeners", "tap")

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        # A tuple for each type is replaced as a whole, so that a listener may subscribe another one
        # while an event is published.
        self._listeners: dict[type[GameEvent], tuple[tuple[Order, _Listener], ...]] = {}
        self.tap: Callable[[GameEvent], object] | None = None
        """Called with each event before its listeners."""

    def subscribe(
        self, kind: type[E], listener: Callable[[E], object], order: Order = Order.SUBJECTS
    ) -> None:
        """Call a function at each event of a type from now on."""
        known = self._listeners.get(kind, ())
        place = len(known)
        # Those of the same order stay in the order of their subscription.
        while place and known[place - 1][0] > order:
            place -= 1
        entry = (order, cast("_Listener", listener))
        self._listeners[kind] = (*known[:place], entry, *known[place:])

    def has_listener(self, kind: type[GameEvent]) -> bool:
        """Return whether a listener is called at an event; without one it need not be made."""
        return kind in self._listeners

    def publish(self, event: GameEvent) -> None:
        """Call every listener."""
        if self.tap is not None:
            self.tap(event)
        task = _task(event)
        for _, listener in self._listeners.get(type(event), ()):
            self._faults.attempt(task, event.player, listener, event)

    def publish_twice(self, event: GameEvent) -> None:
        """Call every listener, and those that raised once more.

        For a player's leaving: what a listener still knows of the player would stay for ever.
        """
        if self.tap is not None:
            self.tap(event)
        attempt, task = self._faults.attempt, _task(event)
        failed = [
            listener
            for _, listener in self._listeners.get(type(event), ())
            if not attempt(task, event.player, listener, event)
        ]
        for listener in failed:
            attempt(f"{task} again", event.player, listener, event)


def _task(event: GameEvent) -> str:
    """Return the name of a listener's work in the count of faults."""
    return f"a listener ({type(event).__name__})"
