"""Chance that follows from a seed and a count."""

from collections import Counter

from emu.world.recording.chance import RolledChances, SeededChance


def test_a_seed_and_a_count_give_the_same_numbers() -> None:
    one = SeededChance(b"a secret")
    drawn = [one.below(1000) for _ in range(20)]
    assert drawn == [SeededChance(b"a secret", number).below(1000) for number in range(20)]
    other = SeededChance(b"another")
    assert drawn != [other.below(1000) for _ in range(20)]


def test_all_numbers_below_the_limit_are_drawn() -> None:
    chance = SeededChance(b"seed")
    counted = Counter(chance.below(6) for _ in range(6000))
    assert sorted(counted) == list(range(6))
    # The standard deviation is 29.
    assert all(abs(count - 1000) < 150 for count in counted.values())
    assert 0 <= chance.below(2**63) < 2**63
    assert chance.below(1) == 0


def test_numbers_lie_between_two_others() -> None:
    chances = RolledChances(SeededChance(b"seed").below)
    assert {chances.randint(2, 4) for _ in range(100)} == {2, 3, 4}
    drawn = [chances.uniform(-1.0, 1.0) for _ in range(100)]
    assert -1.0 <= min(drawn) < -0.5 < 0.5 < max(drawn) < 1.0
