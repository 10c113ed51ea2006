"""Writes a zone of a content file as a zone file: what stands there at one time.

A zone file has spawns that always stand. So the export rolls once what a running zone would roll,
and writes each spawn with what a zone file has a key for. Scripts, groups, respawn times and
entries with weights stay in the content file.

Source: docs/guides/content.md#export.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import attrs

from emu.content.population import Standing
from emu.files import begins_with
from emu.schema.writing import toml_value
from emu.world.actors.spawn import Footer, SpawnKind, SpawnTemplate
from emu.world.population.files import LARGEST_SIZE, SAME, STATES, SpawnRow, VerbRow
from emu.world.zones.definitions import Fixture, ZoneDefinition
from emu.world_stream.movement import Position

HEAD: Final = """\
# Written by `emu content export`. Change what you like; commands of verbs that this server does not
# have are no faults as long as this head stays.
"""
_SAME: Final = tuple(
    field
    for field in attrs.fields(SpawnRow)
    if field.name in {*SAME, "targetable", "show_name"} - {"name"}
)
"""The keys of a spawn that are written if they differ from their defaults."""


def is_exported(path: Path) -> bool:
    """Return whether the export wrote a file, even if it was changed since."""
    return begins_with(path, HEAD)


def standing_fixtures(
    templates: Mapping[int, SpawnTemplate], standing: Iterable[Standing]
) -> Iterator[Fixture]:
    """Yield what stands, each with its place, level and size; the key is its placement's number."""
    for one in standing:
        template = templates.get(one.template.id)
        if template is not None:
            placement = one.placement
            made = replace(
                template,
                level=min(one.level, 255),
                difficulty=placement.difficulty or template.difficulty,
                size=min(one.size or template.size, LARGEST_SIZE),
            )
            place = Position(one.x, one.y, one.z, one.heading % 360.0, placement.grid)
            yield Fixture(made, place, key=f"placement-{placement.id}")


def zone_text(zone: ZoneDefinition, fixtures: Iterable[Fixture]) -> str:
    """Return a zone file: the zone's table, then one for each spawn."""
    tables = [_table("[zone]", _zone_row(zone))]
    tables += [_table("[[spawn]]", spawn_row(fixture)) for fixture in fixtures]
    return "\n".join([HEAD, *tables])


def _zone_row(zone: ZoneDefinition) -> dict[str, Any]:
    row = {
        field.name: getattr(zone, field.name)
        for field in attrs.fields(type(zone))
        if getattr(zone, field.name) != field.default
    }
    row["safe"] = _place(zone.safe)
    # A behavior's options are a table without a default that compares.
    if not zone.behavior_options:
        row.pop("behavior_options", None)
    return row


def spawn_row(fixture: Fixture) -> dict[str, Any]:
    """Return a fixture as a ``[[spawn]]`` table, without the keys that have their default.

    Read again, the table gives an equal fixture.
    """
    template = fixture.template
    row: dict[str, Any] = {
        "kind": template.kind.value, "name": template.name, "place": _place(fixture.place),
    }  # fmt: skip
    own = [(field.name, getattr(template, field.name), field.default) for field in _SAME]
    own += [
        ("title", template.guild, ""),
        ("behavior", fixture.behavior, ""),
        ("id", fixture.key, ""),
        ("grid", fixture.place.grid, 0),
        ("looks", dict(template.appearance), {}),
        ("words", sorted(template.words), []),
        ("behavior_options", dict(fixture.behavior_options), {}),
    ]
    own += [(name, getattr(template.pose, name), 0) for name in STATES]
    row |= {name: value for name, value, default in own if value != default}
    if template.verbs:
        row["verbs"] = [_verb(verb) for verb in template.verbs]
    if template.more_verbs:
        row["more_verbs"] = [_verb(verb) for verb in template.more_verbs]
    if template.destination is not None:
        to = template.destination
        at = {} if to.position is None else {"place": _place(to.position)}
        row["to"] = {"zone": to.zone_id} | at
    if template.footer is not None:
        row |= _footer(template.kind, template.footer)
    return row


def _verb(verb: object) -> dict[str, Any]:
    """Return a verb; its name and command are always written."""
    values = {field.name: (getattr(verb, field.name), field) for field in attrs.fields(VerbRow)}
    return {name: value for name, (value, field) in values.items() if value != field.default}


def _footer(kind: SpawnKind, footer: Footer) -> dict[str, Any]:
    hidden = {name: False for name in ("with_heading", "with_place") if not getattr(footer, name)}
    place = [footer.x, footer.y, footer.z]
    row: dict[str, Any] = {"widget": {"id": footer.id, "place": place} | hidden}
    if kind is SpawnKind.SIGN:
        row["sign"] = {
            "title": footer.title, "text": footer.description, "distance": footer.distance,
            "show": footer.show, "language": footer.language,
        }  # fmt: skip
    return row


def _place(place: Position) -> list[float]:
    return [place.x, place.y, place.z, place.heading]


def _table(title: str, row: Mapping[str, Any]) -> str:
    return "\n".join([title, *(f"{name} = {toml_value(value)}" for name, value in row.items()), ""])
