"""PlayerJourneys: bells that may lead to a task's zone, places to visit, the way back."""

from dataclasses import replace

import pytest

from emu.client.evening.errands import visit
from emu.client.evening.journeys import NO_CHOICE, PlayerJourneys
from emu.client.evening.places import NEAR
from emu.client.evening.seen import SeenSpawn
from emu.client.evening.travels import KnownWay
from emu.client.evening.visits import PastVisits
from emu.client.world.surroundings import RUNNING_SPEED, Place
from emu.client.world.windows import QuestTask
from emu.times import Monotonic
from tests.client.evening.conftest import KnownSpawns, NotingClient, spawn

NOW = Monotonic(1000.0)
SPIDERS = "I must kill five white spiderlings in the caves."
SIGN = KnownWay("to_trial", Place(40.0, 0.0, 0.0))


def task(text: str) -> QuestTask:
    return QuestTask(text, "", False, 0, 1)


def journeys(core: NotingClient, *spawns: SeenSpawn) -> PlayerJourneys:
    known = KnownSpawns(core, *spawns)
    made = PlayerJourneys(
        core, known, PastVisits(), ("Freeport",), lambda place: None if place.x > 900.0 else 0,  # type: ignore[arg-type]
    )  # fmt: skip
    made.arrive("qey_south", "South Qeynos", NOW)
    return made


def test_it_looks_once_where_each_bell_leads_if_it_knows_no_way(core: NotingClient) -> None:
    bells = spawn(6, "mariners_bell", level=0), spawn(7, "mariners_bell", 60.0, level=0)
    one = journeys(core, *bells, spawn(8, "zone_to_antonica", 5.0, level=0))
    first = one.search([task(SPIDERS)], NOW)
    assert first is not None
    assert (first.index, first.what, first.choice) == (6, "use", NO_CHOICE)
    one.use(first, bells[0], NOW)
    one.offered(["Antonica"])
    second = one.search([task(SPIDERS)], NOW)
    assert second is not None
    assert second.index == 7
    assert one.search([task(SPIDERS)], NOW) is None


def test_it_rings_no_bell_if_it_knows_the_way(core: NotingClient) -> None:
    bell = spawn(6, "mariners_bell", level=0)
    one = journeys(core, bell)
    one.travels.offered(KnownWay(bell.name, bell.place), ["The Caves"])
    assert one.knows_where(task(SPIDERS))
    assert one.search([task(SPIDERS)], NOW) is None
    plan = one.journey(task(SPIDERS), NOW)
    assert plan is not None
    assert (plan.index, plan.choice) == (6, "The Caves")


def test_it_goes_back_to_the_zone_of_a_task_that_names_nobody(core: NotingClient) -> None:
    one = journeys(core)
    one.travels.arrive("Citizenship Trial Chamber", SIGN)
    one.travels.arrive("South Qeynos", None)
    judge = task("I need to judge the traitors.")
    plan = one.back(judge, ["citizenship trial chamber"], NOW)
    assert plan is not None
    assert plan.place == SIGN.place
    assert one.back(judge, ["citizenship trial chamber"], NOW) is None
    one.arrive("qey_south", "South Qeynos", NOW)
    assert one.back(judge, ["citizenship trial chamber"], NOW) is None, "wherever it is"


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("I need to visit the gates to South Qeynos.", True),
        ("I need to find the orc's cave.", True),
        ("I must kill the rats.", False),
    ],
)
def test_it_looks_around_its_arrival_for_a_place(
    core: NotingClient, text: str, *, looks: bool
) -> None:
    one = journeys(core)
    one.look()
    plan = one.place_here(task(text), NOW)
    assert (plan is not None) is looks


def test_it_has_the_time_to_reach_a_far_thing_that_a_task_to_visit_names(
    core: NotingClient,
) -> None:
    one = journeys(core, spawn(5, "goblin_tent01", 400.0, level=0))
    plan = one.place_here(task("I need to scout the goblin camp."), NOW)
    assert plan is not None
    away = core.place.distance_to(plan.place)
    assert away > 300.0
    assert plan.until - NOW > away / RUNNING_SPEED


def test_it_goes_to_the_thing_near_which_its_prey_is(core: NotingClient) -> None:
    """A script of Queen's Colony lets the Dark Blademaster come when a player is at the fog."""
    fog = spawn(5, "fog_cube", 60.0, level=0)
    one = journeys(core, fog, spawn(6, "fog_bank", 500.0, level=0))
    one.look()
    plan = one.place_here(task("Kill the Dark Blademaster near the fog on Sapswill Hill."), NOW)
    assert plan is not None
    assert plan.place.distance_to(fog.place) <= NEAR[-1]
    assert one.place_here(task("Kill the Dark Blademaster."), NOW) is None
    assert one.place_here(task("Kill the bees near the hive."), NOW) is None, "no hive is in sight"


def test_it_visits_no_place_of_another_zone_here(core: NotingClient) -> None:
    one = journeys(core)
    one.travels.arrive("The Peat Bog", SIGN)
    one.travels.arrive("South Qeynos", None)
    one.look()
    assert one.place_here(task("I need to visit the gates to the Peat Bog."), NOW) is None


def test_it_takes_each_sign_once_that_names_no_zone_that_it_knows(core: NotingClient) -> None:
    # The second one has come with the quest (SpawnScripts/NorthQeynos).
    one = journeys(
        core, spawn(5, "zone_to_antonica", 5.0, level=0),
        spawn(6, "zone_to_qey_epic01_int_p19_cache", 20.0, level=0),
    )  # fmt: skip
    one.travels.offered(KnownWay("mariners_bell", Place(0.0, 0.0, 0.0)), ["Antonica"])
    plan = one.odd_way(NOW)
    assert plan is not None
    assert (plan.index, plan.what) == (6, "use")
    assert one.odd_way(NOW) is None


def test_it_goes_to_the_sign_of_a_zone_where_it_was_never(core: NotingClient) -> None:
    sign = spawn(6, "zone_to_qey_north", 90.0, level=0)
    one = journeys(core, sign)
    meeting = task("I need to speak with Sir Laughlin in North Qeynos")
    one.look()
    plan = one.journey(meeting, NOW)
    assert plan is not None
    assert (plan.index, plan.what) == (6, "use")
    assert one.knows_where(meeting)


def test_it_reads_where_a_new_sign_leads_before_it_uses_it(core: NotingClient) -> None:
    sign = spawn(6, "zone_to_qey_village02", level=0)
    one = journeys(core, sign)
    for file, description in (
        ("qey_village02", "Starcrest Commune"),
        ("qey_south", "South Qeynos"),
    ):
        one.arrive(file, description, NOW)
    one.look()
    new = one.new_zone(NOW)
    assert new is not None
    assert new.index == 6
    assert not one.leads_back(new, sign, "enter castleview hamlet"), "it was never there"
    assert not one.leads_back(new, sign, "open")
    assert one.leads_back(new, sign, "enter starcrest commune")
    assert one.travels.way_to("starcrest commune") == KnownWay(sign.name, sign.place)
    assert one.new_zone(Monotonic(NOW + 1e6)) is None
    back = one.by(KnownWay(sign.name, sign.place), None, NOW)
    assert not one.leads_back(back, sign, "enter starcrest commune"), "now it means to go there"


def test_who_is_lost_goes_first_where_windows_lead(core: NotingClient) -> None:
    bell, sign = spawn(6, "mariners_bell", level=0), spawn(7, "zone_to_antonica", level=0)
    one = journeys(core, bell, sign)
    one.look()
    one.travels.offered(KnownWay(bell.name, bell.place), ["The Baubbleshire"])
    plans = one.new_zone(NOW, is_lost=True), one.new_zone(NOW, is_lost=True)
    assert [plan.index for plan in plans if plan is not None] == [6, 7]
    later = Monotonic(NOW + 1e6)
    plans = one.new_zone(later), one.new_zone(later)
    assert [plan.index for plan in plans if plan is not None] == [7, 6]


def test_a_sign_may_lead_to_another_part_of_the_city(core: NotingClient) -> None:
    bell, wild = spawn(6, "mariners_bell", level=0), spawn(7, "zone_to_commonlands", level=0)
    tunnel = spawn(8, "zone_to_fprt_west_tunnel", 50.0, level=0)
    one = journeys(core, bell, wild, tunnel)
    one.arrive("fprt_east", "East Freeport", NOW)
    one.look()
    one.travels.offered(KnownWay(bell.name, bell.place), ["Big Bend"])
    plan = one.new_part_of_city(NOW)
    assert plan is not None
    assert plan.index == 8
    assert one.new_part_of_city(NOW) is None


def test_who_has_given_a_task_is_not_where_another_person_is_who_has_a_full_name(
    core: NotingClient,
) -> None:
    one = journeys(core)
    one.arrive("fprt_north", "North Freeport", NOW)
    one.travels.look([spawn(4, "Emissary Millia")])
    group = "Emissary Millia wants me to act the fool here in the city."
    other = QuestTask("I should dance before Grum Zoomly.", group, False, 0, 1)
    assert one.zones_of(other) == []
    assert not one.knows_where(other)
    hunt = QuestTask("I need to kill five Darkblade Scouts.", group, False, 0, 5)
    assert one.zones_of(hunt) == []
    one.travels.arrive("The Thieves' Way", None)
    one.travels.look([spawn(5, "a Darkblade scout", is_enemy=True)])
    assert one.zones_of(hunt) == ["thieves' way"]
    same = QuestTask("I should show her my dance.", group, False, 0, 1)
    assert one.zones_of(same) == ["north freeport"]


def test_it_takes_a_sign_back_to_whom_it_has_met(core: NotingClient) -> None:
    # The trial chamber lets a citizen out into North Freeport, and nothing leads back there.
    one = journeys(core, spawn(5, "zone_to_fprt_north", level=0))
    one.arrive("fprt_north", "North Freeport", NOW)
    one.travels.look([spawn(4, "Emissary Millia")])
    one.arrive("fprt_hood04", "Beggar's Court", NOW)
    one.look()
    report = task("I need to speak with Emissary Millia")
    assert one.knows_where(report)
    plan = one.journey(report, NOW)
    assert plan is not None
    assert (plan.index, plan.leaves) == (5, True)


def test_it_looks_for_another_way_if_a_thing_does_nothing(core: NotingClient) -> None:
    hole = spawn(6, "fprt_manhole_hood_to_sewer01", level=0)
    one = journeys(core, hole, spawn(7, "mariners_bell", 50.0, level=0))
    one.arrive("fprt_sewer01", "The Thieves' Way", NOW)
    one.arrive("freeport_combined", "The City of Freeport", NOW)
    new = visit(hole, "use", NOW)
    assert one.leads_back(new, hole, "enter thieves' way")
    hunt = task("I need to kill five scouts in the Thieves' Way.")
    back = one.journey(hunt, NOW)
    assert back is not None
    one.use(back, hole, NOW)
    one.read("Nothing happens.")
    assert one.journey(hunt, Monotonic(NOW + 1e6)) is None
    bell = one.search([hunt], NOW)
    assert bell is not None
    assert bell.index == 7


@pytest.mark.parametrize(
    ("text", "is_of_no_use"),
    [
        ("I need to help Selennia near the two southern guard towers in Antonica.", True),
        ("I need to locate the gates to South Qeynos.", False),
    ],
)
def test_a_sign_is_meant_by_where_it_leads_only(
    core: NotingClient, text: str, *, is_of_no_use: bool
) -> None:
    sign = spawn(5, "zone_to_qey_south", level=0)
    one = journeys(core, sign)
    one.arrive("antonica", "Antonica", NOW)
    assert one.is_of_no_use(sign, task(text), text) is is_of_no_use


@pytest.mark.parametrize(
    ("text", "thing", "is_of_no_use"),
    [
        ("I need to take these goblin blood samples to Mizan.", "goblin_tent01", True),
        ("I need to enter Mizan's cellar.", "mizan_cellar", False),
        ("I must kill the goblins for Mizan.", "goblin_tent01", True),
        ("I need to burn the goblin camp for Mizan.", "goblin_tent01", False),
    ],
)
def test_a_thing_with_one_word_of_a_text_is_not_meant_beside_a_person(
    core: NotingClient, text: str, thing: str, *, is_of_no_use: bool
) -> None:
    known = spawn(5, thing, level=0)
    one = journeys(core, known)
    unknown = "I need to take the goblin blood to Ilgar."
    assert not one.is_of_no_use(known, task(unknown), unknown), "it knows no Ilgar"
    one.travels.look([spawn(4, "Spellmaster Mizan")])
    assert one.is_of_no_use(known, task(text), text) is is_of_no_use


def test_it_surveys_the_side_of_a_zone_first_that_a_task_names(core: NotingClient) -> None:
    north, south = Place(0.0, 0.0, -80.0), Place(0.0, 0.0, 200.0)
    spawns = [replace(spawn(at, "a rat"), place=to) for at, to in enumerate((north, south), 5)]
    text = "I need to help Selennia near the southern guard towers in Antonica."
    for tasks, place in (((), north), ((task(text),), south)):
        one = journeys(core, *spawns)
        one.arrive("antonica", "Antonica", NOW)
        one.look()
        plan = one.far_place(NOW, tasks)
        assert plan is not None
        assert plan.place == place


def test_a_side_counts_for_all_tasks_below_one_text(core: NotingClient) -> None:
    one = journeys(core, *(replace(spawn(5, "a rat"), place=Place(0.0, 0.0, -80.0)),))
    one.arrive("antonica", "Antonica", NOW)
    one.look()
    guards = QuestTask("Help Selennia in southern Antonica.", "Help the soldiers.", False, 0, 1)
    assert one.far_place(NOW, (guards,)) is not None
    more = (Place(0.0, 0.0, -160.0), Place(0.0, 0.0, 300.0))
    for at, to in enumerate(more, 6):
        one.exploration.look(Place(0.0, 0.0, 0.0), [replace(spawn(at, "a rat"), place=to)])
    plan = one.far_place(NOW, (replace(guards, text="Help Homrie in Antonica."),))
    assert plan is not None
    assert plan.place == more[1]
