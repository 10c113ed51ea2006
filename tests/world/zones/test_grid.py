"""The grid finds what a comparison with everybody finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.zones.grid import CELL, Grid
from emu.world_stream.movement import Position

PLACES = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))


@given(st.lists(PLACES, max_size=40), st.lists(PLACES, max_size=20), PLACES, st.floats(0, 1500))
def test_near_finds_the_same_as_looking_at_all(
    places: list[tuple[float, float]],
    moves: list[tuple[float, float]],
    center: tuple[float, float],
    distance: float,
) -> None:
    grid = Grid()
    spawns = [Spawn(n, SpawnKind.NPC, "x", Position(x, 0, z)) for n, (x, z) in enumerate(places)]
    for spawn in spawns:
        grid.note_place(spawn)
    for spawn, (x, z) in zip(spawns, moves, strict=False):
        spawn.position = Position(x, 0, z)
        grid.note_place(spawn)
    if spawns:
        grid.remove(spawns[0])
        grid.remove(spawns[0])
    middle = Position(center[0], 0, center[1])
    limit = distance * distance
    expected = {
        spawn.id
        for spawn in spawns[1:]
        if (spawn.position.x - middle.x) ** 2 + (spawn.position.z - middle.z) ** 2 <= limit
    }
    assert {spawn.id for spawn in grid.near(middle, distance)} == expected
    assert len(grid) == max(0, len(spawns) - 1)


def test_a_search_of_any_distance_looks_into_no_more_cells_than_there_are() -> None:
    grid = Grid()
    for n, x in enumerate((0.0, 1e6, -1e9)):
        grid.note_place(Spawn(n, SpawnKind.NPC, "x", Position(x, 0, 0)))
    for distance, found in ((1e3, 1), (1e7, 2), (1e12, 3), (1e100, 3)):
        assert len(list(grid.near(Position(0, 0, 0), distance))) == found


def test_empty_cells_are_forgotten() -> None:
    grid = Grid()
    spawn = Spawn(1, SpawnKind.NPC, "x", Position(0, 0, 0))
    for x in range(0, 10_000, 500):
        spawn.position = Position(float(x), 0, 0)
        grid.note_place(spawn)
    assert len(grid._cells) == 1


def test_only_a_step_into_another_cell_is_noted() -> None:
    grid, spawn = Grid(), Spawn(1, SpawnKind.NPC, "x", Position(1.0, 0, 1.0))
    noted = []
    for x, z in ((1.0, 1.0), (CELL - 1.0, 2.0), (CELL + 1.0, 2.0), (CELL + 2.0, CELL - 1.0),
                 (CELL + 2.0, -1.0), (CELL + 2.0, 1.0 - CELL)):  # fmt: skip
        spawn.position = Position(x, 0, z)
        noted.append(grid.note_place(spawn))
    assert noted == [True, False, True, False, True, False]
