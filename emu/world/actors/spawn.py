"""One spawn: a player, a creature or a thing in a zone; and the appearance of a character's spawn.

A spawn reports each change to its `watcher`, the zone that it is in. `emu.world.visibility` encodes
spawns for each client version.

An appearance is fields of Substruct_SpawnInfoStruct. What is stored has the names of the create
request (docs/protocol/characters.md#create); ghosts have names of their own for the same bodies,
sliders and clothes. How colors are coded is `emu.appearance`'s business.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from emu.appearance import SLIDER_FIELDS, Models
from emu.model import WorldCharacter
from emu.rules.levels import usual_pools
from emu.rules.stance import Encounter, Stance
from emu.world.actors.dealings import NOTHING, Dealing
from emu.world.actors.mind import Mind
from emu.world.actors.sheet import EffectIcon, Sheet
from emu.world_stream.movement import Position

T = TypeVar("T")


class SpawnKind(enum.Enum):
    """What a spawn is; it decides how clients are shown it."""

    PLAYER = "player"
    NPC = "npc"
    OBJECT = "object"
    GROUND = "ground"
    """Something to gather or collect."""
    SIGN = "sign"
    WIDGET = "widget"
    __hash__ = object.__hash__  # asked for with each change; that of `Enum` is in Python


class StateWord(enum.StrEnum):
    """Words of a player that the server sets; `data/world/ghosts.toml` has the bits of each."""

    AFK = "afk"
    CAMPING = "camping"
    LINK_DEAD = "linkdead"
    ANONYMOUS = "anonymous"
    ROLEPLAYING = "roleplaying"
    LOOKING_FOR_GROUP = "looking_for_group"
    LOOKING_FOR_WORK = "looking_for_work"
    HIDE_HOOD = "hide_hood"


class GhostPart:
    """The three parts of a ghost that can change: bits, which may be joined.

    Plain numbers: they are joined for every spawn, viewer and tick, and those of an `enum.IntFlag`
    took a third of a crowded world's time.
    """

    NONE: Final = 0
    POSITION: Final = 1
    VISIBILITY: Final = 2
    INFO: Final = 4
    DRIFT: Final = 8
    """No part: the place has changed as clients predicted it, so they are sent nothing."""


class Destination(NamedTuple):
    """A place in a zone of this world; without a position it is the zone's safe place."""

    zone_id: int
    position: Position | None = None


SPAWN_COMMANDS: Final = frozenset((
    "assist", "attack", "bank", "contest", "create", "frombroker", "frommerchant", "gather",
    "guildbank", "hail", "lotto", "petoptions", "repair", "research", "sit", "start_mail",
    "tomerchant", "use",
))  # fmt: skip
"""What EQ2Emulator's server does itself for verbs of its content; scripts answer all others."""


TOO_FAR: Final = "You are too far away!"
"""What a player reads who uses a verb without a text of its own from too far away."""


class Verb(NamedTuple):
    """Something a player can do with a spawn, from how far, and the command it runs."""

    name: str
    distance: float
    command: str
    error: str = ""
    """What the client says instead of sending the verb from too far away; its own text if empty."""
    cast_time: float = 0.0
    """Seconds that using it takes."""
    visual: int = 0
    """The spell visual that is shown meanwhile; 0 for none."""
    only: frozenset[int] | None = None
    """The numbers of the spawns that may use it; None: everybody may."""
    refused: frozenset[int] = frozenset()
    """The numbers of the spawns that may not."""
    is_command: bool = True
    """Whether it may be a command of the server; if not, only a script answers."""

    def is_for(self, spawn: Spawn) -> bool:
        """Return whether the player with a spawn is shown it, and may use it."""
        return spawn.id not in self.refused and (self.only is None or spawn.id in self.only)


class Idle(NamedTuple):
    """The animation of a spawn that does nothing else, by ranges of client versions."""

    ranges: tuple[tuple[int, int, int], ...]
    """Number, first and last version of each, the oldest versions first."""

    def state_in(self, version: int) -> int | None:
        """Return its number in a client version; None if that version is older than all.

        Between two ranges the later one holds (recorded with 1208, between 561 and 60085), and
        after all the last.
        """
        if version < self.ranges[0][1]:
            return None
        return next(
            (state for state, _, last in self.ranges if version <= last), self.ranges[-1][0]
        )


class EntranceAnimation(NamedTuple):
    """An animation that is shown to those who see a spawn for the first time, for a while."""

    animation: int
    until: float
    """The monotonic second at which it ends."""


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
    with_heading: bool = True
    """Whether clients are sent its heading; else they take that of the model's part."""
    with_place: bool = True
    """Whether clients are sent the spawn's place."""


NOBODY: Callable[[Spawn, int], None] = lambda _spawn, _change: None  # noqa: E731  # a default
STANDING = 539
SITTING = 538
"""Visual states of a player who stands and of one who sits.

Source: docs/protocol/world/spawns.md#posture.
"""
RUNNING = 128
DIFFICULTY = 6
"""The difficulty of a plain encounter: neither easier nor harder than the level says."""
LIVING = frozenset((SpawnKind.PLAYER, SpawnKind.NPC))


class Pose(NamedTuple):
    """How a spawn stands: the client's numbers of its states, and its animations."""

    visual_state: int = 0
    action_state: int = 0
    mood_state: int = 0
    emote_state: int = 0
    idle: Idle | None = None
    entrance: EntranceAnimation | None = None


class Vitals(NamedTuple):
    """How much health and power clients are shown, in percent, and what spells last."""

    hp_percent: int = 100
    power_percent: int = 100
    effect_icons: tuple[EffectIcon, ...] = ()


AT_REST: Final = Pose()
EVERYBODY: Final[frozenset[int]] = frozenset()
"""One object: an empty set takes as much memory as half a spawn."""
UNHURT: Final = Vitals()


@dataclass(frozen=True, slots=True)
class SpawnTemplate:
    """What spawns share, whatever file it is from; it is replaced and never changed.

    `appearance` are field names of Substruct_SpawnInfoStruct with their values; `words` say what a
    spawn is and does (``afk``, ``merchant`` ...): those of `data/world/ghosts.toml`.
    """

    kind: SpawnKind
    name: str
    last_name: str = ""
    prefix: str = ""
    suffix: str = ""
    guild: str = ""
    """The line below the name: a player's guild, a creature's trade."""
    level: int = 1
    size: int = 32
    collision_radius: int = 32
    appearance: Mapping[str, Any] = field(default_factory=dict)
    """It is replaced and never changed in place: spawns share it, and so do their encoded parts."""
    words: frozenset[str] = frozenset()
    verbs: tuple[Verb, ...] = ()
    more_verbs: tuple[Verb, ...] = ()
    """Verbs that clients show only in the menu of the second mouse button."""
    footer: Footer | None = None
    attackable: bool = False
    targetable: bool = True
    show_name: bool = True
    show_level: bool | None = None
    """Whether its level and health are shown; None: if it is a player or a creature."""
    show_commands: bool | None = None
    """Whether clients show that there is something to do with it; None: if it has verbs."""
    hand_icon: int = 0
    """The cursor over it; 0 for the usual one."""
    icon: int = 0
    """The icon of its name; 0 for the usual one of its kind."""
    difficulty: int = DIFFICULTY
    """Arrows at the name: below 6 downward, above upward, from 10 on a raid's."""
    heroic: int = 0
    """1 heroic, 2 epic."""
    faction: int = 0
    hovers: bool = False
    """Whether it flies or swims, whatever its state says."""
    swims: bool = False
    """Whether it lives in water and hunts nobody on land."""
    position_state: int | None = None
    """The client's bits of how it stands (flying, swimming, lying); None: those of its activity."""
    pose: Pose = AT_REST
    destination: Destination | None = None
    """Where a player who uses it goes: for instance a sign at the edge of a zone."""
    dealing: Dealing = NOTHING
    """What it sells, repairs and leaves behind."""


@lru_cache(maxsize=1024)
def _with_word(words: frozenset[str], word: str) -> frozenset[str]:
    """Return words with one more; spawns with the same words share one set."""
    return words | {word}


class Grouped(property, Generic[T]):
    """A value of one of a spawn's groups, which are replaced and never changed."""

    def __init__(self, group: str, name: str) -> None:
        # attrgetter, because the parts of a ghost are made from these values.
        super().__init__(attrgetter(f"{group}.{name}"), partial(_change, group, name))

    if TYPE_CHECKING:

        def __get__(self, spawn: Any, owner: type | None = None, /) -> T: ...  # type: ignore[override]

        def __set__(self, spawn: Any, value: T, /) -> None: ...


def _change(group: str, name: str, spawn: Spawn, value: Any) -> None:
    held = getattr(spawn, group)
    # Spawns share their groups, so an equal value must not make a copy.
    if getattr(held, name) != value:
        changes: dict[str, Any] = {name: value}
        is_named = isinstance(held, tuple)
        setattr(spawn, group, held._replace(**changes) if is_named else replace(held, **changes))


class Spawn:
    """A spawn: the template that it shares with others, and what changes while it lives.

    `id` is unique in the world process and never goes on the wire: clients know a spawn by an index
    of their own. Speeds are world units a second, `pitch` and `roll` are in the client's unit,
    `activity` has the client's own bits (docs/protocol/world/movement.md#prediction). The values of
    its place are fields of its own and no group: each step reads them.
    """

    __slots__ = (
        "_mind", "_sheet", "activity", "ahead", "allowed", "appearance", "follow_index", "hidden",
        "id", "is_led_by_client", "kind", "level", "look", "more_verbs", "origin", "own_model",
        "pitch", "pose", "position", "roll", "side_speed", "size", "speed", "target_id", "verbs",
        "vert_speed", "vitals", "watcher", "words",
    )  # fmt: skip

    name = Grouped[str]("look", "name")
    guild = Grouped[str]("look", "guild")
    last_name = Grouped[str]("look", "last_name")
    prefix = Grouped[str]("look", "prefix")
    suffix = Grouped[str]("look", "suffix")
    collision_radius = Grouped[int]("look", "collision_radius")
    footer = Grouped["Footer | None"]("look", "footer")
    attackable = Grouped[bool]("look", "attackable")
    targetable = Grouped[bool]("look", "targetable")
    show_name = Grouped[bool]("look", "show_name")
    show_level = Grouped["bool | None"]("look", "show_level")
    show_commands = Grouped["bool | None"]("look", "show_commands")
    hand_icon = Grouped[int]("look", "hand_icon")
    icon = Grouped[int]("look", "icon")
    difficulty = Grouped[int]("look", "difficulty")
    heroic = Grouped[int]("look", "heroic")
    faction = Grouped[int]("look", "faction")
    hovers = Grouped[bool]("look", "hovers")
    swims = Grouped[bool]("look", "swims")
    position_state = Grouped["int | None"]("look", "position_state")
    destination = Grouped["Destination | None"]("look", "destination")
    visual_state = Grouped[int]("pose", "visual_state")
    action_state = Grouped[int]("pose", "action_state")
    mood_state = Grouped[int]("pose", "mood_state")
    emote_state = Grouped[int]("pose", "emote_state")
    idle = Grouped["Idle | None"]("pose", "idle")
    entrance = Grouped["EntranceAnimation | None"]("pose", "entrance")
    hp_percent = Grouped[int]("vitals", "hp_percent")
    power_percent = Grouped[int]("vitals", "power_percent")
    effect_icons = Grouped[tuple[EffectIcon, ...]]("vitals", "effect_icons")

    def __init__(
        self, spawn_id: int, kind: SpawnKind, name: str, position: Position, **values: Any
    ) -> None:
        """Make a spawn with a template and a pose of its own, which have these `values`."""
        pose = Pose(**{one: values.pop(one) for one in Pose._fields if one in values})
        tilt = values.pop("pitch", 0.0), values.pop("roll", 0.0)
        self._begin(spawn_id, SpawnTemplate(kind, name, pose=pose, **values), position)
        self.pitch, self.roll = tilt

    @classmethod
    def of(cls, look: SpawnTemplate, spawn_id: int, position: Position) -> Spawn:
        """Return a spawn of a template."""
        made = cls.__new__(cls)
        made._begin(spawn_id, look, position)  # noqa: SLF001  # its own
        return made

    def _begin(self, spawn_id: int, look: SpawnTemplate, position: Position) -> None:
        self.id = spawn_id
        self.look = look
        """Its template, or a changed copy of that."""
        self.kind = look.kind
        self.level = look.level
        self.size = look.size
        self.appearance = look.appearance
        self.words = look.words
        self.verbs = look.verbs
        self.more_verbs = look.more_verbs
        self.pose = look.pose
        self.own_model: int | None = None
        """The model that it has without its illusion; None while it has no illusion."""
        self.position = self.origin = position
        """`origin` is its first place; creatures go back there."""
        self.speed = self.side_speed = self.vert_speed = 0.0
        self.ahead: tuple[Position, ...] = ()
        """The next two points of a creature's walk; empty while it stands."""
        self.pitch = self.roll = 0.0
        self.activity = RUNNING
        self.is_led_by_client = False
        """Whether its place is the one that a player's client has sent."""
        self.hidden = False
        """Whether other players are not shown it."""
        self.allowed = EVERYBODY
        """The numbers of the spawns that see it; empty: everybody does."""
        self.follow_index: int | None = None
        """The ghost that the spawn's own client follows, by that client's index."""
        self.target_id = 0
        """The spawn that it has targeted, 0 for none. Each viewer is shown its own index of it."""
        self.vitals = UNHURT
        self.watcher: Callable[[Spawn, int], None] = NOBODY
        self._sheet: Sheet | None = None
        self._mind: Mind[Spawn] | None = None

    def template(self) -> SpawnTemplate:
        """Return a template from which a spawn like this one is made."""
        return replace(
            self.look, level=self.level, size=self.size, appearance=self.appearance,
            words=self.words, verbs=self.verbs, more_verbs=self.more_verbs, pose=self.pose,
        )  # fmt: skip

    def may_be_seen_by(self, viewer: Spawn) -> bool:
        """Return whether it is shown to the player with a spawn; everybody sees itself."""
        if viewer is self:
            return True
        return not self.hidden and (not self.allowed or viewer.id in self.allowed)

    def set_allowed(self, allowed: Iterable[int]) -> None:
        """Let only the spawns with these numbers see it; without any, everybody does."""
        fresh = frozenset(allowed)
        if fresh != self.allowed:
            self.allowed = fresh
            self.watcher(self, GhostPart.VISIBILITY)

    @property
    def sheet(self) -> Sheet:
        """Its health, power and attributes; made when they are first needed."""
        if self._sheet is None:
            is_player = self.kind is SpawnKind.PLAYER
            self._sheet = Sheet(*usual_pools(self.level, is_player=is_player))
            self._sheet.is_marked = is_player
        if self._sheet.is_marked:
            self._sheet.count_bonuses()
            is_player = self.kind is SpawnKind.PLAYER
            self._sheet.count_pools(
                self.level, int(self.appearance.get("class", 0)), is_player=is_player
            )  # fmt: skip
        return self._sheet

    def mark_sheet(self) -> None:
        """Have health and power counted anew before it is read: level or class has changed."""
        if self._sheet is not None:
            self._sheet.is_marked = True

    @property
    def mind(self) -> Mind[Spawn]:
        """Whom it hates, and who fights it; made when it is first needed."""
        if self._mind is None:
            self._mind = Mind()
        return self._mind

    def show_pools(self) -> None:
        """Show how much health and power its sheet has; do nothing if that is shown already."""
        shown = self.sheet.health.percent, self.sheet.power.percent
        if shown != (self.hp_percent, self.power_percent):
            self.set_info(hp_percent=shown[0], power_percent=shown[1])

    @property
    def stance(self) -> Stance | None:
        """What a viewer's own level and factions are compared with; None if all see it alike."""
        if self.kind is SpawnKind.NPC and (self.attackable or self.faction):
            mind = self._mind
            if mind is None or mind.encounter is Encounter.FREE or self.hp_percent <= 0:
                return Stance(self.level, self.faction, self.attackable)
            seen = self.level, self.faction, self.attackable
            return Stance(*seen, mind.encounter, mind.owners, self.target_id)
        return None

    def set_encounter(self, encounter: Encounter, owners: frozenset[int]) -> None:
        """Set to whom the fight of a creature belongs, also as all see it."""
        mind = self.mind
        if (mind.encounter, mind.owners) != (encounter, owners):
            mind.encounter, mind.owners = encounter, owners
            self.watcher(self, GhostPart.VISIBILITY)

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

    def drift(self, position: Position) -> None:
        """Change its place to where clients draw it already."""
        self.position = position
        self.watcher(self, GhostPart.DRIFT)

    def set_word(self, word: str, *, on: bool) -> bool:
        """Add or remove one of its words; return whether that changed anything."""
        words = _with_word(self.words, word) if on else self.words - {word}
        # An unchanged word costs nothing: no observer is updated.
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

    def set_verbs(
        self, verbs: Iterable[Verb] | None = None, more_verbs: Iterable[Verb] | None = None
    ) -> None:
        """Set what players can do with it; clients ask for the menu when they open it.

        None leaves those verbs as they are.
        """
        if verbs is not None:
            self.verbs = tuple(verbs)
        if more_verbs is not None:
            self.more_verbs = tuple(more_verbs)
        self.watcher(self, GhostPart.VISIBILITY)

    def set_shape(self, **values: float) -> None:
        """Set attributes of the position part besides the place: size, radius, pitch."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, GhostPart.POSITION)

    def set_target(self, target: Spawn | None) -> None:
        """Set what it has targeted."""
        target_id = target.id if target is not None else 0
        if target_id != self.target_id:
            self.target_id = target_id
            self.watcher(self, GhostPart.INFO)

    def set_visibility(self, **values: Any) -> None:
        """Set attributes of the visibility part: hidden, targetable, attackable, show_name ..."""
        for name, value in values.items():
            setattr(self, name, value)
        self.watcher(self, GhostPart.VISIBILITY)


MODEL_FIELDS: Final[Mapping[str, str]] = {
    "race_file": "model_type",
    "hair_file": "hair_type_id",
    "face_file": "facial_hair_type_id",
    "chest_file": "chest_type_id",
    "legs_file": "legs_type_id",
    "soga_race_file": "soga_model_type",
    "soga_hair_file": "soga_hair_type_id",
    "soga_face_file": "soga_facial_hair_type_id",
}
"""Field of the create request that names a model -> field of a ghost that holds its number."""
ALTERNATES: Final[Mapping[str, str]] = {
    "soga_model_type": "model_type",
    "soga_hair_type_id": "hair_type_id",
    "soga_facial_hair_type_id": "facial_hair_type_id",
}
"""Field of the alternate appearance -> the usual field, which replaces it where it is missing."""
_COLORS: Final[Mapping[str, str]] = {
    "shirt_color": "chest_type_color",
    "unknown_chest_color": "chest_type_highlight_color",
    "pants_color": "legs_type_color",
    "unknown_legs_color": "legs_type_highlight_color",
}
TRIPLE_FIELDS: Final[Mapping[str, str]] = {
    **SLIDER_FIELDS,
    **{
        prefix + name: prefix + field for prefix in ("", "soga_") for name, field in _COLORS.items()
    },
}
"""Sliders and colors of the create request that ghosts have under another name."""


async def with_models(character: WorldCharacter, models: Models) -> WorldCharacter:
    """Add the numbers of a character's models to its appearance, under the names of ghosts.

    Raises what the source of models raises.
    """
    paths = {
        field: str(character.appearance[name])
        for name, field in MODEL_FIELDS.items()
        if name in character.appearance
    }
    numbers = await models.numbers(paths.values())
    # A path without a number is left out. Clients draw a default body, which is better than none.
    known = {field: numbers[path] for field, path in paths.items() if path in numbers}
    return replace(character, appearance={**character.appearance, **known})


def spawn_appearance(character: WorldCharacter) -> dict[str, Any]:
    """Return the info fields of a character's appearance; models only after `with_models`."""
    fields: dict[str, Any] = {
        "class": character.class_,
        "race": character.race,
        "gender": character.gender,
    }
    for name in (*MODEL_FIELDS.values(), "body_size"):
        if name in character.appearance:
            fields[name] = character.appearance[name]
    for name, usual in ALTERNATES.items():
        if usual in fields:
            # A client that prefers the alternate models would show nothing if they were 0.
            fields.setdefault(name, fields[usual])
    for name, color in character.colors.items():
        channels = [color.red, color.green, color.blue]
        field = TRIPLE_FIELDS.get(name, name)
        # Sliders are signed, colors are bytes; both are stored as whole numbers that may be
        # negative.
        fields[field] = channels if name in SLIDER_FIELDS else [value & 0xFF for value in channels]
    return fields
