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
            "zones": self._zone,
            "starting_zones": self.starts.append,
            "spawn": self._spawn,
            **{table: self._detail(table) for table in KINDS},
            "spawn_location_entry": self._entry,
            "spawn_location_placement": self._placement,
            "entity_commands": self._command,
            "transporters": self._transporter,
            "npc_appearance": self._appearance,
        }

    def _zone(self, columns: Columns) -> None:
        self.zones[number(columns, "id", least=1)] = columns

    def _spawn(self, columns: Columns) -> None:
        self.spawns[number(columns, "id", least=1)] = columns

    def _detail(self, table: str) -> Callable[[Columns], None]:
        def take(columns: Columns) -> None:
            self.details[table][number(columns, "spawn_id", least=1)] = columns

        return take

    def _entry(self, columns: Columns) -> None:
        choice = fraction(columns, "spawnpercentage"), number(columns, "spawn_id", least=1)
        self.choices[number(columns, "spawn_location_id")].append(choice)

    def _placement(self, columns: Columns) -> None:
        self.placements[number(columns, "id", least=1)] = columns

    def _command(self, columns: Columns) -> None:
        self.commands[number(columns, "command_list_id")].append(columns)

    def _transporter(self, columns: Columns) -> None:
        self.transporters[number(columns, "transport_id")].append(columns)

    def _appearance(self, columns: Columns) -> None:
        self.appearances[number(columns, "spawn_id", least=1)].append(columns)


TABLES: Final = tuple(Tables().takes)
