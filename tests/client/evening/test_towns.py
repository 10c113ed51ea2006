"""The search through towns for somebody whom a task names, or who gives a quest."""

from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.seen import SeenSpawn
from emu.client.evening.towns import TownSearch
from emu.client.evening.travels import KnownWay
from emu.client.evening.tries import Tries
from emu.client.evening.visits import PastVisits
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn
from tests.client.evening.quest_scenes import NOW, Scene, hunter, zone

TASK = "I should dance before Grum Zoomly of the Back Alley Brewhouse."


def search(core: NotingClient, *spawns: SeenSpawn) -> tuple[TownSearch, PlayerJourneys]:
    visits = PastVisits()
    one = PlayerJourneys(core, KnownSpawns(core, *spawns), visits, (), lambda _place: 0)  # type: ignore[arg-type]
    tries = Tries(Scene(core).questing.agenda, one, visits)
    return TownSearch(one, tries, visits), one


def test_who_seeks_somebody_sees_a_new_part_of_a_city_as_a_whole(core: NotingClient) -> None:
    towns, journeys = search(core, spawn(4, "Merchant Ann"), spawn(5, "a crate", 300.0, level=0))
    journeys.arrive("fprt_west", "West Freeport", NOW)
    journeys.look()
    plan = towns.way(NOW, takes_quests=False)
    assert plan is not None
    assert plan.place.x == 300.0
    assert towns.way(NOW, takes_quests=True) is None, "one person makes no town"


def test_who_seeks_somebody_goes_back_to_where_it_has_met_few_people(core: NotingClient) -> None:
    tunnel = spawn(6, "zone_to_fprt_west_tunnel", 20.0, level=0)
    towns, journeys = search(core, tunnel)
    journeys.travels.arrive("West Freeport", None)
    journeys.travels.look([spawn(4, "Merchant Ann")])
    journeys.arrive("fprt_east", "East Freeport", NOW)
    journeys.travels.offered(KnownWay(tunnel.name, tunnel.place), ["West Freeport"])
    plan = towns.way(NOW, takes_quests=False)
    assert plan is not None
    assert plan.index == 6
    assert towns.way(NOW, takes_quests=False) is None, "not at once again"


def test_who_seeks_somebody_goes_first_to_another_part_of_the_city(core: NotingClient) -> None:
    bell, tunnel = spawn(6, "mariners_bell", level=0), spawn(7, "zone_to_fprt_west", 50.0, level=0)
    towns, journeys = search(core, bell, tunnel)
    journeys.travels.arrive("The Ruins", None)
    journeys.travels.look([spawn(4, "Captain Arellius")])
    journeys.arrive("fprt_east", "East Freeport", NOW)
    journeys.look()
    journeys.travels.offered(KnownWay(bell.name, bell.place), ["Big Bend", "The Ruins"])
    plans = [towns.way(NOW, takes_quests=False) for _ in range(3)]
    choices = [(plan.index, plan.choice) for plan in plans if plan is not None]
    assert choices == [(7, ""), (6, "The Ruins"), (6, "Big Bend")]


def test_a_hunter_looks_elsewhere_for_somebody_with_a_full_name(core: NotingClient) -> None:
    tunnel = spawn(6, "zone_to_fprt_west_tunnel", 20.0, level=0)
    scene = hunter(core, tunnel)
    scene.questing.handle_event(zone("fprt_east", "East Freeport"), NOW)
    scene.now = Monotonic(NOW + 10.0)
    scene.task(TASK, category="Hallmark")
    assert "use 6 enter" in scene.thinks(("enter", "Enter"), times=6)


def test_a_hunter_looks_first_around_where_the_task_has_come_up(core: NotingClient) -> None:
    tunnel, far = spawn(6, "zone_to_fprt_west", 20.0, level=0), spawn(7, "a crate", 300.0, level=0)
    scene = hunter(core, tunnel, far)
    scene.questing.handle_event(zone("fprt_east", "East Freeport"), NOW)
    scene.now = Monotonic(NOW + 10.0)
    scene.task(TASK, category="Hallmark")
    scene.thinks(times=2)
    assert core.place.x > 250.0
