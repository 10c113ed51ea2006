"""Zones, fixtures (which become spawns) and starting places as their files define them; the atlas.

The most specific matching row of starting places wins; ties go to the first. A city is the number
that a client sends: 1 Qeynos, 2 Freeport, 4 Kelethin, 8 Neriak, 16 Gorowyn, 32 New Halas. The 2006
client sends 0 and 1 for its two islands. Source: docs/protocol/characters.md#create.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from attrs import Factory, frozen

from emu.content.layers import ZoneLayer
from emu.facts import FARTHEST
from emu.link.batches import ZoneItem
from emu.link.messages import MAX_ZONE_FILE
from emu.model import WorldCharacter
from emu.schema import DecimalNumber, Form, TextBytes, TomlSource, field
from emu.world.actors.spawn import Spawn, SpawnTemplate
from emu.world_stream.movement import Position

# Below every place, so that nobody falls out of a zone without a limit.
NO_UNDERWORLD = -1_000_000.0
MOST_REVIVE: Final = 100
"""Places of one zone where its dead return."""
LONGEST_POINT: Final = 255
"""Bytes of the name of one."""


def _place(value: Any) -> Position:
    """Return the place that [x, y, z] or [x, y, z, heading] stands for."""
    if not isinstance(value, list) or len(value) not in (3, 4):
        raise ValueError("must be [x, y, z] or [x, y, z, heading]")
    x, y, z, heading = (_FINITE(part) for part in (*value, 0.0)[:4])
    if max(abs(x), abs(y), abs(z)) > FARTHEST:
        raise ValueError(
            f"is outside the world: a coordinate is at most {FARTHEST:g}, or -{FARTHEST:g}"
        )
    # The heading wraps around, so any number is a heading.
    return Position(x, y, z, heading % 360.0)


_FINITE: Final = DecimalNumber()
PLACE: Final = Form(_place, "[x, y, z] or [x, y, z, heading]")


def table_form(value: Any) -> dict[str, Any]:
    """Return a table of any keys. Raises `ValueError`."""
    if not isinstance(value, dict):
        raise ValueError("must be a table")  # noqa: TRY004  # readers raise ValueError alone
    return value


INSTANCE_KINDS: Final = ("", "solo", "group", "raid")


def _instance_kind(value: Any) -> str:
    """Return whose copies a zone has. Raises `ValueError`."""
    if value not in INSTANCE_KINDS:
        raise ValueError('must be "solo", "group" or "raid"')
    return str(value)


def _not_empty(most: int) -> Form:
    """Return the reader of a text of 1 to `most` bytes."""
    size = TextBytes(most)

    def read(value: Any) -> str:
        if not size(value):
            raise ValueError("must not be empty")
        return str(value)

    return Form(read, size.limits)


@frozen
class ReviveRow:
    """One entry of a zone's ``revive``: a place where its dead return."""

    name: str = field(form=_not_empty(LONGEST_POINT))
    """As the window of the dead shows it."""
    place: Position | None = field(None, form=PLACE)
    """None is the zone's safe place."""
    zone: str = field("")
    """Name, file or number of the zone that it is in; empty for the own zone."""
    always: bool = field(False)
    """Whether it is offered even if another one is nearer."""


@frozen
class ZoneDefinition:
    """One zone: the ``[zone]`` table of its file."""

    id: int = field(limits=(1, 0xFFFFFFFF))
    name: str = field(form=_not_empty(4000))
    file: str = field(form=_not_empty(MAX_ZONE_FILE))
    """The name by which clients load it."""
    description: str = field()
    """The name for people."""
    safe: Position = field(form=PLACE)
    """Where a player appears that has no other place in it."""
    underworld: float = field(NO_UNDERWORLD)
    """Height below which a player has fallen out of the zone."""
    population: int = field(0, limits=(0, 100_000))
    """Players of one instance; the next player opens another instance. 0: no limit."""
    motd: str = field("")
    """Message to players that enter."""
    min_level: int = field(0, limits=(0, 255))
    """Level from which players may enter it; 0 for all."""
    max_level: int = field(0, limits=(0, 255))
    """Level up to which players may enter it; 0 for all."""
    min_status: int = field(0, limits=(0, 32_767))
    """Rank from which characters may enter it, for instance 100 for game masters."""
    instance: str = field("", form=_instance_kind)
    """Who has a copy of it: "solo", "group" or "raid"; empty if all players share it."""
    lockout: float = field(0.0, limits=(0, 31_536_000))
    """Seconds for which a player has the same copy."""
    reenter: float = field(0.0, limits=(0, 31_536_000))
    """Seconds for which a player may not enter it after a failure."""
    linger: float = field(0.0, limits=(0, 86_400))
    """Seconds that an empty copy of it runs on; 0 for the usual 300."""
    experience: float = field(1.0, limits=(0, 100))
    """What the experience of each kill in it is multiplied by."""
    can_bind: bool = field(True)
    """Whether players may bind in it: they go there by `Gate`."""
    can_gate: bool = field(True)
    """Whether players may gate away from it."""
    can_evac: bool = field(True)
    """Whether players may be evacuated to its safe place."""
    behavior: str = field("")
    """Name of the zone's own behavior; empty for none."""
    behavior_options: Mapping[str, Any] = field(Factory(dict), form=table_form)
    revive: tuple[ReviveRow, ...] = field((), most=MOST_REVIVE)
    """Where its dead return, besides the points of the content file."""
    replaces: bool = field(False)
    """The file takes the place of another file or shipped zone with the same id."""


RESPAWN: Final = 180
"""Seconds until a creature of a zone file stands again after it has died."""
LONGEST_RESPAWN: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Fixture:
    """A spawn that a zone's file places: a template, its place and its behavior.

    `key` identifies it among the fixtures of its zone: the `id` of its table, or its name. `source`
    and `row` are the file and the index of its table.
    """

    template: SpawnTemplate
    place: Position
    behavior: str = ""
    behavior_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    key: str = ""
    respawn: int = RESPAWN
    """Seconds until it stands again after it has died; 0: it stays away."""
    source: TomlSource | None = dataclasses.field(default=None, compare=False)
    row: int = dataclasses.field(default=0, compare=False)

    def spawn(self, spawn_id: int) -> Spawn:
        """Return a new spawn of this fixture."""
        return Spawn.of(self.template, spawn_id, self.place)


@dataclass(frozen=True, slots=True)
class Start:
    """One starting place; an empty condition fits every character."""

    zone_id: int
    place: Position | None = None
    """The place in the zone; None is the zone's safe place."""
    classes: frozenset[int] = frozenset()
    races: frozenset[int] = frozenset()
    cities: frozenset[int] = frozenset()
    deities: frozenset[int] = frozenset()
    versions: tuple[int, int] | None = None
    """The first and last client version."""

    def fits(self, character: WorldCharacter) -> bool:
        """Return whether the row matches a character."""
        # Pairs of the allowed values and the character's value.
        wanted = (
            (self.classes, character.class_),
            (self.races, character.race),
            (self.cities, character.starting_zone),
            (self.deities, character.deity),
        )
        if any(allowed and value not in allowed for allowed, value in wanted):
            return False
        # Without versions every version fits.
        first, last = self.versions or (0, character.client_version)
        return first <= character.client_version <= last

    @property
    def conditions(self) -> int:
        """The number of conditions: the more, the more specific."""
        named = (self.classes, self.races, self.cities, self.deities, self.versions)
        return sum(bool(condition) for condition in named)


def best_start(rows: Sequence[Start], character: WorldCharacter) -> Start | None:
    """Return the most specific matching row, the first of equals; None if none matches."""
    fitting = [row for row in rows if row.fits(character)]
    # max returns the first of equals, so ties go to the first row.
    return max(fitting, key=lambda row: row.conditions, default=None)


class Atlas:
    """Zones, their fixtures, and starting places. All components share one atlas."""

    def __init__(
        self,
        zones: Sequence[ZoneDefinition],
        fixtures: Mapping[int, tuple[Fixture, ...]],
        starts: Sequence[tuple[Start, ...]],
        faults: Sequence[str] = (),
        sources: Mapping[int, TomlSource] | None = None,
        *,
        layers: Mapping[int, ZoneLayer] | None = None,
    ) -> None:
        self._zones = {zone.id: zone for zone in zones}
        self._fixtures = dict(fixtures)
        self.starts = tuple(starts)
        """Tables of starting places, in the order in which they are searched."""
        self.faults = tuple(faults)
        """A line for each fault in spite of which the files can be used."""
        self.sources = dict(sources or {})
        """The file of each zone's ``[zone]`` table, by the zone's number."""
        self.layers = dict(layers or {})
        """What files change in zones of the content file, by the zone's number."""

    def __iter__(self) -> Iterator[ZoneDefinition]:
        """Iterate over all zones by number."""
        return iter([zone for _, zone in sorted(self._zones.items())])

    def __len__(self) -> int:
        return len(self._zones)

    def get(self, zone_id: int) -> ZoneDefinition | None:
        """Return a zone by number, None for an unknown one."""
        return self._zones.get(zone_id)

    def named(self, name: str) -> ZoneDefinition | None:
        """Return a zone by its number, name or file, in any case; None for an unknown one."""
        wanted = name.casefold()
        found = [zone for zone in self if wanted in (str(zone.id), zone.name.casefold())]
        # Several zones may share a file, so names come first.
        found += [zone for zone in self if wanted == zone.file.casefold()]
        return found[0] if found else None

    def fixtures(self, zone_id: int) -> tuple[Fixture, ...]:
        """Return the fixtures of a zone."""
        return self._fixtures.get(zone_id, ())

    def start_of(self, character: WorldCharacter) -> Start:
        """Return the starting place of a new character."""
        # The operator's table comes first; the shipped one answers only where no row of it fits.
        for rows in self.starts:
            start = best_start([row for row in rows if row.zone_id in self._zones], character)
            if start is not None:
                return start
        raise AssertionError("read_atlas accepts only an atlas with a start for every character")

    def described(self) -> Sequence[ZoneItem]:
        """Return all zones for login servers, by number (docs/protocol/link.md#batches)."""
        return [ZoneItem(zone.id, zone.name, zone.description) for zone in self]

    def replace(self, other: Atlas, keep: Collection[int] = ()) -> None:
        """Take over the content of another atlas; zones in `keep` stay even if it lacks them."""
        # Players may stand in a zone whose file was deleted; without its definition they could not
        # leave it.
        kept = {zone_id: self._zones[zone_id] for zone_id in keep if zone_id in self._zones}
        self._zones = kept | other._zones
        self._fixtures = other._fixtures
        self.starts = other.starts
        self.faults = other.faults
        self.sources = other.sources
        self.layers = other.layers
