"""Commands of fights."""

import pytest

from tests.support.world.fights import Fight


def test_attack_needs_an_enemy() -> None:
    fight = Fight()
    friend = fight.creature("Brannoc", attackable=False)
    assert fight.client.types("attack") == ["target somebody first"]
    fight.player.set_target(friend)
    assert fight.client.types("attack") == ["you cannot attack Brannoc"]
    crab = fight.creature()
    fight.player.set_target(crab)
    assert fight.client.types("attack") == ["You start fighting."]
    fight.run(1.0)
    assert fight.blows()


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_auto_attack_is_switched(version: int) -> None:
    fight = Fight(version)
    assert fight.client.types("autoattack") == ["You start fighting."]
    # Recorded (real-spells-546-priest, real-spells-546-mage): who fights already reads nothing.
    assert fight.client.types("autoattack 1") == []
    assert fight.client.types("autoattack") == ["You stop fighting."]
    assert fight.client.types("autoattack 0") == []


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_the_first_order_after_a_victims_death_is_answered(version: int) -> None:
    # Recorded (fight-546-melee-a, fight-1208-melee-a, fight-60114-melee-a): an order, a creature's
    # death, and an order without one to stop between them.
    fight = Fight(version)
    first, second = fight.creature(), fight.creature()
    assert fight.attack(first) == ["You start fighting."]
    fight.run(3.0)
    assert fight.client.types("autoattack 1") == []
    fight.harness.parts.minds.harm.kill(fight.player.zone, first, fight.player.spawn)
    assert "You start fighting." in fight.attack(second)
    assert fight.client.types("autoattack 1") == []


def test_the_death_of_another_creature_changes_no_fight() -> None:
    fight = Fight()
    first, second = fight.creature(), fight.creature()
    fight.attack(first)
    fight.run(3.0)
    fight.attack(second)
    fight.run(3.0)
    fight.harness.parts.minds.harm.kill(fight.player.zone, first, fight.player.spawn)
    assert "You start fighting." not in fight.client.types("autoattack 1")
