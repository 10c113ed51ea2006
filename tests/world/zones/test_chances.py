"""The random numbers of zones: one source for each, which a seed decides."""

from random import Random

from tests.support.world.worlds import WorldHarness


def numbers(harness: WorldHarness, zone_id: int, seed: str | None = None) -> list[int]:
    zone = harness.world.zones.with_space(zone_id, harness.now, lambda _zone: 0)
    chances = harness.world.zones.chances
    if seed is not None:
        chances.begin(zone, seed)
    return [chances.of(zone).randint(0, 999) for _ in range(5)]


def test_a_seed_decides_the_numbers_of_a_zone() -> None:
    harness = WorldHarness(roll=Random(1).randrange)
    other = WorldHarness(roll=Random(2).randrange)
    (zone, *_) = harness.world.zones.table
    first = numbers(harness, zone.id, "a fight")
    assert numbers(other, zone.id, "a fight") == first
    assert numbers(harness, zone.id) != first
    assert numbers(other, zone.id, "another fight") != first


def test_zones_have_numbers_of_their_own() -> None:
    harness = WorldHarness(roll=Random(1).randrange)
    one, other, *_ = harness.world.zones.table
    assert numbers(harness, one.id) != numbers(harness, other.id)
