"""Pauses: a player waits in a town until it hunts again after a death."""

from emu.client.evening.fears import FEARED
from emu.client.evening.pauses import RECOVERS
from emu.client.evening.travels import KnownWay
from emu.client.world.events import DeathSeen
from emu.client.world.surroundings import Place
from emu.times import Monotonic
from tests.client.evening.conftest import NotingClient, spawn
from tests.client.evening.quest_scenes import NOW, Scene, hunter, zone

MANHOLE = KnownWay("fprt_manhole", Place(60.0, 0.0, 0.0))
GATE = KnownWay("zone_to_fprt_north", Place(20.0, 0.0, 0.0))
TWIN = KnownWay("Serpent Sewer Zone", Place(5.0, 0.0, 0.0))
SCOUT = spawn(5, "a Darkblade scout", 30.0, level=3, is_enemy=True)
MILLIA = spawn(4, "Emissary Millia", 40.0)
LATER = Monotonic(NOW + FEARED + 1.0)


def killed_in_the_sewer(core: NotingClient, *, is_known: bool = True) -> Scene:
    """Return a player that has just been killed by a scout, and has to kill five."""
    gate = spawn(6, GATE.name, GATE.place.x, level=0)
    scene = hunter(core, SCOUT, gate, spawn(7, TWIN.name, TWIN.place.x, level=0))
    travels = scene.questing.journeys.travels
    if is_known:
        for there, way in (("North Freeport", GATE), ("Serpent Sewer", TWIN)):
            travels.arrive("The Thieves' Way", None)
            travels.arrive(there, way)
            travels.look([MILLIA] if way is GATE else [SCOUT])
    travels.look([SCOUT])
    travels.arrive("The Thieves' Way", MANHOLE if is_known else None)
    scene.fighting.fears.died(SCOUT.name, travels.zone, Place(300.0, 0.0, 0.0), 3, NOW)
    scene.task("I need to kill five Darkblade Scouts.", number=8, category="Hallmark")
    return scene


def test_it_leaves_by_the_nearest_way_to_a_town_without_its_prey(core: NotingClient) -> None:
    scene = killed_in_the_sewer(core)
    asked = scene.thinks(("enter", "Enter"), times=4)
    assert asked[:1] == ["target 6"], "the sewer beside it has such scouts, too"
    assert scene.fighting.enemy is None


def test_it_waits_where_it_has_come_to(core: NotingClient) -> None:
    scene = killed_in_the_sewer(core)
    scene.questing.handle_event(zone("fprt_north", "North Freeport"), NOW)
    scene.spawns.by_index = {4: MILLIA}
    scene.now = Monotonic(NOW + 60.0)
    assert scene.thinks(times=10) == []
    scene.spawns.by_index = {5: SCOUT}
    scene.questing.journeys.travels.arrive("The Thieves' Way", None)
    scene.now = LATER
    scene.thinks(times=4)
    assert scene.fighting.enemy == 5, "it tries again"


def test_it_stays_if_it_knows_no_way_out_or_has_something_else_to_do(core: NotingClient) -> None:
    scene = killed_in_the_sewer(core, is_known=False)
    pauses, hunt = scene.questing._pauses, scene.questing.agenda.first_tasks  # the two that decide
    scene.thinks(times=1)
    assert not pauses.is_due(hunt(), scene.now)
    other = killed_in_the_sewer(core)
    other.task("I need to speak with Emissary Millia.", number=9, category="Hallmark")
    other.thinks(times=1)
    assert not other.questing._pauses.is_due(other.questing.agenda.first_tasks(), other.now)
    assert not other.questing._pauses.is_due([], other.now)


def test_after_any_death_it_stays_away_for_a_while(core: NotingClient) -> None:
    scene = killed_in_the_sewer(core)
    pauses = scene.questing._pauses
    scene.thinks(times=1)
    hunt = scene.questing.agenda.first_tasks()
    assert not pauses.is_due(hunt, LATER), "it does not fear the scout any more"
    scene.fighting.handle_event(DeathSeen(77, core.own_index), LATER)
    assert pauses.is_due(hunt, Monotonic(LATER + RECOVERS - 1.0))
    assert not pauses.is_due(hunt, Monotonic(LATER + RECOVERS))
