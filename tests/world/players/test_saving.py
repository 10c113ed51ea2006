"""What is stored of a player, and that whoever comes back at once is where it was."""

from __future__ import annotations

from dataclasses import replace

from emu.world.players import saving
from emu.world.spawns import Position
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHouse


def test_changes_wait_for_each_other_and_are_stored_together(house: WorldHouse) -> None:
    client = house.stand(5, last_played=1.0)
    client.types("/friend Borvik")
    house.run(1.0)
    client.types("/joinchannel Crafts secret")
    assert house.store.rows[5].relations == ()
    house.run(1.1)
    row = house.store.rows[5]
    assert row.relations == ((0, "Borvik"),)
    assert [(one.channel, one.password) for one in row.channels] == [("Crafts", "secret")]


def test_a_place_is_kept_to_its_last_digit_with_its_grid(house: WorldHouse) -> None:
    client = house.stand(5)
    assert client.player is not None
    here = client.player.position
    there = Position(here.x + 0.015625, here.y, here.z - 0.25, 12.5, 0xFEDCBA98)
    client.player.spawn.move(there)
    house.console("kick Name5")
    assert house.store.rows[5].place == there
    again = house.stand(5)
    assert again.player is not None
    assert again.player.position == there


def test_who_returns_before_the_store_is_done_is_where_it_was(house: WorldHouse) -> None:
    late: list[object] = []
    client = house.stand(5)
    before = house.store.rows[5]
    house.world.start = late.append
    assert client.player is not None
    there = client.player.position._replace(x=client.player.position.x + 7.0)
    client.player.spawn.move(there)
    house.console("kick Name5")
    assert house.store.rows[5] == before
    again = house.enter(5)
    assert again.player is not None
    assert again.player.position == there
    house.world.start = finish
    for work in late:
        finish(work)
    assert house.store.rows[5].place == there
    assert house.world.unsaved == {}


def test_what_could_not_be_stored_is_stored_with_the_next_save(house: WorldHouse) -> None:
    client = house.stand(5)
    client.types("/friend Borvik")
    house.store.broken = True
    house.run(3.0)
    assert house.world.counters["save failed"] == 1
    house.store.broken = False
    house.run(60.0)
    assert house.store.rows[5].relations == ((0, "Borvik"),)
    assert client.player is not None
    assert saving.latest(house.world, replace(house.store.rows[5])) == house.store.rows[5]
