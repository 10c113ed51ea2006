"""One spawn: a player, a creature or a thing in a zone.

A spawn reports each change to its `watcher`, the zone that it is in. `emu.world.visibility` encodes
spawns for each client version.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, NamedTuple

from emu.world_stream.movement import Position


class SpawnKind(enum.Enum):
    """What a spawn is; it decides how clients are shown it."""

    PLAYER = "player"
    NPC = "npc"
    OBJECT = "object"
    SIGN = "sign"
    WIDGET = "widget"


class GhostPart:
    """The three parts of a ghost that can change: bits, which may be joined.

    Plain numbers: they are joined for every spawn, viewer and tick, and those of an `enum.IntFlag`
    took a third of a crowded world's time.
    """

    NONE: Final = 0
    POSITION: Final = 1
    VISIBILITY: Final = 2
    INFO: Final = 4


class Destination(NamedTuple):
    """A place in a zone of this world; without a position it is the zone's safe place."""

    zone_id: int
    position: Position | None = None


class Verb(NamedTuple):
    """Something a player can do with a spawn, from how far, and the command it runs."""

    name: str
    distance: float
    command: str


class Footer(NamedTuple):
    """Further fields of signs and widgets: their own number and place, a sign's texts."""

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
"""Visual states of a player who stands and of one who sits.

Source: docs/protocol/world/spawns.md#posture.
"""
RUNNING = 128
LIVING = frozenset((SpawnKind.PLAYER, SpawnKind.NPC))


@dataclass(slots=True, eq=False, repr=False)
class Spawn:
    """The state of a spawn that clients are shown.

    `id` is unique in the world process and never goes on the wire: clients know a spawn by an index
    of their own. Speeds are world units a second, `pitch` degrees, `activity` the client's own bits
    (docs/protocol/world/movement.md#prediction). `looks` are field names of
    Substruct_SpawnInfoStruct with their values; `words` say what it is and does (``afk``,
    ``merchant`` ...): those of `data/world/ghosts.toml`.
    """

    id: int
    kind: SpawnKind
    name: str
    position: Position
    _: KW_ONLY
    last_name: str = ""
    prefix: str = ""
    suffix: str = ""
    guild: str = ""
    origin: Position = field(init=False)
    """Its first place; creatures go back there."""
    level: int = 1
    size: int = 32
    collision_radius: int = 32
    appearance: Mapping[str, Any] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    verbs: tuple[Verb, ...] = ()
    footer: Footer | None = None
    attackable: bool = False
    targetable: bool = True
    show_name: bool = True
    hidden: bool = False
    """Whether other players are not shown it."""
    destination: Destination | None = None
    """Where a player who uses it goes: for instance a sign at the edge of a zone."""
    speed: float = 0.0
    side_speed: float = 0.0
    vert_speed: float = 0.0
    pitch: float = 0.0
    activity: int = RUNNING
    hp_percent: int = 100
    power_percent: int = 100
    visual_state: int = 0
    action_state: int = 0
    mood_state: int = 0
    emote_state: int = 0
    watcher: Callable[[Spawn, int], None] = NOBODY

    def __post_init__(self) -> None:
        self.origin = self.position

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
        """Change its place or its speed."""
        self.position = position
        self.speed = speed
        self.side_speed = side_speed
        self.vert_speed = vert_speed
        if pitch is not None:
            self.pitch = pitch
        if activity is not None:
            self.activity = activity
        self.watcher(self, GhostPart.POSITION)

    def set_word(self, word: str, *, on: bool) -> bool:
        """Add or remove one of its words; return whether that changed anything."""
        words = self.words | {word} if on else self.words - {word}
        if words == self.words:
            return False
        self.words = words
        self.watcher(self, GhostPart.INFO)
        return True

    def set_info(self, **values: Any) -> None:
        """Set attributes that the info part shows: name, level, states, health, appearance."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, GhostPart.INFO)

    def set_visibility(self, **values: bool) -> None:
        """Set attributes of the visibility part: hidden, targetable, attackable, show_name."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, GhostPart.VISIBILITY)
