"""The spawns of a zone by place: which are near a point."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Final

from emu.world.actors.spawn import Spawn
from emu.world_stream.movement import Position

CELL: Final = 128.0
"""Side of a cell; a search of 300 units reads 25 to 36 of them."""

Cell = tuple[int, int]


class Grid:
    """The spawns of one zone by cell."""

    __slots__ = ("_cells", "_size", "_where")

    def __init__(self, size: float = CELL) -> None:
        self._size = size
        self._cells: dict[Cell, dict[int, Spawn]] = {}
        self._where: dict[int, Cell] = {}

    def __len__(self) -> int:
        return len(self._where)

    def note_place(self, spawn: Spawn) -> bool:
        """Note where a spawn is now; return whether that is another cell than before."""
        # y is up. Height does not count: towers and cellars are small, and a third axis would
        # multiply the cells of a search.
        at = spawn.position
        cell = self._cell_of(at.x, at.z)
        before = self._where.get(spawn.id)
        if cell == before:
            return False
        if before is not None:
            self._take(spawn.id, before)
        self._where[spawn.id] = cell
        self._cells.setdefault(cell, {})[spawn.id] = spawn
        return True

    def remove(self, spawn: Spawn) -> None:
        """Remove a spawn; do nothing if it is not here."""
        cell = self._where.pop(spawn.id, None)
        if cell is not None:
            self._take(spawn.id, cell)

    def near(self, center: Position, distance: float) -> list[Spawn]:
        """Return the spawns within a distance, in no order."""
        found: list[Spawn] = []
        x, z, limit = center.x, center.z, distance * distance
        for inside in self._cells_within(center, distance):
            for spawn in inside.values():
                at = spawn.position
                if (at.x - x) ** 2 + (at.z - z) ** 2 <= limit:
                    found.append(spawn)
        return found

    def _cells_within(self, center: Position, distance: float) -> Iterable[dict[int, Spawn]]:
        """Return the spawns of the cells that a search has to read, by cell."""
        cells = self._cells
        if len(cells) <= 1:
            return cells.values()
        left, low = self._cell_of(center.x - distance, center.z - distance)
        right, high = self._cell_of(center.x + distance, center.z + distance)
        # A search over a huge distance (a mistake of a behavior) must not loop over millions
        # of empty cells.
        if (right - left + 1) * (high - low + 1) > len(cells):
            return cells.values()
        wanted = product(range(left, right + 1), range(low, high + 1))
        return [cells[cell] for cell in wanted if cell in cells]

    def _cell_of(self, x: float, z: float) -> Cell:
        return int(x // self._size), int(z // self._size)

    def _take(self, spawn_id: int, cell: Cell) -> None:
        inside = self._cells[cell]
        del inside[spawn_id]
        if not inside:
            del self._cells[cell]
