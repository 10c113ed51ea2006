"""Folders with files of zones, as an operator writes them."""

from __future__ import annotations

from pathlib import Path

from emu.world.zones.definitions import ZoneDefinition
from emu.world_stream.movement import Position

ZONE = """
[zone]
id = {id}
name = "{name}"
file = "{name}_file"
description = "The {name}"
safe = [1.0, 2.0, 3.0, 90.0]
"""


def zone_text(zone_id: int, name: str, more: str = "") -> str:
    """Return the text of a zone's file; `more` follows the [zone] table's own keys."""
    return ZONE.format(id=zone_id, name=name) + more


def write_zones(folder: Path, **files: str) -> Path:
    """Write one file for each name, and return the folder."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def definition(zone_id: int) -> ZoneDefinition:
    """Return the definition of a zone in which nothing is special."""
    safe = Position(0.0, 0.0, 0.0)
    return ZoneDefinition(zone_id, "place", "place_file", "The Place", safe)
