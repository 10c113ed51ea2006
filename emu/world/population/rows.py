"""Spawns as ``[[spawn]]`` tables of zone files: what the export and the saving of spawns write.

Source: docs/guides/zones.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from emu.world.actors.dealings import NOTHING, Dealing
from emu.world.actors.spawn import Footer, SpawnKind, Verb
from emu.world.population.files import FOOTED, SAME, STATES, SpawnRow, VerbRow
from emu.world.zones.definitions import RESPAWN, Fixture
from emu.world_stream.movement import Position

_MODELS: Final = ("model_type", "soga_model_type")
_SAME: Final = tuple(field for field in attrs.fields(SpawnRow) if field.name in {*SAME} - {"name"})
"""The keys whose values a template has as they are written."""
_ALWAYS: Final = frozenset(("name", "distance", "command"))
"""The keys of a verb that are written even if they have their default."""


def spawn_row(fixture: Fixture) -> dict[str, Any]:
    """Return a fixture as a ``[[spawn]]`` table, without the keys that have their default.

    Read again, the table gives an equal fixture.
    """
    template = fixture.template
    kind, looks = template.kind, dict(template.appearance)
    place = row_of_place(fixture.place)
    row: dict[str, Any] = {"kind": kind.value, "name": template.name, "place": place}
    # One model for both appearances is written in its short form.
    models = {looks.get(name) for name in _MODELS}
    if len(models) == 1 and isinstance(model := models.pop(), int):
        row["model"] = model
        looks = {name: value for name, value in looks.items() if name not in _MODELS}
    own = [(field.name, getattr(template, field.name), field.default) for field in _SAME]
    own += [
        ("title", template.guild, ""),
        ("id", fixture.key, ""),
        ("grid", fixture.place.grid, 0),
        ("looks", looks, {}),
        ("words", sorted(template.words), []),
        ("targetable", template.targetable, kind not in FOOTED),
        ("show_name", template.show_name, kind is SpawnKind.NPC),
        ("verbs", [_verb(verb) for verb in template.verbs], []),
        ("more_verbs", [_verb(verb) for verb in template.more_verbs], []),
        *((name, getattr(template.pose, name), 0) for name in STATES),
        ("trade", _trade(template.dealing), {}),
        ("respawn", fixture.respawn, RESPAWN),
        ("behavior", fixture.behavior, ""),
        ("behavior_options", dict(fixture.behavior_options), {}),
    ]
    # Defaults are left out, so that the file shows what is special.
    row |= {name: value for name, value, default in own if value != default}
    if template.destination is not None:
        to = template.destination
        at = {} if to.position is None else {"place": row_of_place(to.position)}
        row["to"] = {"zone": to.zone_id} | at
    if template.footer is not None:
        row |= _footer(kind, template.footer)
    return row


def _trade(dealing: Dealing) -> dict[str, Any]:
    """Return what is not as in the table of a spawn that trades nothing."""
    values: dict[str, Any] = dealing._asdict()
    plain = {name: value for name, value in values.items() if value != getattr(NOTHING, name)}
    return {name: _plain(value) for name, value in plain.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else int(value)


def row_of_place(place: Position) -> list[float]:
    """Return a place as zone files have it; the cell of the map has a key of its own."""
    return [place.x, place.y, place.z, place.heading]


def _verb(verb: Verb) -> dict[str, Any]:
    values = {field.name: (getattr(verb, field.name), field) for field in attrs.fields(VerbRow)}
    return {
        name: value
        for name, (value, field) in values.items()
        if name in _ALWAYS or value != field.default
    }


def _footer(kind: SpawnKind, footer: Footer) -> Mapping[str, Any]:
    hidden = {name: False for name in ("with_heading", "with_place") if not getattr(footer, name)}
    place = [footer.x, footer.y, footer.z]
    row: dict[str, Any] = {"widget": {"id": footer.id, "place": place} | hidden}
    if kind is SpawnKind.SIGN:
        row["sign"] = {
            "title": footer.title, "text": footer.description, "distance": footer.distance,
            "show": footer.show, "language": footer.language,
        }  # fmt: skip
    return row
