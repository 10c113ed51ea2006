"""The errands of a player that does some quests first, and fights for experience besides."""

from dataclasses import replace

from emu.client.evening.fears import MOST_DEATHS
from emu.client.evening.travels import KnownWay
from emu.client.world.events import ScreenShown, ZoneToLoad
from emu.client.world.surroundings import Place
from emu.client.world.windows import (
    JournalListed,
    QuestRow,
    QuestShown,
    QuestTask,
)
from tests.client.evening.conftest import NotingClient, spawn
from tests.client.evening.quest_scenes import HAIL, NOW, hunter


def test_a_hunter_fights_before_it_does_other_quests(core: NotingClient) -> None:
    rat = spawn(5, "a rat", 30.0, level=2, is_enemy=True)
    scene = hunter(core, spawn(4, "Waulon", 5.0), rat)
    scene.task("I should speak to Waulon.")
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5
    scene.fighting.enemy = None
    scene.task("I should speak to Waulon.", number=8, category="Hallmark")
    assert scene.thinks(HAIL, times=4)[-1:] == ["command hail"]


def test_a_hunter_asks_for_the_next_quest_before_it_fights(core: NotingClient) -> None:
    rat = spawn(5, "a rat", 30.0, level=2, is_enemy=True)
    scene = hunter(core, spawn(4, "Braksan", 20.0, mark=1), rat)
    assert scene.thinks(HAIL, times=3)[-1:] == ["command hail"]
    assert core.asked[0] == "target 4"
    scene.thinks(times=2)
    assert scene.fighting.enemy == 5, "once is enough for a while"


def test_a_hunter_hails_whom_a_first_quest_has_ended_with(core: NotingClient) -> None:
    rat = spawn(5, "a rat", 30.0, level=2, is_enemy=True)
    scene = hunter(core, spawn(4, "Master-at-Arms Dagorel", 20.0), rat)
    scene.task("I need to speak with Dagorel.", category="Hallmark")
    scene.thinks(HAIL, times=4)
    scene.journal.listed(JournalListed((QuestRow(7, "Help", False),)))
    begin = len(core.asked)
    scene.thinks(HAIL, times=4)
    assert core.asked[begin:][:3] == ["target 4", "ask_verbs 4", "command hail"]


def test_a_hunter_goes_where_it_has_seen_enemies_of_its_level(core: NotingClient) -> None:
    gate = spawn(6, "zone_to_peat_bog", 20.0, level=0)
    scene = hunter(core, gate)
    travels = scene.questing.journeys.travels
    travels.arrive("The Peat Bog", None)
    travels.look([spawn(5, "a rat", level=2, is_enemy=True)])
    travels.arrive("Nettleville Hovel", None)
    travels.offered(KnownWay(gate.name, gate.place), ["The Peat Bog"])
    assert "use 6 enter" in scene.thinks(("enter", "Enter"), times=6)


def test_a_hunter_does_no_other_quests_if_a_level_needs_somebody(core: NotingClient) -> None:
    scene = hunter(core, spawn(4, "Waulon", 5.0), spawn(5, "Dagorel", 60.0, mark=1))
    scene.task("I should speak to Waulon.")
    line = "You must choose your class to gain levels."
    scene.questing.handle_event(ScreenShown(line), NOW)
    assert scene.thinks(HAIL, times=4)[:1] == ["target 5"]


def test_a_hunter_with_an_open_first_quest_does_no_other(core: NotingClient) -> None:
    rat, pernus = spawn(5, "a rat", level=2, is_enemy=True), spawn(6, "Pernus", 30.0, mark=1)
    scene = hunter(core, spawn(4, "Waulon", 5.0), rat, pernus)
    scene.task("I should speak to Ilgar.", number=8, category="Hallmark")
    scene.task("I must kill a rat.", number=9)
    scene.thinks(HAIL, times=4)
    assert core.asked[:1] == ["target 6"], "who is nearest when it has seen all of the zone"
    assert scene.fighting.enemy is None
    assert not scene.questing.wants("Bat Wings")
    scene.questing.handle_event(ZoneToLoad("isle", "Isle", "Aldana", 0.0, 0.0, 0.0), scene.now)
    scene.spawns.by_index[7] = spawn(7, "Lieutenant Ilgar", 20.0)
    scene.thinks(HAIL, times=5)
    assert core.asked[-3:] == ["target 7", "ask_verbs 7", "command hail"]
    assert scene.questing.wants("Bat Wings"), "whom a task names has offered it"


def test_a_hunter_passes_by_all_of_a_zone_before_it_tries_things(core: NotingClient) -> None:
    scene = hunter(core, spawn(4, "a crate", 5.0, level=0), spawn(5, "a fountain", 400.0, level=0))
    scene.task("I need to ring the bell.", category="Hallmark")
    scene.thinks(times=2)
    assert core.asked == []
    assert core.place.x > 300.0
    assert scene.thinks(("open", "Open"), times=4)[:2] == ["target 5", "ask_verbs 5"]


def test_a_hunter_goes_elsewhere_after_some_deaths(core: NotingClient) -> None:
    gate = spawn(6, "zone_to_peat_bog", 20.0, level=0)
    scene = hunter(core, gate, spawn(5, "a bear", level=3, is_enemy=True))
    travels = scene.questing.journeys.travels
    travels.arrive("The Peat Bog", None)
    travels.look([spawn(5, "a rat", level=2, is_enemy=True)])
    travels.arrive("The Caves", None)
    travels.offered(KnownWay(gate.name, gate.place), ["The Peat Bog"])
    scene.fighting.fears.died("a bear", "", Place(0.0, 0.0, 0.0), 3, NOW)
    assert "use 6 enter" in scene.thinks(("enter", "Enter"), times=6)
    assert scene.fighting.enemy is None


def test_it_does_what_it_has_come_for_before_another_first_task(core: NotingClient) -> None:
    scene = hunter(core)
    scene.spawns.remembered = {
        "Ilgar": Place(100.0, 0.0, 0.0), "Moorford": Place(-100.0, 0.0, 0.0)
    }  # fmt: skip
    guards = tuple(
        QuestTask(f"I need to speak with {name}.", "", False, 0, 1)
        for name in ("Ilgar", "Moorford")
    )
    scene.journal.shown(QuestShown(7, "Training", guards, False, "Hallmark"))
    scene.thinks(times=1)
    assert core.place.x > 90.0
    scene.spawns.by_index[4] = spawn(4, "Ilgar", 110.0)
    scene.spawns.by_index[5] = spawn(5, "Moorford", -110.0)
    assert "target 4" in scene.thinks(HAIL, times=3)


def test_it_does_what_is_to_be_done_in_its_zone_before_it_leaves(core: NotingClient) -> None:
    gate = spawn(6, "zone_to_qey_harbor", 20.0, level=0)
    scene = hunter(core, gate, spawn(4, "Laughlin", 60.0))
    travels = scene.questing.journeys.travels
    travels.arrive("North Qeynos", None)
    travels.offered(KnownWay(gate.name, gate.place), ["Qeynos Harbor"])
    guards = (
        QuestTask("I need to speak with Moorford in Qeynos Harbor.", "", False, 0, 1),
        QuestTask("I need to speak with Laughlin in North Qeynos.", "", False, 0, 1),
    )
    scene.journal.shown(QuestShown(7, "Training", guards, False, "Hallmark"))
    assert scene.thinks(HAIL, times=3)[:1] == ["target 4"]


def test_it_looks_behind_a_new_sign_for_prey_that_must_be_here(core: NotingClient) -> None:
    practice = spawn(5, "to_the_practice_arena", 5.0, level=0)
    scene = hunter(core, practice, spawn(6, "zone_to_qey_epic01_int_p19_cache", 60.0, level=0))
    scene.questing.journeys.travels.arrive("North Qeynos", None)
    bears = (
        QuestTask("I must defeat the bears.", "In a warehouse of northern Qeynos.", False, 0, 2),
    )
    scene.journal.shown(QuestShown(7, "Path", bears, False, "Hallmark"))
    assert scene.thinks(("enter", "Enter"), times=3)[-1:] == ["use 6 enter"]
    other = hunter(core, *scene.spawns.all())
    other.questing.journeys.travels.arrive("North Qeynos", None)
    other.questing.journeys.travels.look([spawn(7, "a bear", is_enemy=True)])
    other.journal.shown(QuestShown(7, "Path", bears, False, "Hallmark"))
    assert "use 6 enter" not in other.thinks(("enter", "Enter"), times=3), "it waits for the next"


def test_it_looks_for_whom_a_task_names_here_before_it_goes_elsewhere(core: NotingClient) -> None:
    bell = spawn(5, "mariners_bell", 20.0, level=0)
    scene = hunter(core, bell, spawn(6, "a far lamp", 300.0, level=0))
    travels = scene.questing.journeys.travels
    travels.arrive("Starcrest Commune", None)
    travels.offered(KnownWay(bell.name, bell.place), ["Castleview Hamlet"])
    scene.task("I need to speak with Ooli in Starcrest.", number=8, category="Hallmark")
    scene.task("I need to speak with Yanari in Castleview.", number=9, category="Hallmark")
    scene.thinks(times=2)
    assert core.place.x > 250.0
    assert core.asked == []


def test_a_hunter_fights_if_a_first_quest_has_killed_it_too_often(core: NotingClient) -> None:
    rat = spawn(5, "a rat", 30.0, level=2, is_enemy=True)
    scene = hunter(core, spawn(4, "Waulon", 20.0), rat)
    scene.task("I should speak to Waulon.", number=8, category="Hallmark")
    scene.questing.journeys.travels.arrive("Sunken City", None)
    scene.task("Gather tokens from the creatures.", number=9, category="Hallmark")
    for _ in range(MOST_DEATHS):
        scene.fighting.fears.died("", "sunken city", Place(900.0, 0.0, 0.0), 3, NOW)
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5


def test_deaths_on_an_isle_that_it_has_left_keep_it_from_no_quest(core: NotingClient) -> None:
    orc = spawn(5, "an orc leader", 30.0, level=2, is_enemy=True)
    scene = hunter(core, orc, spawn(6, "Overseer Zerrin", 60.0))
    travels = scene.questing.journeys.travels
    travels.arrive("Isle of Refuge", None)
    scene.task("I must find the Overseer", number=8, category="Hallmark")
    scene.task("I need to slay the orc leader.", number=9, category="Hallmark")
    for _ in range(MOST_DEATHS):
        scene.fighting.fears.died("", "isle of refuge", Place(900.0, 0.0, 0.0), 3, NOW)
    scene.thinks(times=1)
    assert scene.fighting.enemy == 5, "it fights for experience before it goes"
    scene.fighting.enemy = None
    scene.questing.handle_event(ScreenShown("You must leave the Isle to gain levels."), NOW)
    travels.arrive("Beggar's Court", None)
    assert scene.thinks(HAIL, times=3)[:1] == ["target 6"]
    assert scene.fighting.enemy is None


def test_it_uses_what_is_in_sight_before_it_looks_around_where_the_time_is_short(
    core: NotingClient,
) -> None:
    """In the trial of priests it walked to the edge of the zone, which ends the trial."""
    used: dict[bool, list[str]] = {}
    for is_short in (False, True):
        core.place = Place(0.0, 0.0, 0.0)
        edge, mist = spawn(6, "a warning", -90.0, level=0), spawn(7, "Timed Mist1", 3.0, level=0)
        shrine = spawn(5, "Shrine of Inner Reflection", 32.0, level=0)
        scene = hunter(core, replace(shrine, shows_verb=True), edge, mist)
        scene.task("I need to complete the trial.", category="Hallmark")
        if is_short:
            line = ScreenShown("You feel that the meditation will only last a short time.")
            scene.fighting.handle_event(line, NOW)
        begin = len(core.asked)
        scene.thinks(("begin meditation", "begin meditation"), times=3)
        used[is_short] = core.asked[begin:]
    assert "use 5 begin meditation" not in used[False]
    assert "use 5 begin meditation" in used[True]
