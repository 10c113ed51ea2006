from emu.world.zones.definitions import Start, best_start
from tests.support.world.world_fakes import world_character


def test_an_empty_condition_fits_every_character() -> None:
    assert Start(1).fits(world_character(1))
    assert Start(1).conditions == 0


def test_every_condition_must_hold() -> None:
    start = Start(1, classes=frozenset((3,)), races=frozenset((4,)))
    assert start.fits(world_character(1, class_=3, race=4))
    assert not start.fits(world_character(1, class_=3, race=5))
    assert not start.fits(world_character(1, class_=2, race=4))


def test_city_deity_and_version_are_conditions() -> None:
    city = Start(1, cities=frozenset((2,)))
    deity = Start(1, deities=frozenset((1,)))
    version = Start(1, versions=(546, 561))
    assert city.fits(world_character(1, starting_zone=2))
    assert not city.fits(world_character(1, starting_zone=1))
    assert deity.fits(world_character(1, deity=1))
    assert not deity.fits(world_character(1, deity=0))
    assert [
        version.fits(world_character(1, client_version=one)) for one in (545, 546, 561, 562)
    ] == [False, True, True, False]


def test_the_row_that_names_the_most_counts_and_the_first_of_those() -> None:
    rows = [
        Start(1),
        Start(2, classes=frozenset((3,))),
        Start(3, races=frozenset((4,))),
        Start(4, classes=frozenset((3,)), races=frozenset((5,))),
    ]
    best = best_start(rows, world_character(1, class_=3, race=4))
    assert best is rows[1]
    assert best_start(rows, world_character(1, class_=3, race=5)) is rows[3]
    assert best_start(rows, world_character(1, class_=9, race=9)) is rows[0]
    assert best_start(rows[1:], world_character(1, class_=9, race=9)) is None
