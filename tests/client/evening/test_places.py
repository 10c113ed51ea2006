"""The search for a place that a task names: around where the player has arrived."""

from emu.client.evening.places import NEAR, POINTS, RINGS, PlaceSearch
from emu.client.world.surroundings import Place

# Nettleville's sign leads to the first place; the quest's step is done within 15 of the second, by
# the sum of the differences (Quests/Hallmark/welcome_to_qeynos_Nettleville.lua, table signs).
ARRIVAL, GATES = Place(572.2, -26.0, 403.8), Place(565.6, -27.25, 415.96)
WIDTH = 15.0


def test_a_point_around_the_arrival_is_where_the_gates_are() -> None:
    search = PlaceSearch()
    search.stand(ARRIVAL)
    search.stand(GATES)  # the first place counts
    points = [search.next_place("bog", "") for _ in range(len(RINGS) * POINTS)]
    assert search.next_place("bog", "") is None
    away = [
        abs(one.x - GATES.x) + abs(one.y - GATES.y) + abs(one.z - GATES.z)
        for one in points if one is not None
    ]  # fmt: skip
    assert min(away) < WIDTH
    assert len(away) == len(points)


def test_another_zone_has_its_own_points() -> None:
    search = PlaceSearch()
    assert search.next_place("bog", "") is None
    search.stand(ARRIVAL)
    first = search.next_place("bog", "")
    search.arrive()
    search.stand(Place(0.0, 0.0, 0.0))
    assert search.next_place("village", "") != first


def test_a_point_around_the_sign_that_a_task_names_is_where_the_step_is_done() -> None:
    # The sign of the gates to North Freeport stands at the first place (table placements); the
    # step is done within 10 of the second (Quests/Hallmark/welcome_to_freeport__beggars_court.lua).
    sign, gates, width = Place(68.30, -3.08, 117.03), Place(65.73, -7.08, 108.75), 10.0
    search = PlaceSearch()
    assert search.next_near("court", "gates", sign) is None
    search.look_near("court", "gates", sign)
    search.look_near("court", "gates", gates)
    points = [search.next_near("court", "gates", sign) for _ in range(len(NEAR) * POINTS)]
    assert search.next_near("court", "gates", sign) is None, "the gates are beside the sign"
    assert any(_apart(one, gates) < width for one in points)


def test_a_point_between_the_tents_of_a_camp_is_where_it_is_scouted() -> None:
    # Two tents of the table placements; the step is done within 14 of the third place
    # (Quests/IsleofRefuge/scouting_the_goblin_camp.lua).
    near, far = Place(225.64, -0.79, -195.59), Place(266.72, -7.04, 106.44)
    camp, width = Place(195.26, -0.68, -188.07), 14.0
    search = PlaceSearch()
    search.look_near("isle", "camp", far)
    search.look_near("isle", "camp", near)
    points = [search.next_near("isle", "camp", near) for _ in range(2 * len(NEAR) * POINTS)]
    assert any(_apart(one, camp) < width for one in points[: len(NEAR) * POINTS])
    assert all(one is not None and one.distance_to(near) < 50.0 for one in points[:8])


def _apart(one: Place | None, other: Place) -> float:
    """Return how far a point is from a place as steps measure it."""
    assert one is not None
    return abs(one.x - other.x) + abs(one.y - other.y) + abs(one.z - other.z)
