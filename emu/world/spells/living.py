"""Living spells: a cast from its begin to the end of its effects, and what spawns have of spells.

Plain state; `emu.world.spells.casts` and `emu.world.spells.effects` change it.
Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from emu.scripts.signatures import Handle, HandleKind
from emu.spells.kinds import SpellBook, SpellKind, SpellTier
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.zones.zone import Zone

MOST_EFFECTS: Final = 64
"""Spells that last on one spawn."""
MOST_MAINTAINED: Final = 30
"""Spells of one caster that are listed; further casts are refused."""
MOST_GIFTS: Final = 100
"""Bonuses, procs and the like that one spell gives to one target."""
DEEPEST_CAST: Final = 16
"""Casts that scripts begin inside of each other."""


LONG_AGO: Final = Monotonic(0.0)
NONE: Final[frozenset[int]] = frozenset()
NOTHING: Final[Mapping[str, tuple[float, ...]]] = MappingProxyType({})
GiftSet = Literal["controls", "immunities", "stealth"]
"""The sets of numbers that a spell gives."""


class End(enum.StrEnum):
    """Why a spell is over, as its script's `remove` gets it."""

    EXPIRED = "expired"
    CANCELED = "canceled"
    PURGED = "purged"
    DEAD = "dead"


class CastPhase(enum.Enum):
    """Where a spell is on its way."""

    PREPARED = enum.auto()
    CASTING = enum.auto()
    ACTING = enum.auto()
    """Its script's `cast` runs."""
    LASTING = enum.auto()
    OVER = enum.auto()


class Control:
    """What spells do to whom they control, in the numbers of scripts."""

    MEZ: Final = 1
    STIFLE: Final = 2
    DAZE: Final = 3
    STUN: Final = 4
    ROOT: Final = 5
    FEAR: Final = 6
    WALK_UNDER_WATER: Final = 7
    JUMP_UNDER_WATER: Final = 8
    INVISIBLE: Final = 9
    STEALTH: Final = 10
    SNARE: Final = 11
    FLIGHT: Final = 12
    GLIDE: Final = 13
    SAFE_FALL: Final = 14
    ILLUSION: Final = 15


HOLDING: Final = frozenset((Control.MEZ, Control.STUN))
HELD: Final = HOLDING | {Control.ROOT}
"""Controls under which nobody walks."""
IDLE: Final = HOLDING | {Control.DAZE, Control.FEAR}
"""Controls under which nobody strikes."""
SILENCING: Final = HOLDING | {Control.STIFLE, Control.FEAR}
"""Controls under which most spells cannot be cast."""
HARMFUL_CONTROLS: Final = frozenset((*range(1, 7), Control.SNARE))


class SpellBonus(NamedTuple):
    """What a spell adds to a number of its target."""

    value: float
    only: tuple[int, ...] = ()
    """Classes (below 100) or races for which alone it counts."""


class Proc(NamedTuple):
    """An event at which a spell's script is called."""

    kind: int
    chance: float
    item: Any = None


@dataclass(slots=True, eq=False)
class Ward:
    """Damage that a spell keeps off its targets."""

    left: int
    kept: bool
    """Whether it stays when it is used up, until its spell ends."""
    kind: int = 0
    """0 all damage, 1 physical, 2 magical."""
    percent: int = 0
    """Of each damage; 0 for all."""
    redirect: int = 0
    """Percent of what it takes that hits its caster."""
    hits: int = 0
    """Blows after which it ends; 0 for any number."""
    health: int = 0
    """It keeps nothing off of a damage from so many percent of the most health on; 0: of all."""
    base: int = 0
    """Points at first; 0 for one that takes all."""

    def __post_init__(self) -> None:
        self.base = self.base or max(0, self.left)


@dataclass(slots=True, eq=False)
class SpellGifts:
    """What one spell gives to one spawn until it ends."""

    bonuses: dict[int, SpellBonus] = field(default_factory=dict)
    skills: dict[int, float] = field(default_factory=dict)
    controls: frozenset[int] = NONE
    """Changed by `put` and `take`: most spells give none, and an empty set takes 216 bytes."""
    immunities: frozenset[int] = NONE
    procs: list[Proc] = field(default_factory=list)
    stealth: frozenset[int] = NONE
    """1 stealth, 2 invisible."""
    snare: float = 0.0
    """Percent of the speed that is left; 0 without a snare."""
    threat: tuple[Spawn, float] | None = None
    """Who gets so many percent of the hate that it makes."""
    model: int = 0
    """The model as which the spawn looks; 0 for its own."""
    remains: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: NOTHING)
    """What only the script takes back: `emu.world.spells.remains.REDONE`."""

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.bonuses) + len(self.skills) + len(self.controls) + len(self.procs)

    def keep(self, name: str, *values: float) -> None:
        """Note what only the script takes back; nothing but zeros is taken back."""
        kept = {one: found for one, found in self.remains.items() if one != name}
        self.remains = {**kept, name: values} if any(values) else kept or NOTHING

    def put(self, name: GiftSet, number: int) -> None:
        """Give one number more of a kind."""
        setattr(self, name, getattr(self, name) | {number})

    def take(self, name: GiftSet, number: int) -> None:
        """Give one number of a kind no more."""
        setattr(self, name, getattr(self, name) - {number} or NONE)

    def copy(self) -> SpellGifts:
        """Return the same gifts, which later changes do not reach; without another spawn."""
        return SpellGifts(
            dict(self.bonuses), dict(self.skills), self.controls, self.immunities,
            list(self.procs), self.stealth, self.snare, model=self.model, remains=self.remains,
        )  # fmt: skip


@dataclass(slots=True, eq=False)
class LivingSpell:
    """One cast of a spell, and what is left of it."""

    kind: SpellKind
    tier: SpellTier
    zone: Zone
    caster: Spawn
    target: Spawn | None = None
    """Whom it was cast at."""
    targets: list[Spawn] = field(default_factory=list)
    level: int = 1
    """The caster's at the cast."""
    phase: CastPhase = CastPhase.PREPARED
    environment: Any = None
    """The globals of its script; None without a script."""
    is_free: bool = False
    """Whether it costs nothing and begins no recast: content casts it."""
    is_silent: bool = False
    """Whether nobody reads of it: passive spells of a player who enters (recorded)."""
    depth: int = 0
    """How many casts of scripts it is inside of."""
    began: Monotonic = LONG_AGO
    ends: Monotonic | None = None
    """None: never by time."""
    ticks: int = 0
    """Ticks that are still to come; below 0 without end."""
    due: Monotonic = LONG_AGO
    """When the next tick comes."""
    is_resisted: bool = False
    """Whether nothing of it takes hold: it was resisted, or an art that did not hit."""
    is_missed: bool = False
    """Whether it is an art that did not hit; then it has its whole recast (recorded)."""
    has_damaged: bool = False
    last_hit: bool = False
    critical: int = 0
    """What its first amount was: 1 critical, 2 not; 0 before there was one."""
    triggers: int = 0
    ends_without_triggers: bool = False
    gifts: dict[Spawn, SpellGifts] = field(default_factory=dict)
    ward: Ward | None = None
    has_bar: bool = False
    """Whether its caster's client shows the bar of a cast."""
    has_lasted: bool = False
    """Whether it has taken hold."""
    is_cancelled: bool = False
    """Whether its script has ended it before it lasts."""
    timers: int = 0
    """How many functions of its script are to be called later, in all."""
    pending: tuple[LaterCall, ...] = ()
    """Those of them that were not called yet."""
    lingers: bool = False
    """Whether its duration is over, or it has none: it lives until these functions are called."""
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.SPELL, self)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left."""
        return self.phase is CastPhase.OVER

    @property
    def is_tick(self) -> bool:
        """Whether its cast is done, so that amounts are those of ticks."""
        return self.phase is CastPhase.LASTING

    @property
    def is_passive(self) -> bool:
        """Whether it belongs to its caster for ever, and no list of what it maintains shows it."""
        has_end = self.tier.lasts and not self.kind.lasts_until_cancelled
        is_hidden = self.kind.book is SpellBook.HIDDEN and self.is_free
        return not has_end and (is_hidden or not self.kind.lasts_until_cancelled)

    def gifts_of(self, spawn: Spawn) -> SpellGifts:
        """Return what it gives to a spawn; empty at first."""
        found = self.gifts.get(spawn)
        if found is None:
            found = self.gifts[spawn] = SpellGifts()
        return found

    def stacks_as(self) -> int:
        """Return the number by which it excludes others; 0 without one."""
        return self.kind.linked_timer or -self.kind.group

    def seconds_left(self, now: Monotonic) -> float:
        """Return how long it lasts still; 0 for one that time does not end."""
        return 0.0 if self.ends is None else max(0.0, self.ends - now)


@dataclass(slots=True, eq=False)
class LaterCall:
    """A function of a spell's script that is to be called later."""

    spell: LivingSpell
    at: Monotonic
    function: str
    caster: Spawn
    target: Spawn | None

    def seconds_left(self, now: Monotonic) -> float:
        """Return in how many seconds it is called."""
        return max(0.0, self.at - now)


class Remainder(NamedTuple):
    """What was left of a spell that goes on elsewhere."""

    seconds: float | None
    """Until its end; None for one that time does not end."""
    ticks: int
    """Still to come; below 0 without end."""
    until_tick: float
    """Seconds until the next tick."""
    calls: Sequence[tuple[float, str]] = ()
    """In how many seconds which functions of its script are called."""


class WaitingCast(NamedTuple):
    """A cast that begins when its caster is ready."""

    kind: SpellKind
    tier: SpellTier


@dataclass(slots=True, eq=False)
class SpellState:
    """What one spawn has of spells."""

    effects: list[LivingSpell] = field(default_factory=list)
    """Those that last on it."""
    others: tuple[LivingSpell, ...] = ()
    """Those that last on somebody else and give something to it, such as a proc to their caster."""
    maintained: list[LivingSpell] = field(default_factory=list)
    """Its own that last on somebody."""
    casting: LivingSpell | None = None
    waiting: WaitingCast | None = None
    recovered: Monotonic = LONG_AGO
    """When it can cast anything again."""
    ready: dict[int, Monotonic] = field(default_factory=dict)
    """When it can cast a spell again, by number."""
    totals: dict[int, float] = field(default_factory=dict)
    """The bonuses that its sheet has, by type."""
    controls: frozenset[int] = NONE
    concentration: int = 0
    skills: dict[int, float] | None = None
    """What scripts that are no spells add to its skills."""

    @property
    def giving(self) -> Sequence[LivingSpell]:
        """All that give something to it."""
        return [*self.effects, *self.others] if self.others else self.effects

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be remembered."""
        return not (
            self.effects or self.others or self.maintained or self.casting or self.waiting
            or self.ready or self.totals or self.skills
        )  # fmt: skip

    def held(self, flags: int, flag_of: dict[int, int]) -> int | None:
        """Return a control that forbids a cast; `flags` are those that the spell disregards."""
        for control, flag in flag_of.items():
            if control in self.controls and not flags & flag:
                return control
        return None
