"""What is stored of a player, and that whoever comes back at once is where it was."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from emu.model import Hotkey, SavedKind, Title
from emu.times import Moment
from emu.world.actors.player import Player, PlayerDeadline, Relation
from emu.world.reports import NotSaved
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


@pytest.fixture(autouse=True)
def _friends(harness: WorldHarness) -> None:
    harness.exist("Borvik", "Cestra")


def test_changes_wait_for_each_other_and_are_stored_together(harness: WorldHarness) -> None:
    client = harness.stand(5, last_played=1.0)
    assert client.player is not None
    saves = harness.world.saves
    harness.run(3.0)
    before = len(harness.store.saves)
    client.player.client_data.hotbars.fill_slot(Hotkey(1, 2, 4))
    saves.changed(client.player, SavedKind.HOTKEYS, harness.now)
    harness.run(1.0)
    client.player.titles.give(Title("of the Meadow"))
    saves.changed(client.player, SavedKind.TITLES, harness.now)
    assert len(harness.store.saves) == before
    harness.run(1.1)
    row = harness.store.rows[5]
    assert len(harness.store.saves) == before + 1
    assert Hotkey(1, 2, 4) in row.hotkeys
    assert Title("of the Meadow") in row.titles


def test_a_place_is_kept_to_its_last_digit_with_its_grid(harness: WorldHarness) -> None:
    client = harness.stand(5)
    assert client.player is not None
    here = client.player.position
    there = Position(here.x + 0.015625, here.y, here.z - 0.25, 12.5, 0xFEDCBA98)
    client.player.spawn.move(there)
    harness.console("kick Name5")
    assert harness.store.rows[5].place == there
    again = harness.stand(5)
    assert again.player is not None
    assert again.player.position == there


def test_who_returns_before_the_store_is_done_is_where_it_was(harness: WorldHarness) -> None:
    late: list[Coroutine[Any, Any, Any]] = []
    client = harness.stand(5)
    before = harness.store.rows[5]
    harness.start = late.append
    assert client.player is not None
    there = client.player.position._replace(x=client.player.position.x + 7.0)
    client.player.spawn.move(there)
    harness.console("kick Name5")
    assert harness.store.rows[5] == before
    again = harness.enter(5)
    assert again.player is not None
    assert again.player.position == there
    harness.start = finish
    for work in late:
        finish(work)
    assert harness.store.rows[5].place == there
    assert len(harness.world.saves.saver) == 0


def test_what_could_not_be_stored_is_stored_with_the_next_save(harness: WorldHarness) -> None:
    client = harness.stand(5)
    client.types("/friend Borvik")
    assert client.player is not None
    harness.store.broken = True
    harness.world.saves.changed(client.player, SavedKind.RELATIONS, harness.now)
    harness.run(3.0)
    assert harness.world.faults.drops["save failed"] == 1
    harness.store.broken = False
    harness.run(60.0)
    assert harness.store.rows[5].relations == ((0, "Borvik"),)
    assert client.player is not None
    assert harness.world.saves.saver.latest(replace(harness.store.rows[5])) == harness.store.rows[5]


def test_who_left_while_the_disk_was_full_is_stored_when_it_is_not(harness: WorldHarness) -> None:
    client = harness.stand(5, last_played=1.0)
    harness.store.broken = True
    client.types("/friend Borvik")
    there = client.player.position._replace(x=client.player.position.x + 7.0)
    client.player.spawn.move(there)
    assert client.player is not None
    harness.service.send_away(client.player, "sent away", harness.now)
    assert len(harness.world.players) == 0
    harness.run(100.0)
    assert harness.store.rows[5].relations == ()
    assert len(harness.world.saves.saver) == 1
    reported = [event for event in harness.events if isinstance(event, NotSaved)]
    assert [str(one) for one in reported] == ["Name5 is not saved: the disk is full"]
    harness.store.broken = False
    harness.run(harness.world.rules.save_retry)
    assert harness.store.rows[5].relations == ((0, "Borvik"),)
    assert harness.store.rows[5].place == there
    assert len(harness.world.saves.saver) == 0


def test_who_returns_while_the_disk_is_full_has_all_it_had(harness: WorldHarness) -> None:
    client = harness.stand(5, last_played=1.0)
    client.types("/friend Borvik")
    harness.store.broken = True
    assert client.player is not None
    harness.service.send_away(client.player, "sent away", harness.now)
    assert len(harness.world.players) == 0
    again = harness.stand(5)
    assert again.player is not None
    assert again.player.relations.names(Relation.FRIEND) == ["Borvik"]
    again.types("/friend Cestra")
    harness.store.broken = False
    harness.run(10.0)
    assert [name for _, name in harness.store.rows[5].relations] == ["Borvik", "Cestra"]


def test_when_somebody_was_played_is_stored_at_once(harness: WorldHarness) -> None:
    player = harness.stand(5).player
    assert player is not None
    harness.world.saves.played(player, Moment(77.0))
    assert harness.store.rows[5].last_played == 77.0


def test_a_stored_change_has_no_deadline_any_more(harness: WorldHarness) -> None:
    client = harness.stand(5)
    player = client.player
    assert player is not None
    finish(harness.world.saves.confirm(player, SavedKind.OPTIONS))
    deadlines = harness.world.players.deadlines
    assert deadlines.get(player, PlayerDeadline.CONFIRMED) is None
    assert player.unsaved.waiting == []


def test_all_that_is_stored_of_a_player_is_awaited(harness: WorldHarness) -> None:
    client = harness.stand(5)
    player = client.player
    assert player is not None
    awaited: list[str] = []

    async def wait(one: Player) -> None:
        awaited.append(one.name)

    harness.world.saves.others.append(wait)
    finish(harness.world.saves.stored(player))
    assert awaited == ["Name5"]


@pytest.mark.parametrize(
    ("before", "points", "after"),
    [(10, 5, 15), (10, -4, 6), (10, -11, 0), (0xFFFFFFFE, 5, 0xFFFFFFFF)],
)
def test_status_points_stay_within_32_bits(
    harness: WorldHarness, before: int, points: int, after: int
) -> None:
    player = harness.stand(5, status_points=before).player
    assert player is not None
    harness.world.saves.add_status(player, points)
    assert player.character.status_points == after
