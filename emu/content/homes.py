"""Houses that players can buy, as a content file has them.

All of it is read at once, when the world starts: some hundreds of rows.
Source: docs/guides/houses.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.rules import RuleName, rules_in_force
from emu.facts import FARTHEST
from emu.houses import Price

NO_ALIGNMENT: Final[RuleName] = ("R_Player", "DisableHouseAlignmentRequirement")
"""The rule by which houses ask for no alignment; EQ2Emulator's default is 1."""
GOOD, EVIL = 1, 2
"""Alignments that a house asks for; 0 for any."""


class HouseKind(NamedTuple):
    """One house of a content file; each character can own one of it."""

    id: int
    name: str
    cost: Price
    upkeep: Price
    """What it costs each week."""
    vault_slots: int
    alignment: int
    """`GOOD` or `EVIL`; 0 for any."""
    guild_level: int
    """The least level of the buyer's guild; 0: it needs none."""
    zone_id: int
    """The zone of its inside."""
    exit_zone: int
    exit: tuple[float, float, float, float]
    """Where a player stands who leaves it: x, y, z and heading. All zeros: the safe place."""


@dataclass(frozen=True, slots=True)
class HomeTables:
    """The houses of a world."""

    homes: Mapping[int, HouseKind] = field(default_factory=dict)
    """By number."""
    asks_alignment: bool = False
    """Whether the alignment of the buyer counts."""


def read_homes(path: Path | None) -> HomeTables:
    """Read the houses of a content file; without one there are none. Raises `FileFormatError`."""
    if path is None:
        return HomeTables()
    with ContentFile(path) as file:
        homes = {row["id"]: _home(row) for row in file.table("homes") if row["zone_id"]}
        disabled = rules_in_force(file).get(NO_ALIGNMENT, "1").strip()
    return HomeTables(homes, disabled == "0")


def _home(row: Row) -> HouseKind:
    place = (row["exit_x"], row["exit_y"], row["exit_z"], row["exit_heading"] % 360.0)
    if not max(map(abs, place)) <= FARTHEST:
        place = (0.0, 0.0, 0.0, 0.0)
    return HouseKind(
        row["id"], row["name"],
        Price(max(0, row["coins"]), max(0, row["status"])),
        Price(max(0, row["upkeep_coins"]), max(0, row["upkeep_status"])),
        row["vault_slots"], row["alignment"], row["guild_level"], row["zone_id"],
        row["exit_zone"],
        place,
    )  # fmt: skip
