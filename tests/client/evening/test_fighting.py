"""Fights of a player that plays by itself: begin, give up, loot."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from emu.client.evening.fears import BRAVER, FEARED
from emu.client.evening.fighting import (
    AVOIDED,
    CALM,
    CHASED,
    FLEES_FOR,
    LEADS,
    LOOT_TIME,
    NEAR,
    OUT_OF_SIGHT,
    POP,
    SPARED,
    SPELL_REACH,
    TOO_STRONG,
    WEAR_PAUSE,
    Fighting,
)
from emu.client.hunting import DEAD, PATIENCE
from emu.client.world.events import BlowSeen, CastRefused, DeathSeen, ScreenShown, ZoneToLoad
from emu.client.world.possessions import Owned
from emu.client.world.surroundings import Place
from emu.times import Monotonic
from tests.client.evening.conftest import OWN, KnownSpawns, NotingClient, spawn

NOW = Monotonic(100.0)
RAT = 5


def fighting(
    core: NotingClient, *, is_underway: Callable[[], bool] = lambda: False,
    is_wanted: Callable[[str], bool] = lambda _name: False, **values: object,
) -> tuple[Fighting, KnownSpawns, list[str]]:  # fmt: skip
    lines: list[str] = []
    spawns = KnownSpawns(core, spawn(RAT, "a rat", is_enemy=True, **values))  # type: ignore[arg-type]
    made = Fighting(
        core, spawns, lambda kind, text: lines.append(f"{kind} {text}"), 8.0,  # type: ignore[arg-type]
        is_underway=is_underway, is_wanted=is_wanted,
    )  # fmt: skip
    return made, spawns, lines


def test_it_strikes_back(core: NotingClient) -> None:
    one, _, _ = fighting(core)
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    assert one.enemy == RAT
    assert core.asked == [f"target {RAT}", "command autoattack 1"]
    assert one.think(NOW)
    assert core.place.x > 0.0


def test_it_ends_a_fight_when_its_enemy_does(core: NotingClient) -> None:
    """A sparring partner that is beaten strikes no more, and has full health again."""
    one, spawns, lines = fighting(core)
    one.attack(RAT, NOW)
    one.think(Monotonic(NOW + 2 * CALM))
    assert one.enemy == RAT, "it has not struck back yet"
    rat = spawns.by_index[RAT]
    spawns.by_index[RAT] = replace(rat, fights_it=True)
    one.think(Monotonic(NOW + 3 * CALM))
    spawns.by_index[RAT] = rat
    one.think(Monotonic(NOW + 4 * CALM))
    assert one.enemy == RAT
    over = Monotonic(NOW + 4 * CALM + 0.5)
    one.think(over)
    assert one.enemy is None
    assert core.asked[-1] == "command autoattack 0"
    assert lines == ["fight ends with a rat (level 1)"]
    assert not one.may_attack(rat, over)
    assert one.may_attack(rat, Monotonic(over + SPARED))


def test_it_leads_an_enemy_to_somebody_instead_of_a_fight(core: NotingClient) -> None:
    """Lost scouts are freed by a spell of Cleric Mara'Vaen, and blows would kill them."""
    one, spawns, _ = fighting(core)
    one.attack(RAT, NOW, Place(-50.0, 0.0, 0.0))
    one.think(NOW)
    assert core.place.x > 0.0, "the enemy has to see it first"
    spawns.by_index[RAT] = replace(spawns.by_index[RAT], fights_it=True)
    core.asked.clear()
    for number in range(3):
        one.think(Monotonic(NOW + 1.0 + number))
    assert core.place.x <= -50.0 + LEADS
    assert core.asked.count("command autoattack 0") == 1
    assert not any("useability" in asked for asked in core.asked)


def test_it_strikes_who_fights_it_and_cannot_reach_it(core: NotingClient) -> None:
    """A shadow of the trial of priests stands below the shrine, and the talk opens to nobody whom
    something fights."""
    is_underway = [True]
    one, spawns, _ = fighting(core, is_underway=lambda: is_underway[0])
    spawns.by_index[RAT] = replace(spawns.by_index[RAT], fights_it=True)
    assert not one.think(NOW), "it runs on, as long as nothing strikes it"
    is_underway[0] = False
    assert one.think(NOW)
    assert one.enemy == RAT
    assert core.asked[:2] == [f"target {RAT}", "command autoattack 1"]


def test_it_does_not_go_to_who_fights_it_from_far_away(core: NotingClient) -> None:
    one, spawns, _ = fighting(core)
    far = spawn(RAT, "a rat", NEAR + 1.0, is_enemy=True)
    spawns.by_index[RAT] = replace(far, fights_it=True)
    assert not one.think(NOW)
    near = replace(far, fights_it=True, place=Place(NEAR - 1.0, 0.0, 0.0))
    spawns.by_index[RAT] = replace(near, level=TOO_STRONG + 1)
    assert not one.think(NOW), "nor to one that is too strong"
    spawns.by_index[RAT] = near
    assert one.think(NOW)


def test_it_leaves_alone_for_a_while_who_fights_it_and_is_not_hurt(core: NotingClient) -> None:
    one, spawns, _ = fighting(core)
    spawns.by_index[RAT] = replace(spawns.by_index[RAT], fights_it=True)
    assert one.think(NOW)
    late = Monotonic(NOW + PATIENCE + 1)
    one.think(late)
    assert one.enemy is None
    assert not one.think(late)
    assert one.think(Monotonic(late + AVOIDED))


def test_it_stands_still_while_it_fights_and_rests(core: NotingClient) -> None:
    """It went on to where it had been going, and away from its enemy."""
    one, spawns, _ = fighting(core)
    spawns.by_index[RAT] = spawn(RAT, "a rat", 1.0, is_enemy=True)
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    one.think(NOW)
    assert core.asked[2:] == [f"stand_still {NOW}"]
    core.asked.clear()
    core.possessions = Spells(max_hp=100, current_hp=10)
    one.handle_event(DeathSeen(OWN, RAT), NOW)
    late = Monotonic(NOW + 60)
    del spawns.by_index[RAT]
    one.think(late)  # its body is gone
    assert one.think(late)
    assert core.asked == [f"stand_still {late}"]


def test_it_runs_on_from_what_has_killed_it_on_a_long_way(core: NotingClient) -> None:
    is_underway = [True]
    one, _, _ = fighting(core, is_underway=lambda: is_underway[0])
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    assert one.enemy == RAT, "nobody has died yet"
    one.handle_event(DeathSeen(RAT, OWN), NOW)
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    assert one.enemy is None
    is_underway[0] = False
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    assert one.enemy is None, "it stands where it was revived, and who has killed it is there"
    one.handle_event(BlowSeen(RAT, OWN, 3), Monotonic(NOW + FLEES_FOR))
    assert one.enemy == RAT, "it has arrived"


def test_it_runs_on_from_what_is_too_strong_on_a_long_way(core: NotingClient) -> None:
    for level, strikes_back in ((TOO_STRONG + 5, True), (TOO_STRONG + 6, False)):
        one, _, _ = fighting(core, is_underway=lambda: True, level=level)
        one.level = 5
        one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
        assert (one.enemy == RAT) is strikes_back


def test_it_does_not_rest_while_it_is_chased(core: NotingClient) -> None:
    class Bags:
        sheet: ClassVar[dict[str, int]] = {"current_hp": 10, "max_hp": 100}

        def things(self, _which: int = 0) -> list[Owned]:
            return []

    core.possessions = Bags()
    one, _, _ = fighting(core, is_underway=lambda: True)
    one.fears.died("a rat", "", core.place, 0, NOW)
    assert one.think(NOW), "it rests"
    one.handle_event(BlowSeen(RAT, OWN, 3), NOW)
    assert not one.think(NOW)
    assert one.think(Monotonic(NOW + CHASED))


def test_it_gives_up_whom_it_does_not_hurt_and_leaves_it_alone_for_a_while(
    core: NotingClient,
) -> None:
    one, spawns, lines = fighting(core)
    one.attack(RAT, NOW)
    one.think(Monotonic(NOW + PATIENCE - 1))
    spawns.by_index[RAT] = spawn(RAT, "a rat", is_enemy=True, harm=20)
    one.think(Monotonic(NOW + PATIENCE - 1))
    late = Monotonic(NOW + PATIENCE + 5)
    one.think(late)
    assert one.enemy == RAT, "it was hurt meanwhile"
    late = Monotonic(late + PATIENCE)
    one.think(late)
    assert one.enemy is None
    assert lines == ["fight gives up a rat (level 1)"]
    assert not one.may_attack(spawns.by_index[RAT], late)
    assert one.may_attack(spawns.by_index[RAT], Monotonic(late + AVOIDED))


def test_what_it_has_killed_is_looted_once(core: NotingClient) -> None:
    one, spawns, lines = fighting(core)
    one.attack(RAT, NOW)
    spawns.by_index[RAT] = spawn(RAT, "a rat", is_enemy=True, harm=DEAD)
    one.handle_event(DeathSeen(OWN, RAT), NOW)
    assert (one.enemy, one.kills, lines) == (None, 1, ["kill a rat (level 1)"])
    assert one.think(NOW)
    assert one.think(NOW)
    assert core.asked[-1] == f"use {RAT} loot"
    assert one.think(Monotonic(NOW + LOOT_TIME + 1))
    assert not one.think(Monotonic(NOW + LOOT_TIME + 2))
    assert core.asked.count(f"use {RAT} loot") == 1


class Spells:
    """Possessions of somebody with two combat arts."""

    def __init__(self, **sheet: int) -> None:
        self.sheet = sheet

    def things(self, _which: int = 0) -> list[Owned]:
        return []

    def spells(self) -> list[dict[str, int]]:
        return [{"spell_id": 10018, "type": 1}, {"spell_id": 10012, "type": 1}]


def test_it_casts_at_an_enemy_in_reach(core: NotingClient) -> None:
    core.possessions = Spells()
    one, spawns, _ = fighting(core)
    spawns.by_index[RAT] = spawn(RAT, "a rat", 1.0, is_enemy=True)
    one.attack(RAT, NOW)
    one.think(NOW)
    assert core.asked[-1] == "command useability 10018"
    one.handle_event(CastRefused(24), NOW)
    one.think(Monotonic(NOW + 0.5))
    assert core.asked[-1] == "command useability 10012"


def test_who_knows_spells_casts_from_afar_and_comes_closer_if_that_is_in_vain(
    core: NotingClient,
) -> None:
    class Book(Spells):
        def spells(self) -> list[dict[str, int]]:
            return [{"spell_id": 210009, "type": 0}]

    core.possessions = Book()
    one, spawns, _ = fighting(core)
    spawns.by_index[RAT] = spawn(RAT, "a rat", SPELL_REACH - 1.0, is_enemy=True)
    one.attack(RAT, NOW)
    one.think(NOW)
    assert core.asked[-1] == "command useability 210009"
    assert core.place.x == 0.0
    one.think(Monotonic(NOW + OUT_OF_SIGHT))
    assert core.place.x > SPELL_REACH / 2


def test_it_goes_quite_close_to_whom_it_strikes_in_vain(core: NotingClient) -> None:
    """A shadow at the foot of a shrine was near enough, and out of sight."""
    one, spawns, _ = fighting(core)
    low = Place(2.0, -2.0, 0.0)
    spawns.by_index[RAT] = replace(spawn(RAT, "a rat", is_enemy=True), place=low)
    one.attack(RAT, NOW)
    one.think(NOW)
    assert core.place.y == 0.0
    late = Monotonic(NOW + 2 * OUT_OF_SIGHT)
    one.think(late)
    assert core.place.y == low.y


def test_it_rests_until_it_has_power_for_its_arts(core: NotingClient) -> None:
    core.possessions = Spells(max_hp=100, current_hp=100, max_power=100, current_power=10)
    one, _, _ = fighting(core)
    assert one.think(NOW)
    core.possessions = Spells(max_hp=100, current_hp=100, max_power=100, current_power=40)
    assert not one.think(NOW)


def test_it_does_not_rest_where_the_time_is_short(core: NotingClient) -> None:
    """In the trial of priests it killed the shadow, and rested until the trial was over."""
    core.possessions = Spells(max_hp=100, current_hp=50)
    one, _, _ = fighting(core)
    assert one.think(NOW)
    text = "You feel that the meditation will only last a short time."
    one.handle_event(ScreenShown(text), NOW)
    assert not one.think(NOW)
    one.handle_event(ZoneToLoad("qey_north", "North Qeynos", "Aldana", 0.0, 0.0, 0.0), NOW)
    assert one.think(NOW)


def test_the_dead_are_no_enemies(core: NotingClient) -> None:
    one, spawns, _ = fighting(core, harm=DEAD)
    assert not one.may_attack(spawns.by_index[RAT], NOW)


def test_it_leaves_alone_who_has_killed_it(core: NotingClient) -> None:
    one, spawns, lines = fighting(core)
    one.level = 5
    one.handle_event(DeathSeen(RAT, OWN), NOW)
    assert lines == ["death killed by a rat (level 1)"]
    rat, late = spawns.by_index[RAT], Monotonic(NOW + FEARED)
    assert not one.may_attack(rat, late)
    assert one.may_attack(rat, late, is_needed=True)
    one.level = 5 + BRAVER
    assert one.may_attack(rat, NOW)


def test_it_wears_and_examines_what_is_new(core: NotingClient) -> None:
    class Bags:
        sheet: ClassVar[dict[str, int]] = {}

        def things(self, _which: int = 0) -> list[Owned]:
            return [Owned(3, 77, 1414, "a note", 1, 0, 2, 0)]

    core.possessions = Bags()
    one, _, lines = fighting(core)
    for number in range(3):
        one.think(Monotonic(NOW + number * 2 * WEAR_PAUSE))
    assert core.asked == ["command inventory equip 3", "examine 77"]
    assert lines == ["thing a note (1414)"]


def test_it_makes_a_place_for_what_waits_and_keeps_what_a_task_wants(core: NotingClient) -> None:
    caps = [Owned(at, 70 + at, 1414, "a cap", 1, 0, at, 0) for at in range(3)]
    bait = [Owned(at, 70 + at, 1515, "Hawk Bait", 1, 0, at, 0) for at in range(3, 6)]
    wood = Owned(6, 2394, 2394, "some wood", 1, 0, 6, 0, is_waiting=True)
    held = [*caps, *bait]

    class Bags:
        sheet: ClassVar[dict[str, int]] = {}

        def things(self, _which: int = 0) -> list[Owned]:
            return held

    core.possessions = Bags()
    one, _, lines = fighting(core, is_wanted=lambda name: "Hawk" in name)
    times = iter(Monotonic(NOW + number * 2 * WEAR_PAUSE) for number in range(20))
    for _ in held:
        one.think(next(times))
    held.append(wood)
    core.asked.clear()
    one.think(next(times))
    assert core.asked == ["command inventory destroy 0", f"command {POP}"]
    assert lines[-1] == "drop a cap"
    held[:] = [*bait, wood]
    one.think(next(times))
    assert len(core.asked) == 2, "a task wants all that it has"
