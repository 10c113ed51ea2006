"""What is stored of a player, and that whoever comes back at once is where it was."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from emu.times import Moment
from emu.world.actors.player import Relation
from emu.world.entry import saving
from emu.world.events import NotSaved
from emu.world_stream.movement import Position
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
    late: list[Coroutine[Any, Any, Any]] = []
    client = house.stand(5)
    before = house.store.rows[5]
    house.start = late.append
    assert client.player is not None
    there = client.player.position._replace(x=client.player.position.x + 7.0)
    client.player.spawn.move(there)
    house.console("kick Name5")
    assert house.store.rows[5] == before
    again = house.enter(5)
    assert again.player is not None
    assert again.player.position == there
    house.start = finish
    for work in late:
        finish(work)
    assert house.store.rows[5].place == there
    assert len(house.world.saver) == 0


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


def test_who_left_while_the_disk_was_full_is_stored_when_it_is_not(house: WorldHouse) -> None:
    client = house.stand(5, last_played=1.0)
    house.store.broken = True
    client.types("/friend Borvik")
    there = client.player.position._replace(x=client.player.position.x + 7.0)
    client.player.spawn.move(there)
    assert client.player is not None
    house.service.send_away(client.player, "sent away", house.now)
    assert len(house.world.players) == 0
    house.run(100.0)
    assert house.store.rows[5].relations == ()
    assert len(house.world.saver) == 1
    told = [event for event in house.events if isinstance(event, NotSaved)]
    assert [str(one) for one in told] == ["Name5 is not saved: the disk is full"]
    house.store.broken = False
    house.run(house.world.rules.save_retry)
    assert house.store.rows[5].relations == ((0, "Borvik"),)
    assert house.store.rows[5].place == there
    assert len(house.world.saver) == 0


def test_who_returns_while_the_disk_is_full_has_all_it_had(house: WorldHouse) -> None:
    client = house.stand(5, last_played=1.0)
    client.types("/friend Borvik")
    house.store.broken = True
    assert client.player is not None
    house.service.send_away(client.player, "sent away", house.now)
    assert len(house.world.players) == 0
    again = house.stand(5)
    assert again.player is not None
    assert again.player.relations.names(Relation.FRIEND) == ["Borvik"]
    again.types("/friend Cestra")
    house.store.broken = False
    house.run(10.0)
    assert [name for _, name in house.store.rows[5].relations] == ["Borvik", "Cestra"]


def test_when_somebody_was_played_is_stored_at_once(house: WorldHouse) -> None:
    house.stand(5)
    saving.played(house.world, 5, Moment(77.0))
    saving.played(house.world, 6, Moment(78.0))
    assert house.store.rows[5].last_played == 77.0
