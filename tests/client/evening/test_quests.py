"""The next errand of a player: whom a task names, marks, names that it has not met."""

import pytest

from emu.client.evening.agenda import SET_ASIDE
from emu.client.evening.errands import TALK_REACH
from emu.client.evening.fears import FEARED
from emu.client.evening.quests import LOOKS_AROUND, MOST_KILLS, Questing
from emu.client.evening.travels import KnownWay
from emu.client.world.events import DialogOpened, LineShown, ScreenShown
from emu.client.world.surroundings import Place
from emu.client.world.windows import (
    Good,
    GoodsShown,
    JournalListed,
    QuestRow,
    QuestShown,
    QuestTask,
)
from emu.times import Monotonic
from tests.client.evening.conftest import NotingClient, spawn
from tests.client.evening.quest_scenes import HAIL, NOW, SHOP, Scene, zone


def test_it_hails_whom_a_task_names(core: NotingClient) -> None:
    scene = Scene(core, spawn(4, "Ingrid"), spawn(5, "Waulon", 30.0))
    scene.task("I should speak to Waulon.")
    assert scene.thinks(HAIL, times=4) == ["target 5", "ask_verbs 5", "command hail"]


def test_it_stands_within_hearing_of_somebody_who_walks_on(core: NotingClient) -> None:
    scene = Scene(core, spawn(5, "Waulon", 30.0))
    scene.task("I should speak to Waulon.")
    scene.thinks(HAIL, times=1)
    # Two units in the second until the hail; scripts hear one within five.
    scene.spawns.by_index[5] = spawn(5, "Waulon", 32.0)
    assert scene.thinks(HAIL, times=3)[-1] == "command hail"
    assert core.place.distance_to(Place(32.0, 0.0, 0.0)) <= TALK_REACH


def test_it_does_not_take_a_signpost_for_whom_it_looks(core: NotingClient) -> None:
    post, monument = spawn(5, "qeynos_sign_post01", level=0), spawn(6, "qeynos_claymore", level=0)
    scene = Scene(core, post, monument)
    scene.questing.handle_event(zone("qey_south", "South Qeynos"), NOW)
    scene.now = Monotonic(NOW + LOOKS_AROUND)
    scene.task("I need to speak with Lieutenant Ilgar in South Qeynos.")
    scene.task("I need to sketch the Qeynos Claymore.", number=8)
    asked = scene.thinks(("sketch", "Sketch"), times=4)
    assert asked[:3] == ["target 6", "ask_verbs 6", "use 6 sketch"]
    assert "target 5" not in asked[:3]


def test_a_thing_may_be_meant_by_another_word(core: NotingClient) -> None:
    scene = Scene(core, spawn(5, "widget_player_housing_0", level=0))
    scene.task("I should find my inn.")
    asked = scene.thinks(("access", "Access"), times=4)
    assert asked[:3] == ["target 5", "ask_verbs 5", "use 5 access"]


def test_it_does_not_ring_the_bell_of_the_zone_that_a_task_names(core: NotingClient) -> None:
    scene = Scene(core, spawn(5, "mariners_bell", level=0))
    scene.task("I need to use the mariner's bells near the docks to get to the Ruins.")
    scene.questing.handle_event(zone("fprt_adv04_ruins", "The Ruins"), NOW)
    scene.now = Monotonic(NOW + LOOKS_AROUND)
    assert "target 5" not in scene.thinks(("travel", "Travel"), times=20)
    assert core.place.distance_to(Place(0.0, 0.0, 0.0)) > 5.0, "it looks for the place"
    scene.questing.handle_event(zone("fprt_hood04", "Beggar's Court"), scene.now)
    scene.now = Monotonic(scene.now + LOOKS_AROUND)
    assert "target 5" in scene.thinks(("travel", "Travel"), times=2)


def test_it_looks_around_where_it_has_come_into_a_zone(core: NotingClient) -> None:
    # Its ghosts come one by one: with the first of them a zone is not seen as a whole.
    scene = Scene(core, spawn(5, "Waulon", 30.0))
    scene.task("I should speak to Waulon.")
    scene.questing.handle_event(zone("qey_south", "South Qeynos"), NOW)
    assert scene.thinks(HAIL, times=1) == []
    scene.now = Monotonic(NOW + LOOKS_AROUND)
    assert "target 5" in scene.thinks(HAIL, times=2)


def test_it_fights_whom_a_task_names_if_that_is_not_too_strong(core: NotingClient) -> None:
    scene = Scene(
        core, spawn(4, "a rat", level=9, is_enemy=True), spawn(5, "a rat", 30.0, is_enemy=True)
    )
    scene.task("I must kill the rats.")
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5


def test_it_fights_what_resembles_a_task_if_what_it_names_is_too_strong(
    core: NotingClient,
) -> None:
    gnoll = spawn(5, "a dankfur gnoll", level=14, is_enemy=True)
    tent, youth = spawn(6, "gnoll_tent", level=0), spawn(7, "a Darkpaw youth", is_enemy=True)
    scene = Scene(core, gnoll, tent, youth)
    scene.task("I must kill one gnoll", "Dagorel wants me to kill a Darkpaw Gnoll Pup.")
    scene.thinks(times=2)
    assert scene.fighting.enemy == 7
    assert "target 6" not in core.asked


def test_it_does_not_go_back_to_where_too_strong_an_enemy_is(core: NotingClient) -> None:
    scene = Scene(core)
    scene.task("I must kill one gnoll")
    scene.spawns.remembered = {"a dankfur gnoll": Place(100.0, 0.0, 0.0)}
    travels = scene.questing.journeys.travels
    travels.look([spawn(5, "a dankfur gnoll", level=14, is_enemy=True)])
    scene.thinks(times=2)
    assert core.place.x == 0.0
    travels.look([spawn(5, "a dankfur gnoll", level=3, is_enemy=True)])
    scene.thinks(times=2)
    assert core.place.x > 90.0


def test_it_goes_where_it_has_seen_whom_a_task_names(core: NotingClient) -> None:
    scene = Scene(core)
    scene.spawns.remembered["Waulon"] = Place(200.0, 0.0, 0.0)
    scene.task("I should speak to Waulon.")
    scene.thinks(times=2)
    assert core.place.x > 150.0


def test_it_goes_to_a_mark_but_not_to_a_refused_name(core: NotingClient) -> None:
    scene = Scene(
        core, spawn(4, "Envoy of Freeport", 5.0, mark=1), spawn(5, "Anikra", 30.0, mark=1)
    )
    asked = scene.thinks(HAIL, times=8)
    assert "target 5" in asked
    assert "target 4" not in asked


def test_it_sells_something_to_buy_what_a_task_names(core: NotingClient) -> None:
    class Bags:
        coins = 5

        def things(self, _which: int = 0) -> list[object]:
            return [type("Thing", (), {"unique": 77, "menu": 2})()]

    core.possessions = Bags()
    scene = Scene(core, spawn(5, "Vim"))
    scene.task("I should buy the shard from Vim.", "Ingrid wants a Shard of Luclin.")
    assert "use 5 frommerchant" in scene.thinks(SHOP, HAIL, times=4)
    shard, letter = Good(12, 0, "Shard of Luclin", 36, 0), Good(9, 77, "a letter", 40, 0)
    scene.questing.handle_event(GoodsShown(5, 1, (shard,)), scene.now)
    scene.questing.handle_event(GoodsShown(5, 2, (letter,)), scene.now)
    assert core.asked[-1] == "command sell_to_merchant 9 1"
    Bags.coins = 45
    scene.now = Monotonic(scene.now + 20.0)
    scene.thinks(SHOP, HAIL, times=4)
    scene.questing.handle_event(GoodsShown(5, 1, (shard,)), scene.now)
    assert core.asked[-1] == "command buy_from_merchant 12 1"


def test_it_may_leave_when_it_knows_the_zone_and_has_no_quest(core: NotingClient) -> None:
    scene = Scene(core)
    assert not scene.questing.may_leave
    scene.thinks(times=3)
    assert scene.questing.may_leave
    scene.task("I should speak to Waulon.")
    assert not scene.questing.may_leave


def test_a_quest_that_does_not_advance_is_no_reason_to_stay(core: NotingClient) -> None:
    scene = Scene(core)
    scene.task("I need to find the orc's cave.")
    scene.thinks(times=3)
    assert not scene.questing.may_leave
    scene.now = Monotonic(scene.now + SET_ASIDE)
    scene.thinks(times=3)
    assert scene.questing.may_leave


def test_it_kills_no_more_of_a_name_for_a_task_that_does_not_advance(core: NotingClient) -> None:
    # It is too strong to be fought for experience alone.
    scene = Scene(core, spawn(5, "a rat", level=4, is_enemy=True))
    scene.task("I need to find a pristine rat tail.")
    fights = 0
    for _ in range(MOST_KILLS + 5):
        scene.thinks(times=1)
        fights += scene.fighting.enemy is not None
        scene.fighting.enemy = None
    assert fights == MOST_KILLS


def test_it_goes_to_whom_a_line_names(core: NotingClient) -> None:
    scene = Scene(core, spawn(4, "Ingrid"), spawn(5, "Ambassador Saera", 60.0))
    line = "Speak with an Ambassador if you are ready to leave the island."
    scene.questing.handle_event(ScreenShown(line), NOW)
    assert scene.thinks(HAIL, times=4) == ["target 5", "ask_verbs 5", "command hail"]


def test_it_looks_for_the_way_out_of_a_zone_without_levels(core: NotingClient) -> None:
    bell = spawn(6, "Leave the Isle of Refuge", 60.0, level=0)
    scene = Scene(core, spawn(4, "Ingrid", mark=1), bell)
    line = "You must leave the Isle to gain levels."
    scene.questing.handle_event(ScreenShown(line), NOW)
    assert scene.questing.may_leave
    asked = scene.thinks(("leave the isle", "Leave"), times=3)
    assert asked == ["target 6", "ask_verbs 6", "use 6 leave the isle"]


def test_it_travels_to_the_zone_of_a_task(core: NotingClient) -> None:
    bell = spawn(6, "mariners_bell", 60.0, level=0)
    scene = Scene(core, bell)
    questing = scene.questing
    questing.handle_event(zone("qey_village01", "Nettleville Hovel"), NOW)
    questing.journeys.travels.offered(KnownWay(bell.name, bell.place), ["The Willow Wood"])
    scene.task("I need to find Tawli in Willow Wood.")
    scene.now = Monotonic(NOW + LOOKS_AROUND)
    asked = scene.thinks(("travel within qeynos", "Travel"), times=3)
    assert asked == ["target 6", "ask_verbs 6", "use 6 travel within qeynos"]
    assert questing.journeys.wanted == "The Willow Wood"
    questing.handle_event(zone("qey_village05", "The Willow Wood"), scene.now)
    assert questing.journeys.wanted == ""
    assert questing.journeys.travels.zone == "willow wood"


def test_it_may_leave_by_what_it_uses_to_go_to_another_zone(core: NotingClient) -> None:
    # The sign that it means to take asks whether it wants to leave.
    scene = Scene(core, spawn(5, "exit_4", 20.0, level=0), spawn(6, "Waulon", 400.0))
    gate = KnownWay("exit_4", Place(20.0, 0.0, 0.0))
    for there, used in (("Nettleville", None), ("Peat Bog", gate), ("Nettleville", None)):
        scene.questing.journeys.travels.arrive(there, used)
    scene.task("I must find the frog of the Peat Bog.")
    assert not scene.questing.may_leave
    assert "use 5 enter" in scene.thinks(("enter", "Enter"), times=5)
    assert scene.questing.may_leave


def test_it_leaves_a_cellar_by_a_way_that_it_has_taken_in_vain(core: NotingClient) -> None:
    ladder = spawn(6, "Ladder", 8.0, level=0)
    scene = Scene(core, ladder)
    for number in range(3):
        scene.questing.handle_event(zone(f"isle {number}", "Isle"), scene.now)
        scene.questing.handle_event(zone("cellar", "Cellar"), scene.now)
        asked = scene.thinks(("leave", "Leave"), times=400)
        assert "use 6 leave" in asked


def test_any_creature_will_do_if_a_task_says_so(core: NotingClient) -> None:
    scene = Scene(
        core, spawn(4, "a bog slug", 60.0, is_enemy=True), spawn(5, "a shriller", is_enemy=True),
        spawn(6, "a bear", 2.0, level=9, is_enemy=True),
    )  # fmt: skip
    scene.task("Gather five tokens from the creatures in the Peat Bog.")
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5


def test_creatures_of_another_zone_will_not_do(core: NotingClient) -> None:
    scene = Scene(core, spawn(5, "a Big Bend rat", is_enemy=True))
    scene.fighting.level = 9  # such a rat gives no experience
    travels = scene.questing.journeys.travels
    travels.arrive("Big Bend", None)
    travels.offered(KnownWay("mariners_bell", Place(30.0, 0.0, 0.0)), ["Sunken City"])
    scene.task("Gather five tokens from the creatures in the Sunken City.")
    scene.thinks(times=3)
    assert scene.fighting.enemy is None
    travels.arrive("Sunken City", None)
    for _ in range(MOST_KILLS):
        scene.fighting.enemy = None
        scene.thinks(times=2)
        assert scene.fighting.enemy == 5
    scene.fighting.enemy = None
    scene.thinks(times=2)
    assert scene.fighting.enemy is None, "eight of a name are enough"


def test_it_goes_to_one_zone_after_the_other_that_may_have_what_a_task_names(
    core: NotingClient,
) -> None:
    sign = spawn(4, "to_qey_citizenship_trial")
    scene = Scene(core)
    travels = scene.questing.journeys.travels
    bell, gate = KnownWay("bell", Place(30.0, 0.0, 0.0)), KnownWay("gate", Place(90.0, 0.0, 0.0))
    for there in ("Willow Wood", "Graystone Yard"):
        travels.arrive(there, None)
        travels.look([sign])
    travels.arrive("The Peat Bog", None)
    travels.offered(bell, ["Willow Wood"])
    travels.offered(gate, ["Graystone Yard"])
    scene.spawns.by_index = {5: spawn(5, "bell", 30.0), 6: spawn(6, "gate", 90.0)}
    scene.task("I need to enter the citizenship trial.")
    asked = scene.thinks(("access", "Access"), times=12)
    assert [one for one in asked if one.startswith("use")][:2] == ["use 5 access", "use 6 access"]


def test_it_takes_anybody_of_the_zone_for_a_task_that_came_up_there_and_names_nobody(
    core: NotingClient,
) -> None:
    scene = Scene(
        core, spawn(4, "a Freeport partisan", 5.0, level=2),
        spawn(5, "a mole", 10.0, is_enemy=True), spawn(6, "a giant", 10.0, level=9, is_enemy=True),
    )  # fmt: skip
    scene.task("I need to judge the traitors.")
    scene.questing.journeys.exploration.rounds[""] = 1
    assert "target 4" in scene.thinks(HAIL, times=4)
    scene.thinks(times=4)
    assert scene.fighting.enemy == 5


def test_it_fights_whom_a_talk_has_made_an_enemy_before_it_talks_to_the_next(
    core: NotingClient,
) -> None:
    # The traitors of the trial become attackable at the end of their talk.
    scene = Scene(core, spawn(4, "a refugee", 5.0, level=2), spawn(6, "a partisan", 9.0, level=2))
    scene.task("I need to judge the traitors.")
    scene.questing.journeys.exploration.rounds[""] = 1
    assert scene.thinks(HAIL, times=3)[-1] == "command hail"
    scene.spawns.by_index[4] = spawn(4, "a refugee", 5.0, level=2, is_enemy=True)
    assert "target 6" not in scene.thinks(HAIL, times=2)
    assert scene.fighting.enemy == 4


def test_it_fights_again_who_has_killed_it_for_a_first_task_that_names_nobody(
    core: NotingClient,
) -> None:
    scene = Scene(core, spawn(5, "a mole", 10.0, is_enemy=True))
    scene.fighting.fears.died("a mole", "", Place(0.0, 0.0, 0.0), 3, NOW)
    scene.task("I need to judge the traitors.", category="Fighter")
    scene.questing.journeys.exploration.rounds[""] = 1
    scene.thinks(times=4)
    assert scene.fighting.enemy is None
    scene.now = Monotonic(NOW + FEARED)
    scene.thinks(times=4)
    assert scene.fighting.enemy == 5


def test_it_looks_through_towns_if_it_needs_somebody_for_another_level(
    core: NotingClient,
) -> None:
    people = [spawn(10 + at, f"Guard {name}", 5.0) for at, name in enumerate("ABCDEFGH")]
    scene = Scene(core, spawn(5, "Dagorel", 60.0, mark=1), spawn(6, "Waulon", 20.0))
    travels = scene.questing.journeys.travels
    for there in ("South Qeynos", "Nettleville Hovel"):
        travels.arrive(there, None)
        travels.look([spawn(one.index, f"{one.name} of {there}") for one in people])
    travels.offered(KnownWay("bell", Place(30.0, 0.0, 0.0)), ["South Qeynos"])
    scene.task("I should speak to Waulon.")
    assert "target 6" in scene.thinks(HAIL, times=4)
    scene.task("I should speak to Waulon again.")
    scene.questing.handle_event(ScreenShown("You must choose your class to gain levels."), NOW)
    assert "target 5" in scene.thinks(HAIL, times=6)[:2]
    scene.questing.journeys.exploration.rounds[""] = 1
    scene.spawns.by_index[7] = spawn(7, "bell", 30.0)
    assert "use 7 access" in scene.thinks(("access", "Access"), times=12)


def test_it_takes_up_what_it_has_set_aside_if_no_fight_gives_experience(
    core: NotingClient,
) -> None:
    scene = Scene(core)
    scene.spawns.remembered["Waulon"] = Place(200.0, 0.0, 0.0)
    scene.task("I should speak to Waulon.")
    scene.thinks(times=1)
    scene.now = Monotonic(scene.now + SET_ASIDE + 100.0)
    scene.thinks(times=2)
    core.place = Place(0.0, 0.0, 0.0)
    scene.questing.handle_event(ScreenShown("You must choose your class to gain levels."), NOW)
    scene.thinks(times=3)
    assert core.place.x > 150.0


def test_it_does_first_what_has_a_wanted_category(core: NotingClient) -> None:
    scene = Scene(core, spawn(4, "Ingrid", 5.0), spawn(5, "Waulon", 30.0))
    scene.task("I should speak to Waulon.", number=7, category="Fighter")
    scene.task("I should speak to Ingrid.", number=8, category="Isle of Refuge")
    assert scene.thinks(HAIL, times=4)[:1] == ["target 5"]


def test_it_uses_a_way_only_where_it_has_seen_all(core: NotingClient) -> None:
    # The way back lies beside the place that the task means.
    scene = Scene(core, spawn(6, "Nettleville Gate", level=0), spawn(7, "a box", 40.0, level=0))
    scene.task("I need to do something.")
    asked = scene.thinks(("open", "Open"), times=6)
    assert "use 7 open" in asked
    assert "target 6" not in asked
    scene.questing.journeys.exploration.rounds[""] = 1
    assert "use 6 open" in scene.thinks(("open", "Open"), times=12)


def test_it_goes_closer_to_what_it_was_too_far_away_from(core: NotingClient) -> None:
    scene = Scene(core, spawn(6, "Arena Pedestal", 30.0, level=0))
    scene.task("I must declare my victory on the pedestal.")
    assert "use 6 address" in scene.thinks(("address", "Address"), times=4)
    away = core.place.distance_to(Place(30.0, 0.0, 0.0))
    scene.questing.handle_event(LineShown("system", "You are too far away!"), scene.now)
    assert "use 6 address" in scene.thinks(("address", "Address"), times=4)
    assert core.place.distance_to(Place(30.0, 0.0, 0.0)) < 0.5 < away


def test_it_goes_back_where_a_task_has_advanced(core: NotingClient) -> None:
    scene = Scene(core)
    travels = scene.questing.journeys.travels
    gate = KnownWay("gate", Place(40.0, 0.0, 0.0))
    travels.arrive("The Makeshift Arena", None)
    bears = QuestTask("I must defeat the bears.", "", False, 1, 2)
    scene.journal.shown(QuestShown(7, "Path", (bears,), False))
    scene.thinks(times=1)
    travels.arrive("North Qeynos", None)
    travels.offered(gate, ["The Makeshift Arena"])
    scene.questing.journeys.exploration.rounds[""] = 1
    scene.thinks(times=3)
    assert core.place.x > 30.0


def test_experience_is_of_use_again_after_a_first_quest(core: NotingClient) -> None:
    scene = Scene(core)
    for number, category in ((7, "Fighter"), (8, "Qeynos")):
        scene.task("I should do something.", number=number, category=category)
    line = "You must choose your class to gain levels."
    scene.questing.handle_event(ScreenShown(line), NOW)
    for number, is_stopped in ((8, True), (7, False)):
        scene.thinks(times=1)
        scene.journal.listed(JournalListed((QuestRow(number, "Help", False),)))
        scene.thinks(times=1)
        assert scene.questing.hints.is_stopped(3) is is_stopped


def test_it_does_not_look_around_where_it_has_died(core: NotingClient) -> None:
    scene = Scene(core, spawn(4, "Waulon", 200.0), spawn(5, "Fhara", 400.0))
    scene.fighting.fears.died("", "", Place(210.0, 0.0, 0.0), 3, NOW)
    scene.thinks(HAIL, times=20)
    assert "target 5" in core.asked
    assert "target 4" not in core.asked


@pytest.mark.parametrize("what", ["choose your class", "leave the Isle"])
def test_it_looks_around_where_it_has_died_if_no_fight_leads_on(
    core: NotingClient, what: str
) -> None:
    scene = Scene(core, spawn(4, "Waulon", 200.0))
    scene.fighting.fears.died("", "", Place(210.0, 0.0, 0.0), 3, NOW)
    scene.questing.handle_event(LineShown("", f"You must {what} to gain levels."), NOW)
    scene.thinks(HAIL, times=20)
    assert core.place.x > 150.0


def test_it_does_not_use_a_sign_again_that_has_led_nowhere(core: NotingClient) -> None:
    scene = Scene(core, spawn(6, "To arena", 5.0, level=0))
    scene.task("I must defeat the bears in the arena.")
    asked = scene.thinks(("arena champions", "Arena"), times=40)
    assert asked.count("use 6 arena champions") == 1


def test_it_fights_whom_it_has_called(core: NotingClient) -> None:
    scene = Scene(core, spawn(6, "Arena Pedestal", 5.0, level=0))
    scene.task("I must defeat the bears in the arena.")
    scene.thinks(("address", "Address"), times=3)
    scene.questing.handle_event(DialogOpened(1, "You stand before a crowd.", "", ()), scene.now)
    scene.spawns.by_index[7] = spawn(7, "a grizzly bear", level=3, is_enemy=True)
    scene.thinks(times=3)
    assert scene.fighting.enemy == 7


def test_it_waits_for_whom_it_has_called_and_comes_back_to_where_it_fought(
    core: NotingClient,
) -> None:
    exits = spawn(5, "Exit", 20.0, level=0)
    scene = Scene(core, spawn(6, "Arena Pedestal", 5.0, level=0), exits)
    travels = scene.questing.journeys.travels
    travels.arrive("North Qeynos", None)
    cache = KnownWay("zone_to_cache", Place(50.0, 0.0, 0.0))
    travels.arrive("The Makeshift Arena", cache)
    travels.offered(KnownWay(exits.name, exits.place), ["North Qeynos"])
    scene.task("I must defeat the bears in the arena.", "It is in a warehouse of northern Qeynos.")
    assert "use 6 address" in scene.thinks(("address", "Address"), times=3)
    talk = DialogOpened(1, "You stand before a crowd.", "", ())
    scene.questing.handle_event(talk, scene.now)
    assert scene.thinks(("leave", "Leave"), times=6) == []
    scene.spawns.by_index[7] = spawn(7, "a grizzly bear", level=3, is_enemy=True)
    scene.fighting.attack(7, scene.now)  # it strikes back
    scene.fighting.enemy = None
    scene.spawns.by_index = {8: spawn(8, cache.name, 50.0, level=0)}
    travels.arrive("North Qeynos", None)
    assert "use 8 enter" in scene.thinks(("enter", "Enter"), times=12)


def test_it_hails_somebody_again_at_once_as_long_as_the_talk_is_unfinished(
    core: NotingClient,
) -> None:
    scene = Scene(core, spawn(4, "Waulon", 1.0))
    scene.questing = Questing(
        core, scene.spawns, scene.journal, scene.fighting, note=lambda _kind, _text: None,  # type: ignore[arg-type]
        first=(), refused=(), is_unfinished=lambda: True,
    )  # fmt: skip
    scene.task("I should speak to Waulon.")
    for _ in range(4):
        assert scene.thinks(HAIL, times=2)[-1:] == ["command hail"]
        scene.questing.handle_event(DialogOpened(1, "I see.", "", ()), scene.now)
