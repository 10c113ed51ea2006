"""Ways on meshes: against the exact shortest way, and against a plain search."""

import os
from fractions import Fraction
from itertools import pairwise
from math import dist, inf, isinf
from pathlib import Path
from random import Random

import pytest

from emu.ground import path_mesh
from emu.ground.path_mesh import MOST_POLYGONS, PathMesh, WayFound, pull_straight
from tests.support.ground.mesh_bytes import SIZE, Cell, flat, opened_mesh, write_paths
from tests.support.ground.shortest import Plan

Point = tuple[float, float, float]


def middle(cell: Cell, y: float = 0.0) -> Point:
    return (cell[0] + 0.5) * SIZE, y, (cell[1] + 0.5) * SIZE


def length(points: list[Point]) -> float:
    return sum(dist(one, other) for one, other in pairwise(points))


def in_cells(place: Point) -> tuple[Fraction, Fraction]:
    return Fraction(place[0]) / Fraction(SIZE), Fraction(place[2]) / Fraction(SIZE)


def random_plan(seed: int, side: int = 9, share: float = 0.3) -> dict[Cell, float]:
    random = Random(seed)
    return {(c, r): 0.0 for r in range(side) for c in range(side) if random.random() >= share}


def test_a_way_bends_at_the_corners_of_a_wall(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("....\n.xx.\n.xx."))
    way = mesh.search(middle((0, 0)), middle((3, 0))).finish()
    corner, other = (SIZE, 0.0, 2 * SIZE), (3 * SIZE, 0.0, 2 * SIZE)
    assert way.points == [middle((0, 0)), corner, other, middle((3, 0))]
    assert way.reaches


def test_a_way_in_the_open_is_straight(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("......\n......\n......"))
    start, goal = (1.0, 0.0, 1.0), (22.0, 0.0, 3.5)
    assert mesh.search(start, goal).finish().points == [start, goal]


def test_start_and_goal_may_be_on_one_polygon(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("."))
    assert mesh.search((1, 0, 1), (2, 0, 3)).finish() == WayFound([(1, 0, 1), (2, 0, 3)], True, [0])
    assert mesh.search((1, 0, 1), (1, 0, 1)).finish().points == [(1, 0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_routes_are_as_long_as_the_shortest_way(tmp_path: Path, seed: int) -> None:
    """The same places are reachable; no way is shorter than the shortest, and few are longer.

    The search compares ways by the middles of the portals, as Detour does, so it is not exact.
    """
    cells = random_plan(seed)
    plan, mesh, random = Plan(set(cells)), opened_mesh(tmp_path, cells, 4), Random(seed)
    ratios = []
    for _ in range(40):
        start, goal = (
            tuple(round(8 * one) / 8 for one in middle(random.choice(sorted(cells))))
            for _ in range(2)
        )
        way = mesh.search(start, goal).finish()  # type: ignore[arg-type]
        shortest = SIZE * plan.length(in_cells(start), in_cells(goal))  # type: ignore[arg-type]
        assert way.reaches == (not isinf(shortest))
        assert_on_plan(plan, way.points)
        if way.reaches:
            assert (way.points[0], way.points[-1]) == (start, goal)
            assert length(way.points) >= shortest - 1e-6
            ratios.append(length(way.points) / shortest if shortest else 1.0)
    ratios.sort()
    assert ratios[len(ratios) // 2] < 1.001
    assert ratios[int(0.95 * len(ratios))] < 1.12


def assert_on_plan(plan: Plan, points: list[Point]) -> None:
    for one, other in pairwise(points):
        assert plan.is_free(in_cells(one), in_cells(other)), "a leg leaves the mesh"


def plain_cost(mesh: PathMesh, start: int, goal: int, places: tuple[Point, Point]) -> float:
    """Return the least cost over the middles of portals: Dijkstra's search over portals."""
    costs: dict[tuple[int, Point], float] = {(start, places[0]): 0.0}
    done: set[tuple[int, Point]] = set()
    best = inf
    while True:
        open_ones = [(cost, state) for state, cost in costs.items() if state not in done]
        if not open_ones:
            return best
        cost, state = min(open_ones)
        done.add(state)
        polygon, place = state
        if polygon == goal:
            best = min(best, cost + dist(place, places[1]))
        floor = mesh.file.floor(polygon)
        for way in mesh.file.ways(floor.first, floor.portals):
            to = way[0], tuple((a + b) / 2 for a, b in zip(way[3:6], way[6:9], strict=True))
            total = cost + dist(place, to[1])
            if total < costs.get(to, inf):  # type: ignore[arg-type]
                costs[to] = total  # type: ignore[index]


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_a_corridor_costs_hardly_more_than_the_cheapest(tmp_path: Path, seed: int) -> None:
    """A polygon keeps the middle at which it was entered first, as in Detour: that costs little."""
    cells = random_plan(seed, 8, 0.25)
    mesh, random = opened_mesh(tmp_path, cells, 3), Random(seed)
    for _ in range(12):
        start, goal = (middle(random.choice(sorted(cells))) for _ in range(2))
        one, other = mesh.nearest(start), mesh.nearest(goal)
        assert one is not None
        assert other is not None
        if one.component != other.component:
            continue
        way = mesh.search(start, goal).finish()
        cheapest = plain_cost(mesh, one.polygon, other.polygon, (start, goal))
        assert length(way.points) <= cheapest + 1e-6
        assert len(way.polygons) == len(set(way.polygons))


def test_a_goal_in_another_component_is_approached(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("...x..."))
    search = mesh.search(middle((0, 0)), middle((6, 0)))
    way = search.finish()
    assert not way.reaches
    assert way.points == [middle((0, 0)), (3 * SIZE, 0.0, SIZE / 2)], "the end of its own floor"
    assert search.visited < 4


def test_a_goal_beside_the_mesh_is_approached(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("..."))
    way = mesh.search(middle((0, 0)), (SIZE, 0.0, 40.0)).finish()
    assert not way.reaches
    assert way.points[-1] == (SIZE, 0.0, SIZE)


def test_far_from_every_floor_there_is_no_way(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("..."))
    for start, goal in [
        ((500.0, 0.0, 0.0), middle((0, 0))),
        (middle((0, 0)), (5000.0, 0.0, 0.0)),
        (middle((0, 0)), (float("nan"), 0.0, 0.0)),
        ((inf, 0.0, 0.0), middle((0, 0))),
    ]:
        assert mesh.search(start, goal).finish() == WayFound([], False, [])


@pytest.mark.slow
def test_a_search_ends_after_so_many_polygons(tmp_path: Path) -> None:
    """The goal is then approached as near as possible, as Detour does."""
    cells = {(c, r): 0.0 for c in range(90) for r in range(120) if c != 44 or r == 119}
    mesh = opened_mesh(tmp_path, cells)
    search = mesh.search(middle((43, 0)), middle((45, 0)))
    way = search.finish()
    assert search.visited <= MOST_POLYGONS
    assert not way.reaches
    assert dist(way.points[-1], middle((45, 0))) <= 1.5 * SIZE + 0.01


def test_a_search_goes_on_in_turns(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("\n".join(["." * 30] * 30)))
    search = mesh.search(middle((0, 0)), middle((29, 14)))
    turns = 0
    while not search.advance(5):
        turns += 1
        assert search.visited == 5 * turns
    assert turns > 3
    assert search.result == mesh.search(middle((0, 0)), middle((29, 14))).finish()
    assert search.advance(1), "it stays ended"


def test_a_place_over_a_step_belongs_to_the_floor_under_it(tmp_path: Path) -> None:
    """Within the climb it has no distance, so that a nearer floor beside it is not chosen."""
    mesh = opened_mesh(tmp_path, {(0, 0): 0.0, (1, 0): 0.5})
    spot = mesh.nearest((SIZE - 0.1, 0.5, 1.0))
    assert spot is not None
    assert (spot.polygon, spot.place) == (0, (SIZE - 0.1, 0.0, 1.0))


def test_the_nearest_polygon_is_that_of_a_plain_search(tmp_path: Path) -> None:
    cells = {
        cell: height for height, seed in ((0.0, 1), (20.0, 2)) for cell in random_plan(seed, 7)
    }
    heights = Random(5)
    mesh = opened_mesh(tmp_path, {cell: heights.uniform(-9, 9) for cell in cells}, 3)
    random = Random(6)
    for _ in range(200):
        place = random.uniform(-12, 40), random.uniform(-15, 15), random.uniform(-12, 40)
        expected = []
        for number in range(mesh.polygons):
            at, far = path_mesh.nearest_on(mesh.file.floor(number), place, mesh.climb)
            if abs(at[0] - place[0]) <= 10 and abs(at[2] - place[2]) <= 10:
                expected.append(far)
        spot = mesh.nearest(place)
        assert (spot is None) == (not expected)
        if spot is not None:
            _, far = path_mesh.nearest_on(mesh.file.floor(spot.polygon), place, mesh.climb)
            assert far == pytest.approx(min(expected))


def test_heights_come_from_the_polygon(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, {(0, 0): 3.0})
    assert mesh.nearest((1.0, 50.0, 2.0)) == (0, (1.0, 3.0, 2.0), 0)
    assert mesh.nearest((1.0, 250.0, 2.0)) is None, "200 m are too high"


def test_a_file_that_shrinks_ends_the_use_of_this_mesh_only(tmp_path: Path) -> None:
    lines: list[str] = []
    path = write_paths(tmp_path, flat("......"))
    mesh = PathMesh(path, lines.append)
    search = mesh.search(middle((0, 0)), middle((5, 0)))
    os.truncate(path, 200)
    assert search.finish() == WayFound([], False, [])
    assert mesh.nearest(middle((0, 0))) is None
    assert mesh.fault
    assert len(lines) == 1


def test_a_search_survives_a_file_that_shrinks_meanwhile(tmp_path: Path) -> None:
    path = write_paths(tmp_path, flat("." * 60))
    mesh = PathMesh(path)
    search = mesh.search(middle((0, 0)), middle((59, 0)))
    assert not search.advance(3)
    os.truncate(path, 200)
    assert search.finish() == WayFound([], False, [])
    mesh.close()


def test_flipped_bits_end_searches_at_worst(tmp_path: Path) -> None:
    """Also places that are no numbers, and portals that lead in a circle."""
    path = write_paths(tmp_path, random_plan(3, 8))
    random, data = Random(8), path.read_bytes()
    for _ in range(120):
        wrong = bytearray(data)
        for _ in range(60):
            wrong[random.randrange(130, len(wrong))] ^= 1 << random.randrange(8)
        path.write_bytes(wrong)
        mesh = PathMesh(path)
        for _ in range(4):
            start, goal = (middle((random.randrange(8), random.randrange(8))) for _ in range(2))
            mesh.search(start, goal).finish()
        mesh.close()


def test_a_funnel_of_places_that_are_no_numbers_ends() -> None:
    none = (float("nan"),) * 3
    random = Random(2)
    for _ in range(300):
        portals = [
            tuple(
                none if random.random() < 0.3 else (random.random(), 0.0, random.random())
                for _ in range(2)
            )
            for _ in range(12)
        ]
        assert len(pull_straight((0, 0, 0), portals, (9, 0, 9))) <= 15  # type: ignore[arg-type]


def test_a_scared_creature_runs_to_a_place_that_it_can_reach(tmp_path: Path) -> None:
    plan = flat("""
        ......x...
        ......x...
    """)
    mesh, random = opened_mesh(tmp_path, plan), Random(1)
    found = set()
    for _ in range(50):
        spot = mesh.some_place(middle((2, 0)), 30.0, random.random)
        assert spot is not None
        found.add((int(spot.place[0] / SIZE), int(spot.place[2] / SIZE)))
    assert len(found) > 5
    assert all(column < 6 for column, _ in found)
    assert mesh.some_place((900.0, 0.0, 0.0), 30.0, random.random) is None


def test_the_checksum_of_a_good_file_is_right(tmp_path: Path) -> None:
    mesh = opened_mesh(tmp_path, flat("..."))
    mesh.check()
    assert (mesh.polygons, mesh.components, mesh.digest) == (3, 1, b"\x08" * 32)
