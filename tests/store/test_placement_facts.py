"""Stored facts of placements, in the database of each engine: what is dead, and a made-up one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from emu.facts import Integer, PlacementFact, Printable
from emu.store import Store
from emu.store.copying import copy_store
from emu.times import Moment
from emu.world.population.deaths import DeadSpawn

NOW = Moment(1000.0)


def dead(placement: int, returns: float | None, instance: int = 0) -> DeadSpawn:
    return DeadSpawn(9, instance, placement, None if returns is None else Moment(returns))


def alive(placement: int) -> DeadSpawn:
    return DeadSpawn(9, 0, placement, None, is_dead=False)


def test_deaths_are_stored_by_instance_and_removed(empty_store: Store) -> None:
    spawns = empty_store.world.placement_facts
    first, never, other = dead(11, 1300.5), dead(12, None), dead(11, 1400.0, instance=3)
    spawns.save(DeadSpawn, [first, never, other], NOW)
    assert list(spawns.of_zone(DeadSpawn, 9, 0, NOW)) == [first, never]
    assert list(spawns.of_zone(DeadSpawn, 9, 3, NOW)) == [other]
    assert list(spawns.of_zone(DeadSpawn, 10, 0, NOW)) == []
    later = dead(11, 1500.0)
    spawns.save(DeadSpawn, [later, alive(12)], NOW)
    assert list(spawns.of_zone(DeadSpawn, 9, 0, NOW)) == [later]
    spawns.forget(DeadSpawn, 9, 3)
    assert list(spawns.of_zone(DeadSpawn, 9, 3, NOW)) == []


def test_what_has_returned_is_not_dead_and_needs_no_row(empty_store: Store) -> None:
    spawns = empty_store.world.placement_facts
    spawns.save(DeadSpawn, [dead(11, 1300.0), dead(12, None)], NOW)
    assert [one.placement_id for one in spawns.of_zone(DeadSpawn, 9, 0, Moment(1300.0))] == [12]
    spawns.save(DeadSpawn, [], Moment(1300.0))
    assert [one.placement_id for one in spawns.of_zone(DeadSpawn, 9, 0, NOW)] == [12]


@dataclass(frozen=True, slots=True)
class OpenChest(PlacementFact):
    """A made-up fact; this declaration is all that the store knows of it."""

    table: ClassVar[str] = "open_chests"
    opener: Annotated[str, Printable("name of who opened it", 20, "somebody", least=1)]
    looted: Annotated[int, Integer("coins taken", 0, 1000)] = 0


@pytest.fixture
def migrated(empty_store: Store) -> Iterator[Store]:
    """A store with the table of the made-up fact; tests share the database of a server."""
    with empty_store.transaction() as connection:
        connection.execute(OPEN_CHESTS)
    try:
        yield empty_store
    finally:
        with empty_store.transaction() as connection:
            connection.execute("DROP TABLE open_chests")


OPEN_CHESTS = """
    CREATE TABLE open_chests (
        zone_id INTEGER NOT NULL, instance INTEGER NOT NULL, placement_id INTEGER NOT NULL,
        opener TEXT NOT NULL, looted INTEGER NOT NULL,
        PRIMARY KEY (zone_id, instance, placement_id)
    )
"""


def test_a_made_up_fact_is_saved_read_and_forgotten(migrated: Store) -> None:
    facts = migrated.world.placement_facts
    chests = [OpenChest(9, 0, 3, "Ayla", 5), OpenChest(9, 0, 4, "Borvik"), OpenChest(9, 2, 3, "C")]
    facts.save(OpenChest, chests, NOW)
    facts.save(OpenChest, [OpenChest(9, 0, 4, "Cestra", 7)], NOW)
    assert facts.of_zone(OpenChest, 9, 0, NOW) == [chests[0], OpenChest(9, 0, 4, "Cestra", 7)]
    facts.forget(OpenChest, 9, 0)
    assert facts.of_zone(OpenChest, 9, 0, NOW) == []
    assert facts.of_zone(OpenChest, 9, 2, NOW) == [chests[2]]


def test_an_unusable_value_of_a_made_up_fact_is_replaced_and_reported(migrated: Store) -> None:
    warnings: list[str] = []
    migrated.database.warn = warnings.append
    facts = migrated.world.placement_facts
    facts.save(OpenChest, [OpenChest(9, 0, 3, "", -5)], NOW)
    assert facts.of_zone(OpenChest, 9, 0, NOW) == [OpenChest(9, 0, 3, "somebody", 0)]
    assert [line.partition(":")[0] for line in warnings] == [
        "open_chests of placement 3 in zone 9"
    ] * 2


def test_a_made_up_fact_is_copied(tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.sqlite") as old, Store.create(tmp_path / "new.sqlite") as new:
        for store in (old, new):
            with store.transaction() as connection:
                connection.execute(OPEN_CHESTS)
        chest = OpenChest(9, 0, 3, "Ayla", 5)
        old.world.placement_facts.save(OpenChest, [chest], NOW)
        copy_store(old.database, new.database, resume=False)
        assert new.world.placement_facts.of_zone(OpenChest, 9, 0, NOW) == [chest]
