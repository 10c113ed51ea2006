"""One spawn: a player, a creature, or a thing of a zone, and which side of it has changed.

Owns the state that every client is shown; how a client version is shown it is `emu.world.ghosts`'
business. A change is noted here and told to whoever watches (the zone). Knows no client.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from emu.world.spawns.destination import Destination
from emu.world.spawns.position import Position


class SpawnKind(enum.Enum):
    """What a spawn is; it decides how clients are told of it."""

    PLAYER = "player"
    NPC = "npc"
    OBJECT = "object"
    SIGN = "sign"
    WIDGET = "widget"


class Change:
    """Which of the three parts of a ghost a change belongs to: bits, which may be joined.

    Plain numbers: they are joined for every spawn, viewer and tick, and those of an `enum.IntFlag`
    took a third of a crowded world's time.
    """

    NONE: Final = 0
    POSITION: Final = 1
    VISIBILITY: Final = 2
    INFO: Final = 4


class Verb(NamedTuple):
    """Something a player can do with a spawn, from how far, and the command it runs."""

    name: str
    distance: float
    command: str


class Footer(NamedTuple):
    """What signs and widgets are told of besides: their own number and place, a sign's texts."""

    id: int
    x: float
    y: float
    z: float
    title: str = ""
    description: str = ""
    distance: float = 0.0
    show: bool = True
    language: int = 0


NOBODY: Callable[[Spawn, int], None] = lambda _spawn, _change: None  # noqa: E731  # a default
STANDING = 539
SITTING = 538
"""Visual states of a player who sits and of one who has stood up.

Source: docs/protocol/world/spawns.md#posture.
"""


class Spawn:
    """What stands in a zone.

    `id` is unique in the world process and never goes on the wire: clients know a spawn by an index
    of their own. Speeds are world units a second, `pitch` degrees, `activity` the client's own bits
    (docs/protocol/world/movement.md#prediction). `looks` are field names of
    Substruct_SpawnInfoStruct with their values; `words` say what it is and does (``afk``,
    ``merchant`` ...): those of `data/world/ghosts.toml`.
    """

    __slots__ = (
        "action_state", "activity", "attackable", "behavior", "collision_radius", "destination",
        "emote_state", "footer", "guild", "hidden", "hp_percent", "id", "kind", "last_name",
        "level", "looks", "mood_state", "name", "origin", "pitch", "position", "power_percent",
        "prefix", "show_name", "side_speed", "size", "speed", "suffix", "targetable", "verbs",
        "vert_speed", "visual_state", "watcher", "words",
    )  # fmt: skip

    def __init__(
        self,
        spawn_id: int,
        kind: SpawnKind,
        name: str,
        position: Position,
        *,
        level: int = 1,
        size: int = 32,
        collision_radius: int = 32,
        looks: Mapping[str, Any] | None = None,
        words: frozenset[str] = frozenset(),
        verbs: tuple[Verb, ...] = (),
        footer: Footer | None = None,
        guild: str = "",
        attackable: bool = False,
        targetable: bool = True,
        show_name: bool = True,
        behavior: str = "",
        destination: Destination | None = None,
    ) -> None:
        self.id = spawn_id
        self.kind = kind
        self.name = name
        self.last_name = self.prefix = self.suffix = ""
        self.guild = guild
        self.position = position
        self.origin = position
        """Where it was put first; creatures go back there."""
        self.level = level
        self.size = size
        self.collision_radius = collision_radius
        self.looks: Mapping[str, Any] = looks or {}
        self.words = words
        self.verbs = verbs
        self.footer = footer
        self.attackable = attackable
        self.targetable = targetable
        self.show_name = show_name
        self.hidden = False
        """Whether nobody else is shown it."""
        self.behavior = behavior
        self.destination = destination
        """Where it brings whoever uses it: a door, a sign at a zone's end."""
        self.speed = self.side_speed = self.vert_speed = self.pitch = 0.0
        self.activity = RUNNING
        self.hp_percent = self.power_percent = 100
        self.visual_state = self.action_state = self.mood_state = self.emote_state = 0
        self.watcher = NOBODY

    @property
    def is_living(self) -> bool:
        """Whether it is a player or a creature, with level and health."""
        return self.kind in LIVING

    def move(
        self,
        position: Position,
        *,
        speed: float = 0.0,
        side_speed: float = 0.0,
        vert_speed: float = 0.0,
        pitch: float | None = None,
        activity: int | None = None,
    ) -> None:
        """Put it somewhere else, or let it go on at another speed."""
        self.position = position
        self.speed = speed
        self.side_speed = side_speed
        self.vert_speed = vert_speed
        if pitch is not None:
            self.pitch = pitch
        if activity is not None:
            self.activity = activity
        self.watcher(self, Change.POSITION)

    def set_word(self, word: str, *, on: bool) -> bool:
        """Say or unsay a word about it; returns whether that changed anything."""
        words = self.words | {word} if on else self.words - {word}
        if words == self.words:
            return False
        self.words = words
        self.watcher(self, Change.INFO)
        return True

    def set_info(self, **values: Any) -> None:
        """Set attributes that the info part shows: name, level, states, health, looks."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, Change.INFO)

    def set_visibility(self, **values: bool) -> None:
        """Set how it is seen, if at all: hidden, targetable, attackable, show_name."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, Change.VISIBILITY)


RUNNING = 128
LIVING = frozenset((SpawnKind.PLAYER, SpawnKind.NPC))
