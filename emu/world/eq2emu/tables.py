"""The rows of a world database that say where what stands, found by what they belong to.

Owns which tables are read and how their rows hang together (docs/protocol/world/data.md#tables).
Values are read later, by whoever makes something of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from emu.sqldump.columns import Columns, fraction, number
from emu.world.spawns import SpawnKind

KINDS: Final[Mapping[str, SpawnKind]] = {
    "spawn_npcs": SpawnKind.NPC,
    "spawn_objects": SpawnKind.OBJECT,
    "spawn_ground": SpawnKind.OBJECT,
    "spawn_signs": SpawnKind.SIGN,
    "spawn_widgets": SpawnKind.WIDGET,
}
"""Table of details -> kind of the spawns that it describes."""


class Tables:
    """Rows by what they belong to. `takes` are the tables; each raises `ValueError`."""

    def __init__(self) -> None:
        self.zones: dict[int, Columns] = {}
        self.starts: list[Columns] = []
        self.spawns: dict[int, Columns] = {}
        self.details: dict[str, dict[int, Columns]] = {table: {} for table in KINDS}
        """Table -> spawn -> row."""
        self.choices: dict[int, list[tuple[float, int]]] = defaultdict(list)
        """Location -> the spawns that may stand there, each with its percentage in front."""
        self.placements: dict[int, Columns] = {}
        self.commands: dict[int, list[Columns]] = defaultdict(list)
        """Number of a command list -> its commands."""
        self.transporters: dict[int, list[Columns]] = defaultdict(list)
        self.appearances: dict[int, list[Columns]] = defaultdict(list)
        """Spawn -> its colors."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], None]]:
        """Table -> what takes a row of it."""
        return {
            "zones": _one_each(self.zones, "id"),
            "starting_zones": self.starts.append,
            "spawn": _one_each(self.spawns, "id"),
            **{table: _one_each(self.details[table], "spawn_id") for table in KINDS},
            "spawn_location_entry": self._entry,
            "spawn_location_placement": _one_each(self.placements, "id"),
            "entity_commands": _some_each(self.commands, "command_list_id"),
            "transporters": _some_each(self.transporters, "transport_id"),
            "npc_appearance": _some_each(self.appearances, "spawn_id", least=1),
        }

    def _entry(self, columns: Columns) -> None:
        choice = fraction(columns, "spawnpercentage"), number(columns, "spawn_id", least=1)
        self.choices[number(columns, "spawn_location_id")].append(choice)


def _one_each(rows: dict[int, Columns], key: str) -> Callable[[Columns], None]:
    """Return what keeps a row by a number that no other row has."""

    def take(columns: Columns) -> None:
        rows[number(columns, key, least=1)] = columns

    return take


def _some_each(
    rows: dict[int, list[Columns]], key: str, least: int = 0
) -> Callable[[Columns], None]:
    """Return what keeps a row among those of one number."""
    return lambda columns: rows[number(columns, key, least=least)].append(columns)


TABLES: Final = tuple(Tables().takes)
