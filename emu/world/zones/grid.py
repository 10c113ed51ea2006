"""The spawns of a zone by place: which are near a point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    def note_place(self, spawn: Spawn) -> None:
        """Note where a spawn is now."""
        # y is up. Height does not count: towers and cellars are small, and a third axis would
        # multiply the cells of a search.
        cell = self._cell_of(spawn.position.x, spawn.position.z)
        before = self._where.get(spawn.id)
        if cell == before:
            return
        if before is not None:
            self._take(spawn.id, before)
        self._where[spawn.id] = cell
        self._cells.setdefault(cell, {})[spawn.id] = spawn

    def remove(self, spawn: Spawn) -> None:
        """Remove a spawn; do nothing if it is not here."""
        cell = self._where.pop(spawn.id, None)
        if cell is not None:
            self._take(spawn.id, cell)

    def near(self, center: Position, distance: float) -> Iterator[Spawn]:
        """Yield the spawns within a distance, in no order."""
        cells = self._cells
        limit = distance * distance
        for cell in self._cells_within(center, distance):
            for spawn in cells.get(cell, {}).values():
                at = spawn.position
                if (at.x - center.x) ** 2 + (at.z - center.z) ** 2 <= limit:
                    yield spawn

    def _cells_within(self, center: Position, distance: float) -> Iterable[Cell]:
        """Return the cells that a search has to read: never more than there are."""
        left, low = self._cell_of(center.x - distance, center.z - distance)
        right, high = self._cell_of(center.x + distance, center.z + distance)
        # A search over a huge distance (a mistake of a behavior) must not loop over millions
        # of empty cells.
        if (right - left + 1) * (high - low + 1) > len(self._cells):
            return list(self._cells)
        return product(range(left, right + 1), range(low, high + 1))

    def _cell_of(self, x: float, z: float) -> Cell:
        return int(x // self._size), int(z // self._size)

    def _take(self, spawn_id: int, cell: Cell) -> None:
        inside = self._cells[cell]
        del inside[spawn_id]
        if not inside:
            del self._cells[cell]
