"""What a player is afraid of: who has killed it, and where."""

from emu.client.evening.fears import BRAVER, DANGER, FEARED, MOST_DEATHS, Danger, Fears
from emu.client.world.surroundings import Place
from emu.times import Monotonic

NOW = Monotonic(1000.0)
HERE = Place(10.0, 0.0, 0.0)


def test_it_fears_a_killer_until_it_is_some_levels_higher() -> None:
    one = Fears()
    one.died("A Rotting Vermin", "bog", HERE, 7, NOW)
    late = Monotonic(NOW + 100 * FEARED)
    assert one.fears("A Rotting Vermin", 7, late)
    assert one.fears("A Rotting Vermin", 7 + BRAVER - 1, late)
    assert not one.fears("A Rotting Vermin", 7 + BRAVER, NOW)
    assert not one.fears("a bog rat", 7, NOW)


def test_it_tries_again_what_it_needs_and_waits_longer_after_the_second_death() -> None:
    one = Fears()
    for times in (1, 2, 2, 2):
        one.died("a bear", "arena", HERE, 9, NOW)
        assert one.fears("a bear", 9, Monotonic(NOW + times * FEARED - 1), is_needed=True)
        assert not one.fears("a bear", 9, Monotonic(NOW + times * FEARED), is_needed=True)
    one.died("a bear", "arena", HERE, 10, NOW)
    assert not one.fears("a bear", 10, Monotonic(NOW + FEARED), is_needed=True), "a new level"


def test_a_place_behind_the_one_of_a_death_is_dangerous() -> None:
    one = Fears()
    one.died("a gnoll", "antonica", HERE, 9, NOW)
    before, behind = HERE._replace(x=HERE.x - 90.0), HERE._replace(x=HERE.x + 90.0)
    assert one.danger("antonica", before, behind, 9) is Danger.ON_THE_WAY
    assert one.danger("antonica", before, behind._replace(z=200.0), 9) is Danger.NONE
    assert one.danger("antonica", HERE, behind, 9) is Danger.NONE, "every way begins there"
    assert one.danger("antonica", behind, behind, 9) is Danger.NONE


def test_it_avoids_the_place_of_a_death_and_a_zone_with_many() -> None:
    one = Fears()
    one.died("", "bog", HERE, 7, NOW)
    away = HERE._replace(x=HERE.x + 3 * DANGER)
    assert one.danger("bog", away, HERE, 7) is Danger.THERE
    assert one.danger("bog", away, HERE._replace(x=HERE.x + DANGER), 7) is Danger.NONE
    assert one.danger("city", away, HERE, 7) is Danger.NONE
    assert one.danger("bog", away, HERE, 7 + BRAVER) is Danger.NONE
    assert not one.is_deadly("bog", 7)
    for _ in range(MOST_DEATHS - 1):
        one.died("", "bog", HERE, 7, NOW)
    assert one.is_deadly("bog", 7)
    assert not one.is_deadly("bog", 7 + BRAVER)
    assert not one.is_deadly("city", 7)
    assert not one.is_deadly("bog", 7, is_capped=True), "it would become no stronger elsewhere"
