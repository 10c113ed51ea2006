"""What is dead in zones of the content file, in the database of each engine."""

from emu.processes.ports import DeadSpawn
from emu.store import Store
from emu.times import Moment

NOW = Moment(1000.0)


def dead(placement: int, returns: float | None, instance: int = 0) -> DeadSpawn:
    return DeadSpawn(9, instance, placement, None if returns is None else Moment(returns))


def alive(placement: int) -> DeadSpawn:
    return DeadSpawn(9, 0, placement, None, is_dead=False)


def test_deaths_are_stored_by_instance_and_removed(empty_store: Store) -> None:
    spawns = empty_store.world.dead_spawns
    first, never, other = dead(11, 1300.5), dead(12, None), dead(11, 1400.0, instance=3)
    spawns.save_dead([first, never, other], NOW)
    assert list(spawns.of_zone(9, 0, NOW)) == [first, never]
    assert list(spawns.of_zone(9, 3, NOW)) == [other]
    assert list(spawns.of_zone(10, 0, NOW)) == []
    later = dead(11, 1500.0)
    spawns.save_dead([later, alive(12)], NOW)
    assert list(spawns.of_zone(9, 0, NOW)) == [later]
    spawns.forget(9, 3)
    assert list(spawns.of_zone(9, 3, NOW)) == []


def test_what_has_returned_is_not_dead_and_needs_no_row(empty_store: Store) -> None:
    spawns = empty_store.world.dead_spawns
    spawns.save_dead([dead(11, 1300.0), dead(12, None)], NOW)
    assert [one.placement_id for one in spawns.of_zone(9, 0, Moment(1300.0))] == [12]
    spawns.save_dead([], Moment(1300.0))
    assert [one.placement_id for one in spawns.of_zone(9, 0, NOW)] == [12]
