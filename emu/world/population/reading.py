"""Zones as the world serves them: rows of a content file with zone files laid over, and templates.

The spawns of zone files become rows of a content file in memory. So one population fills every
zone, and a world without a content file has zones of such rows alone.
Source: docs/guides/zones.md, docs/guides/content.md#layers and #reload.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from emu.content.damage import DAMAGE
from emu.content.file import ContentFile, Entry, Placement, Template, ZoneContent
from emu.content.layers import Edit, ZoneLayer, lay_over, spawns_named
from emu.content.population import Population
from emu.content.rows import Row
from emu.content.tables import content_tables
from emu.errors import FileFormatError
from emu.world.actors.spawn import SpawnTemplate
from emu.world.population.looks import KINDS, template_of
from emu.world.zones.definitions import Fixture

NO_LAYER: Final = ZoneLayer()
FIRST_FIXTURE: Final = 2**52
"""Numbers of placements from here on are those of zone files; edits have smaller ones."""
_DIGEST_BYTES: Final = 6
_NO_ROW: Final[Row] = MappingProxyType({})
_KIND_TABLES: Final = {kind: table for table, kind in KINDS.items()}
_WITH_ROWS: Final = frozenset(("signs", "widgets"))
"""The kinds of which a row says what they do when they are used."""
_NOWHERE: Final = Placement(**dict.fromkeys(Placement._fields, 0))


@dataclass(frozen=True, slots=True)
class ServedZone:
    """The content of one zone with its templates as the world needs them."""

    content: ZoneContent
    templates: Mapping[int, SpawnTemplate]
    """By the spawn's number; spawns that cannot be shown are missing."""
    faults: tuple[str, ...]
    """A line for each spawn that cannot be shown."""
    source: object = None
    """What it was read from: equal ones give the same content. None if it was not read so."""
    fixtures: tuple[Fixture, ...] = ()
    """The spawns of zone files that are laid over it."""
    placed: Mapping[int, Fixture] = field(default_factory=dict)
    """The same by the number of their placement."""
    base: ServedZone | None = None
    """What `fixtures` are laid over; None if there are none, or no content file has the zone."""

    @property
    def of_file(self) -> ServedZone | None:
        """What the content file says; None if it does not have the zone."""
        return self.base if self.fixtures else self

    def parts(self) -> Sequence[Collection[object]]:
        """Return all that is large, for who frees it in slices."""
        content = self.content
        return (
            self.templates.values(), content.templates.values(), content.placements,
            content.entries.values(), content.groups, content.commands.values(),
            content.transporters.values(),
        )  # fmt: skip

    def template_as(
        self, template: Template, commands: Mapping[int, Sequence[Row]]
    ) -> SpawnTemplate | None:
        """Return what was made of the same rows here; None if they differ."""
        if self.content.templates.get(template.id) != template:
            return None
        for column in ("commands", "more_commands"):
            number = template.spawn[column]
            if self.content.commands.get(number) != commands.get(number):
                return None
        return self.templates.get(template.id)


# -- the content file ----------------------------------------------------------------------------


def read_zone_content(path: Path, zone_id: int) -> ServedZone | None:
    """Read one zone of a content file as `served_zone` does, and close the file."""
    with ContentFile(path) as file:
        return served_zone(file, zone_id)


def served_zone(
    file: ContentFile,
    zone_id: int,
    layer: ZoneLayer = NO_LAYER,
    edits: Sequence[Edit] = (),
    old: ServedZone | None = None,
) -> ServedZone | None:
    """Return one zone of a content file with changes laid over it. For a thread.

    `edits` are above `layer`. `old` is what was read before: it is returned if nothing of it can
    have changed, and its templates are used again. None: the file has no such zone, or zone files
    replace it. Raises `FileFormatError`.

    A damaged file is read once more, without the rows that do not fit their tables.
    """
    file.problems = {}
    try:
        return _served_zone(file, zone_id, layer, edits, old)
    except DAMAGE:
        file.is_careful, file.problems = True, {}
        try:
            return _served_zone(file, zone_id, layer, edits, None)
        except DAMAGE as error:
            raise FileFormatError(
                f"{file.path}: zone {zone_id} cannot be read ({error!r:.200}); make the file anew"
                " with `emu content import`"
            ) from error
        finally:
            file.is_careful = False


def _served_zone(
    file: ContentFile, zone_id: int, layer: ZoneLayer, edits: Sequence[Edit], old: ServedZone | None
) -> ServedZone | None:
    every = [*layer.edits, *edits]
    if layer.replaces and not layer.edits:
        return None
    source = (file.stamp, layer, tuple(edits))
    if old is not None and old.source == source:
        return old
    content = file.zone_content(zone_id, spawns_named(every, zone_id))
    if content is None:
        return None
    content = lay_over(content, every, replaces=layer.replaces)
    templates: dict[int, SpawnTemplate] = {}
    faults: list[str] = []
    for number, template in content.templates.items():
        if old is not None and (known := old.template_as(template, content.commands)) is not None:
            templates[number] = known
            continue
        try:
            templates[number] = template_of(template, content.commands)
        except FileFormatError as error:
            faults.append(f"spawn {number}: {error}")
    faults += file.problems
    return ServedZone(content, templates, tuple(faults), source)


def emptied(served: ServedZone) -> ServedZone:
    """Return a zone's content without anything that stands there."""
    content = replace(served.content, placements=(), entries={}, groups=())
    return replace(served, content=content, source=None, fixtures=(), placed={}, base=None)


# -- zone files ----------------------------------------------------------------------------------


def with_fixtures(
    base: ServedZone | None, zone_id: int, fixtures: Sequence[Fixture]
) -> ServedZone | None:
    """Return a zone with the spawns of zone files laid over what the content file has in it.

    `base` is None if the content file does not have the zone. None is returned for a zone of which
    neither has anything. The spawns of files come last, so that no roll of another one changes.
    """
    if not fixtures:
        return base
    placed = dict(numbered(fixtures))
    under = base.content if base is not None else _empty_zone(zone_id)
    content = replace(
        under,
        placements=(*under.placements, *(_placement(*one) for one in placed.items())),
        entries={**under.entries, **{one: (_entry(one),) for one in placed}},
        templates={**under.templates, **{one: _template(one, of) for one, of in placed.items()}},
    )
    templates = {} if base is None else base.templates
    return ServedZone(
        content,
        {**templates, **{number: fixture.template for number, fixture in placed.items()}},
        () if base is None else base.faults,
        fixtures=tuple(fixtures),
        placed=placed,
        base=base,
    )


def numbered(fixtures: Iterable[Fixture]) -> Iterable[tuple[int, Fixture]]:
    """Yield fixtures, each with a number that follows from its key and stays after a reload."""
    taken: set[int] = set()
    for fixture in fixtures:
        digest = sha256(fixture.key.encode()).digest()[:_DIGEST_BYTES]
        number = FIRST_FIXTURE + int.from_bytes(digest, "big")
        while number in taken:
            number += 1
        taken.add(number)
        yield number, fixture


def _placement(number: int, fixture: Fixture) -> Placement:
    place = fixture.place
    return _NOWHERE._replace(
        id=number, location_id=number, x=place.x, y=place.y, z=place.z, heading=place.heading,
        grid=place.grid, level=fixture.template.level, respawn=fixture.respawn,
    )  # fmt: skip


def _entry(number: int) -> Entry:
    return Entry(0, number, number, 1.0, 0, "")


def _template(number: int, fixture: Fixture) -> Template:
    table = _KIND_TABLES[fixture.template.kind]
    own = _defaults(table) if table in _WITH_ROWS else _NO_ROW
    return Template(number, table, _spawn_row(fixture.template.size), own, {}, ())


@lru_cache(maxsize=64)
def _spawn_row(size: int) -> Row:
    return {**_defaults("spawns"), "size": size}


@lru_cache(maxsize=8)
def _defaults(table: str) -> Mapping[str, str | int | float]:
    return {column.name: column.default for column in content_tables()[table].columns}


def _empty_zone(zone_id: int) -> ZoneContent:
    return ZoneContent(
        zone={**_defaults("zones"), "id": zone_id}, placements=(), entries={}, templates={},
        groups=(), revive_points=(), areas=(), transporters={}, triggers=(), commands={},
    )  # fmt: skip


# -- differences ---------------------------------------------------------------------------------


class Difference(NamedTuple):
    """What differs between two contents of one zone."""

    places: frozenset[int]
    """Placements that are new, gone or changed, with all placements of their sets."""
    spawns: frozenset[int]
    """Templates that are changed."""


def difference(old: ServedZone, new: ServedZone) -> Difference:
    """Compare two contents of a zone by their numbers. For a thread."""
    before, after = _places(old.content), _places(new.content)
    places = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
    # A set comes and goes as a whole.
    sets: dict[int, set[int]] = {}
    for group in (*old.content.groups, *new.content.groups):
        sets.setdefault(group.set_id, set()).update(group.placements)
    for members in sets.values():
        if not places.isdisjoint(members):
            places |= members
    known, fresh = old.content.templates, new.content.templates
    spawns = frozenset(
        one for one in known.keys() & fresh.keys()
        if known[one] != fresh[one]
        or old.placed.get(one) != new.placed.get(one)
        or (
            old.templates.get(one) is not new.templates.get(one)
            and old.templates.get(one) != new.templates.get(one)
        )
    )  # fmt: skip
    return Difference(frozenset(places), spawns)


def _places(content: ZoneContent) -> dict[int, tuple[Any, ...]]:
    """Return all that decides what can stand at each placement."""
    groups: dict[int, list[Any]] = {}
    for group in content.groups:
        for one in group.placements:
            groups.setdefault(one, []).append(group)
    return {
        one.id: (one, content.entries.get(one.location_id), groups.get(one.id))
        for one in content.placements
    }


def prepared(
    old: ServedZone, fresh: ServedZone, running: Population
) -> tuple[Difference, Population]:
    """Return what differs, and a population that can take the running one over. For a thread."""
    return difference(old, fresh), running.renewed(fresh.content)
