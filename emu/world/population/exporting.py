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

from emu.content.standing import Standing
from emu.files import begins_with
from emu.schema.writing import toml_value
from emu.world.actors.spawn import SpawnTemplate
from emu.world.population.files import LARGEST_SIZE
from emu.world.population.rows import row_of_place, spawn_row
from emu.world.zones.definitions import Fixture, ZoneDefinition
from emu.world_stream.movement import Position

HEAD: Final = """\
# Written by `emu content export`. Change what you like; commands of verbs that this server does not
# have are no faults as long as this head stays.
"""


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
    row["safe"] = row_of_place(zone.safe)
    # A behavior's options are a table without a default that compares.
    if not zone.behavior_options:
        row.pop("behavior_options", None)
    return row


def _table(title: str, row: Mapping[str, Any]) -> str:
    return "\n".join([title, *(f"{name} = {toml_value(value)}" for name, value in row.items()), ""])
