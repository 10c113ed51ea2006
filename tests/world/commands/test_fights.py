"""Commands of fights."""

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


def test_auto_attack_is_switched() -> None:
    fight = Fight()
    assert fight.client.types("autoattack") == ["You start fighting."]
    # Recorded (fight-546-melee-a): each order is answered.
    assert fight.client.types("autoattack 1") == ["You start fighting."]
    assert fight.client.types("autoattack") == ["You stop fighting."]
    assert fight.client.types("autoattack 0") == []
