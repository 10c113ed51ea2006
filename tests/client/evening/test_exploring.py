"""Where a player has seen spawns, and where it was."""

from emu.client.evening.exploring import CELL, Exploration
from emu.client.world.surroundings import Place
from tests.client.evening.conftest import spawn

ISLE, CELLAR = "tutorial_island02", "tutorial_island02_epic02"
HERE = Place(1.0, 0.0, 1.0)


def at(cells: float) -> Place:
    return Place(cells * CELL + 1.0, 0.0, 0.0)


def entered(zone: str = ISLE) -> Exploration:
    made = Exploration()
    made.enter(zone)
    return made


def test_it_goes_to_the_nearest_square_where_it_was_not() -> None:
    one = entered()
    one.look(HERE, [spawn(4, "far", at(5).x), spawn(5, "near", at(3).x), spawn(6, "here", 2.0)])
    assert one.next_place(HERE) == at(3)
    assert one.next_place(HERE) == at(5)


def test_it_goes_to_dangerous_places_last_and_to_some_never() -> None:
    one = entered()
    dangers = {at(3): 2, at(4): 1, at(5): 0, at(6): None}
    one.look(HERE, [spawn(at_, "one", place.x) for at_, place in enumerate(dangers)])
    assert [one.next_place(HERE, dangers.get) for _ in dangers] == [at(5), at(4), at(3), None]


def test_a_ghost_without_a_place_is_nowhere_to_go() -> None:
    # Qeynos Harbor has some, and the way to its origin is a quarter of a mile.
    one = entered()
    one.look(at(9), [spawn(4, "a widget", 0.0)])
    assert one.next_place(at(9)) is None


def test_squares_out_of_sight_are_remembered() -> None:
    one = entered()
    one.look(HERE, [spawn(4, "far", at(5).x)])
    one.look(at(1), [])
    assert one.next_place(at(1)) == at(5)


def test_a_zone_that_was_seen_begins_anew() -> None:
    one = entered()
    one.look(HERE, [spawn(4, "near", at(3).x)])
    assert not one.has_seen_all
    assert one.next_place(HERE) == at(3)
    assert one.next_place(at(3)) is None
    assert one.has_seen_all
    assert one.next_place(HERE) == at(3)


def test_who_looks_for_people_passes_by_at_a_distance() -> None:
    one = entered()
    one.look(HERE, [spawn(4, "near", at(2).x), spawn(5, "far", at(4).x)])
    assert one.next_far_place(HERE) == at(4)
    assert not one.has_surveyed
    assert one.next_far_place(at(4)) is None
    assert one.has_surveyed
    assert not one.has_seen_all
    assert one.next_place(HERE) == at(2)


def test_each_zone_is_another_one() -> None:
    one = entered()
    one.look(HERE, [spawn(4, "near", at(3).x)])
    one.enter(CELLAR)
    assert one.next_place(HERE) is None
    one.enter(ISLE)
    assert not one.has_seen_all
    assert one.next_place(HERE) == at(3)
