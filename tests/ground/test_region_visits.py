"""The regions that one player is in. Rules: docs/protocol/maps.md#region-scripts."""

from emu.ground.region_visits import INTERVAL, RegionVisit, RegionVisits, Visit
from emu.ground.regions import Region, Substance, ZoneRegions
from tests.support.ground.region_bytes import LAVA, pool

POND = pool((0, -1, 0), (4, 1, 4))
LAKE = pool((4, -1, 0), (8, 1, 4), kind=1, special=LAVA, file="lava.region")
IN_POND, IN_LAKE, NEAR, FAR = (1, 0, 1), (5, 0, 1), (2, 5, 2), (500, 0, 500)


def visits(*regions: Region) -> RegionVisits:
    return RegionVisits(ZoneRegions(regions or (POND, LAKE)))


def go(one: RegionVisits, place: tuple[float, float, float], now: float) -> list[RegionVisit]:
    one.moved(place)
    return one.handle_timer(now)


def test_a_player_enters_and_leaves_a_volume() -> None:
    one = visits()
    assert go(one, NEAR, 0.0) == []
    assert go(one, IN_POND, 1.0) == [RegionVisit(Visit.ENTERED, POND, Substance.WATER)]
    assert go(one, (2, 0, 2), 2.0) == [], "he is in it already"
    assert one.inside == [POND]
    assert go(one, NEAR, 3.0) == [RegionVisit(Visit.LEFT, POND, Substance.WATER)]
    assert one.inside == []


def test_a_sphere_that_is_left_in_one_step_is_lost() -> None:
    """As in the C++ server, which calls no LeaveRegion then."""
    one = visits()
    go(one, IN_POND, 0.0)
    assert go(one, FAR, 1.0) == [RegionVisit(Visit.LOST, POND, Substance.WATER)]
    assert one.inside == []
    assert go(one, IN_POND, 2.0) == [RegionVisit(Visit.ENTERED, POND, Substance.WATER)]


def test_from_region_to_region_both_events_come() -> None:
    one = visits()
    go(one, IN_POND, 0.0)
    assert go(one, IN_LAKE, 1.0) == [
        RegionVisit(Visit.LEFT, POND, Substance.WATER),
        RegionVisit(Visit.ENTERED, LAKE, Substance.LAVA),
    ]


def test_checks_are_eight_a_second_and_none_is_lost() -> None:
    one = visits()
    go(one, NEAR, 10.0)
    assert go(one, IN_POND, 10.05) == []
    assert one.get_timer() == 10.0 + INTERVAL
    assert one.handle_timer(10.0 + INTERVAL) != []
    assert one.get_timer() is None, "a player who stands costs nothing"


def test_a_removed_region_is_lost() -> None:
    one = RegionVisits(ZoneRegions([POND, LAKE]))
    go(one, IN_LAKE, 0.0)
    one.regions = ZoneRegions([POND])
    assert go(one, IN_LAKE, 1.0) == [RegionVisit(Visit.LOST, LAKE, Substance.LAVA)]
    assert one.inside == []


def test_a_widget_s_region_is_on_the_widget_or_near_it() -> None:
    """CreateWidgetRegion: the grid must be that of the region."""
    region = Region(1, -1, (0, 0, 0), 5.0, "", "trap", 3, widget=77)
    one = visits(region)
    one.moved((99, 0, 0), 4, 77)
    assert one.handle_timer(0.0) == []
    one.moved((99, 0, 0), 3, 77)
    assert [event.visit for event in one.handle_timer(1.0)] == [Visit.ENTERED]
    one.moved((1, 0, 0), 3, 0)
    assert one.handle_timer(2.0) == [], "off the widget, and still in its sphere"
    one.moved((99, 0, 0), 3, 0)
    assert [event.visit for event in one.handle_timer(3.0)] == [Visit.LEFT]
