"""Writes small dumps in the form of EQ2Emulator's content database."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


def dump_text(table: str, rows: Rows) -> str:
    """Return a dump of one table, as mysqldump writes it: the definition, then one INSERT."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = ",\n".join(f"  `{name}` int(10) unsigned NOT NULL DEFAULT 0" for name in columns)
    values = ",\n".join(
        "(" + ",".join(literal(row.get(name, 0)) for name in columns) + ")" for row in rows
    )
    return (
        f"-- Table\nDROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{lines}\n);\n"
        f"INSERT INTO `{table}` VALUES\n{values};\n"
    )


def write_dumps(folder: Path, tables: Mapping[str, Rows]) -> Path:
    """Write a file for each table, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        (folder / f"{name}.sql").write_text(dump_text(name, rows), encoding="utf-8")
    return folder


def meadow() -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a zone that has a case of everything an import resolves.

    Zone 9, "meadow": location 1 is a guard with two possible spawns, location 2 an empty place,
    locations 3 and 4 two groups that exclude each other, location 5 a sign.
    """
    place = {"zone_id": 9, "respawn": 300}
    return {
        "zones": [
            {"id": 9, "name": "meadow", "file": "exp01_meadow", "description": "A Meadow",
             "safe_x": 1.5, "instance_type": "NONE", "shutdown_timer": 300},
        ],
        "spawn": [
            {"id": 90001, "name": "a guard", "race": 9, "model_type": 134, "size": 32,
             "command_primary": 9, "attackable": 0, "targetable": 1, "show_name": 1},
            {"id": 90002, "name": "a captain", "race": 9, "model_type": 135, "size": 49152},
            {"id": 90003, "name": "a sign", "model_type": 0, "transport_id": 3},
            {"id": 90004, "name": "a ghost of no kind"},
        ],
        "spawn_npcs": [
            {"id": 1, "spawn_id": 90001, "min_level": 5, "max_level": 7, "heroic_flag": 255},
            {"id": 2, "spawn_id": 90002, "min_level": 9, "max_level": 9},
        ],
        "spawn_signs": [{"id": 1, "spawn_id": 90003, "type": "Zone", "title": "North"}],
        "spawn_location_placement": [
            {**place, "id": 11, "spawn_location_id": 1, "x": 10.25, "y": -1.5, "z": 3},
            {**place, "id": 12, "spawn_location_id": 2},
            {**place, "id": 13, "spawn_location_id": 3, "pitch": 47150},
            {**place, "id": 14, "spawn_location_id": 4},
            {**place, "id": 15, "spawn_location_id": 5},
        ],
        "spawn_location_entry": [
            {"id": 21, "spawn_id": 90001, "spawn_location_id": 1, "spawnpercentage": 86},
            {"id": 22, "spawn_id": 90002, "spawn_location_id": 1, "spawnpercentage": 14},
            {"id": 23, "spawn_id": 90001, "spawn_location_id": 3, "spawnpercentage": 100},
            {"id": 24, "spawn_id": 90002, "spawn_location_id": 4, "spawnpercentage": 100},
            {"id": 25, "spawn_id": 90003, "spawn_location_id": 5, "spawnpercentage": 100},
            {"id": 26, "spawn_id": 90001, "spawn_location_id": 77, "spawnpercentage": 100},
        ],
        "spawn_location_group": [
            {"id": 1, "group_id": 31, "placement_id": 13},
            {"id": 2, "group_id": 32, "placement_id": 14},
        ],
        "spawn_location_group_associations": [{"id": 1, "group_id1": 31, "group_id2": 32}],
        "spawn_location_group_chances": [{"id": 1, "group_id": 32, "percentage": 10}],
        "spawn_scripts": [
            {"id": 1, "spawn_id": 90001, "spawnentry_id": 0, "spawn_location_id": 0,
             "lua_script": "SpawnScripts/meadow/guard.lua"},
            {"id": 2, "spawn_id": 0, "spawnentry_id": 0, "spawn_location_id": 3,
             "lua_script": "SpawnScripts/meadow/old.lua"},
            {"id": 3, "spawn_id": 0, "spawnentry_id": 0, "spawn_location_id": 3,
             "lua_script": "SpawnScripts/meadow/place.lua"},
            {"id": 4, "spawn_id": 0, "spawnentry_id": 22, "spawn_location_id": 0,
             "lua_script": "SpawnScripts/meadow/captain.lua"},
            {"id": 5, "spawn_id": 0, "spawnentry_id": 0, "spawn_location_id": 99,
             "lua_script": "SpawnScripts/Generic/SpawnGroups.lua"},
        ],
        "npc_appearance": [
            {"id": 1, "spawn_id": 90001, "type": "skin_color", "red": 1, "green": 2, "blue": 3},
            {"id": 2, "spawn_id": 90001, "type": "skin_color", "red": 4, "green": 5, "blue": 6},
        ],
        "npc_appearance_equip": [
            {"id": 1, "spawn_id": 90001, "slot_id": 2, "equip_type": 4000, "red": 9},
            {"id": 2, "spawn_id": 90001, "slot_id": 255, "equip_type": 1},
        ],
        "entity_commands": [
            {"id": 1, "command_list_id": 9, "command_text": "Hail", "command": "hail",
             "distance": 10},
        ],
        "transporters": [
            {"id": 1, "transport_id": 3, "transport_type": "Zone", "destination_zone_id": 9},
            {"id": 2, "transport_id": 4, "transport_type": "Location",
             "trigger_location_zone_id": 9, "trigger_radius": 10},
        ],
        "revive_points": [{"id": 1, "zone_id": 9, "respawn_zone_id": 9, "safe_x": 2}],
        "locations": [{"id": 1, "zone_id": 9, "name": "The Pond", "discovery": 1}],
        "location_details": [{"id": 1, "location_id": 1, "x": 1, "y": 2, "z": 3}],
        "character_items": [{"id": 1}],
    }  # fmt: skip
