"""Strength of the content file's spawns: health, power, attributes, difficulty.

A placement's own numbers win over those of the spawn's row; 0 means that a row says nothing.
Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

from typing import Final

from emu.content.standing import Standing
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn

_ATTRIBUTES: Final = {
    "strength": "str", "stamina": "sta", "agility": "agi", "wisdom": "wis", "intelligence": "intel",
}  # fmt: skip
"""Columns of attributes -> fields of a sheet."""


def fill_sheet(spawn: Spawn, standing: Standing) -> None:
    """Give a spawn the health, power, attributes and difficulty that its rows say."""
    placement, template = standing.placement, standing.template
    for name in ("health", "power"):
        if most := getattr(placement, name) or template.spawn.get(name, 0):
            getattr(spawn.sheet, name).fill(most)
    if template.kind != "npcs":
        return
    own = template.own
    for column, field_name in _ATTRIBUTES.items():
        if value := getattr(placement, column) or own.get(column, 0):
            spawn.sheet.set(field_name, FieldKind.FRACTION, value)
    spawn.difficulty = placement.difficulty or own.get("difficulty", 0) or spawn.difficulty
    spawn.heroic = own.get("heroic", spawn.heroic)
