"""One spawn of a world database as a [[spawn]] table of our files.

Each function reads one kind of row into the keys that it sets; all raise `ValueError` for values
that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from emu.sqldump.columns import Columns, fraction, number, text
from emu.world.places.looks import check_looks
from emu.world.places.reading import LARGEST_SIZE
from emu.world.spawns import SpawnKind

Row = dict[str, Any]

LOOKS: Final = (
    "hair_type_id", "facial_hair_type_id", "wing_type_id", "chest_type_id", "legs_type_id",
    "soga_hair_type_id", "soga_facial_hair_type_id", "soga_model_type", "gender",
)  # fmt: skip
STATES: Final = ("action_state", "mood_state", "emote_state")
USUAL_SIZE: Final = 32
ZONE_SIGN: Final = "Zone"
LARGEST: Final = 0xFFFF


def spawn_keys(columns: Columns, kind: SpawnKind) -> Row:
    """Return what a row of `spawn` says."""
    flags = ("attackable", "targetable", "show_name")
    row: Row = {
        "kind": kind.value,
        "name": text(columns, "name"),
        "last_name": text(columns, "last_name"),
        "title": text(columns, "sub_title"),
        "model": number(columns, "model_type", most=LARGEST),
        "size": number(columns, "size", USUAL_SIZE, most=LARGEST_SIZE) or USUAL_SIZE,
        "collision_radius": number(columns, "collision_radius", most=LARGEST_SIZE),
        **{flag: number(columns, flag) != 0 for flag in flags},
        "visual_state": number(columns, "visual_state", most=LARGEST),
    }
    return {key: value for key, value in row.items() if value not in {"", 0} or key in flags} | {
        "name": row["name"]
    }


def npc_keys(columns: Columns, spawn: Columns, colors: Sequence[Columns]) -> Row:
    """Return what a row of `spawn_npcs` says, with its spawn's race and its colors."""
    looks: Row = {name: number(columns, name, most=LARGEST) for name in LOOKS}
    looks["class"] = number(columns, "class_")
    looks["race"] = number(spawn, "race")
    for color in colors:
        parts = [number(color, part, least=-128, most=255) for part in ("red", "green", "blue")]
        looks[text(color, "type")] = parts
    row: Row = {name: number(columns, name, most=LARGEST) for name in STATES}
    row = {name: value for name, value in row.items() if value}
    row["level"] = min(255, max(1, number(columns, "min_level")))
    return row | {"looks": dict(_known(looks))}


def sign_keys(columns: Columns) -> Row:
    """Return what a row of `spawn_signs` says; its texts, and where it leads."""
    row: Row = {
        "sign": {
            "title": text(columns, "title"),
            "text": text(columns, "description"),
            "distance": fraction(columns, "sign_distance"),
            "language": number(columns, "language", most=255),
        }
    }
    zone_id = number(columns, "zone_id")
    if text(columns, "type") == ZONE_SIGN and zone_id:
        row["to"] = way(zone_id, columns, "zone_")
    return row | widget_keys(columns)


def widget_keys(columns: Columns) -> Row:
    """Return number and place that a row of signs or widgets has besides the spawn's."""
    widget: Row = {"id": number(columns, "widget_id")}
    at = widget_place(columns)
    if at is not None:
        widget["place"] = at
    return {"widget": widget}


def widget_place(columns: Columns) -> list[float] | None:
    """Return where the client has this widget; None when the row does not say."""
    at = [fraction(columns, f"widget_{axis}") for axis in "xyz"]
    return at if any(at) else None


def own_place(columns: Columns) -> list[float]:
    """Return where a sign or widget stands that no placement names. Raises `ValueError`."""
    at = widget_place(columns)
    if at is None:
        raise ValueError("its place is not in the dump")
    return at


def verb_rows(commands: Sequence[Columns]) -> list[Row]:
    """Return the verbs of a command list."""
    return [
        {
            "name": text(command, "command_text"),
            "distance": fraction(command, "distance"),
            "command": text(command, "command"),
        }
        for command in commands
        if text(command, "command_text")
    ]


def way(zone_id: int, columns: Columns, prefix: str) -> Row:
    """Return where a sign or a transporter leads; no place is the zone's safe one."""
    place = [fraction(columns, f"{prefix}{axis}") for axis in "xyz"]
    if not any(place):
        return {"zone": zone_id}
    return {"zone": zone_id, "place": [*place, fraction(columns, f"{prefix}heading")]}


def _known(looks: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the looks that clients can be told; white and none are what is not said."""
    for name, value in looks.items():
        if not value:
            continue
        try:
            check_looks({name: value})
        except ValueError:
            continue
        yield name, value
