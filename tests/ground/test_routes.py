"""Routes: straight where the ground allows it, else over the mesh."""

import os
from pathlib import Path

import pytest

from emu.ground import routes
from emu.ground.ground_map import GroundMap
from emu.ground.path_mesh import PathMesh
from emu.ground.routes import RouteSearch
from tests.support.ground.map_bytes import Part, hills, opened, square, write_ground
from tests.support.ground.mesh_bytes import flat, opened_mesh

FLOOR = square((0, 0, 0), (28, 0, 12))
FENCE = square((14, 0, 0), (14, 3, 8))
"""A fence across the floor that leaves a gap in the north."""
PLAN = flat("""
    .......
    ...xx..
    ...xx..
""")
START, GOAL = (10.0, 0.0, 2.0), (22.0, 0.0, 2.0)


@pytest.fixture
def ground(tmp_path: Path) -> GroundMap:
    return opened(tmp_path, [Part(FLOOR, 5), Part(FENCE, 5, 77)])


@pytest.fixture
def mesh(tmp_path: Path) -> PathMesh:
    return opened_mesh(tmp_path, PLAN)


def places(search: RouteSearch) -> list[tuple[float, float, float]]:
    return [one.place for one in search.finish().corners]


def test_a_free_way_is_straight(ground: GroundMap, mesh: PathMesh) -> None:
    route = RouteSearch(ground, mesh, (2, 0, 2), (10, 0, 2)).finish()
    assert [one.place for one in route.corners] == [(2, 0, 2), (10, 0, 2)]
    assert route.reaches
    assert route.is_straight


def test_a_fence_is_gone_round(ground: GroundMap, mesh: PathMesh) -> None:
    route = RouteSearch(ground, mesh, START, GOAL).finish()
    assert [one.place for one in route.corners] == [START, (12, 0, 8), (20, 0, 8), GOAL]
    assert route.reaches
    assert not route.is_straight
    assert {one.surface and one.surface.grid for one in route.corners} == {5}


def test_a_removed_fence_is_gone_through(ground: GroundMap, mesh: PathMesh) -> None:
    search = RouteSearch(ground, mesh, START, GOAL, ground.groups_of([77]))
    assert places(search) == [START, GOAL]


def test_without_a_mesh_the_way_is_straight_as_in_the_c_server(ground: GroundMap) -> None:
    route = RouteSearch(ground, None, START, GOAL).finish()
    assert route.corners[0].place == START
    assert route.corners[-1].place == GOAL
    assert not route.reaches
    assert route.is_straight


def test_without_a_map_the_mesh_alone_is_asked(mesh: PathMesh) -> None:
    route = RouteSearch(None, mesh, START, GOAL).finish()
    assert [one.place for one in route.corners] == [START, (12, 0, 8), (20, 0, 8), GOAL]
    assert all(one.surface is None for one in route.corners)


def test_without_both_the_way_is_straight() -> None:
    route = RouteSearch(None, None, START, GOAL).finish()
    assert [one.place for one in route.corners] == [START, GOAL]
    assert not route.reaches


def test_a_goal_beside_the_mesh_is_its_nearest_place(ground: GroundMap, mesh: PathMesh) -> None:
    route = RouteSearch(ground, mesh, START, (16.5, 0.0, 2.0)).finish()
    assert route.corners[-1].place == (20.0, 0.0, 2.0)


def test_far_off_the_mesh_the_way_is_straight(ground: GroundMap, mesh: PathMesh) -> None:
    far = (500.0, 0.0, 500.0)
    assert places(RouteSearch(ground, mesh, START, far)) == [START, far]


def test_a_route_follows_the_ground(tmp_path: Path) -> None:
    """The mesh is flat, the ground is not: points between get the ground's height."""
    ground = opened(tmp_path, [Part([*hills(20), *square((14, -9, 0), (14, 9, 8))])])
    route = RouteSearch(ground, opened_mesh(tmp_path, PLAN), START, GOAL).finish()
    assert not route.is_straight
    assert len(route.corners) >= 4
    for one in route.corners[1:]:
        assert one.surface is not None
        assert one.place[1] == one.surface.y


def test_a_route_is_searched_in_turns(ground: GroundMap, mesh: PathMesh) -> None:
    search = RouteSearch(ground, mesh, START, GOAL)
    turns = 0
    while not search.advance(1):
        assert search.result is None
        turns += 1
    assert turns > 10
    assert search.result == RouteSearch(ground, mesh, START, GOAL).finish()
    assert search.advance(1)


def test_a_turn_ends_where_heights_take_long(
    ground: GroundMap, mesh: PathMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No turn may be long, however many parts of the map a height has to look at."""
    expected = RouteSearch(ground, mesh, START, GOAL).finish()
    search, most = RouteSearch(ground, mesh, START, GOAL), 0
    monkeypatch.setattr(routes, "VISITS_A_TURN", 5)
    is_over = False
    while not is_over:
        before = ground.visits
        is_over = search.advance(1000)
        most = max(most, ground.visits - before)
    assert search.result == expected
    assert 5 <= most <= 10, "one sample asks for a height and a line of sight"


def test_a_map_that_shrinks_meanwhile_ends_no_route(tmp_path: Path, mesh: PathMesh) -> None:
    ground = GroundMap(write_ground(tmp_path, [Part(hills(60))]))
    search = RouteSearch(ground, mesh, START, GOAL)
    assert not search.advance(1)
    os.truncate(tmp_path / "meadow.ground", 2000)
    route = search.finish()
    assert ground.fault
    assert route.corners[-1].place == GOAL
