"""Going to a zone that another process serves: two worlds share store, keys and bus."""

from __future__ import annotations

import pytest

from emu.errors import StoreError, public_text
from emu.model import EntryOrigin, Handoff, SavedState
from emu.world.actors.player import PlayerState
from emu.world.entry.leaving import LeaveReason
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHarness, ZoneTable

ISLE, ANTONICA = 325, 12
"""Zones that ship: the first is served here, the second there."""
HERE, THERE = ("127.0.0.1", 9001), ("192.0.2.9", 9002)


def two() -> tuple[WorldHarness, WorldHarness]:
    here = WorldHarness(elsewhere={ANTONICA: THERE})
    there = WorldHarness(beside=here, elsewhere={ISLE: HERE})
    return here, there


def reported(client: Client) -> dict[str, object]:
    (change,) = client.decoded("WS_ZoneChangeMsg")
    return change


def arrives(client: Client, harness: WorldHarness, char_id: int, rank: int = 0) -> Client:
    """Show the other world the key that a client was sent, and stand there."""
    change = reported(client)
    handoff = finish(harness.keys.redeem(int(str(change["account_id"])), int(str(change["key"]))))
    assert handoff is not None
    assert handoff == Handoff(char_id + 100, char_id, f"Name{char_id}", rank, EntryOrigin.ZONE)
    return harness.stand(char_id)


def test_a_player_goes_over_with_all_it_has() -> None:
    here, there = two()
    client = here.stand(5, admin_status=100, last_played=1.0)
    here.exist("Borvik")
    client.types("/friend Borvik")
    client.types("/zone antonica")
    change = reported(client)
    assert (change["ip_address"], change["port"]) == THERE
    assert here.store.rows[5].zone_id == ANTONICA
    assert here.store.rows[5].relations == ((0, "Borvik"),), (
        "stored before the client was sent the address"
    )
    assert client.player is not None
    assert client.player.state is PlayerState.GONE
    assert len(here.world.players) == 0
    assert not client.is_closed
    client.say("OP_ReadyToZoneMsg")
    assert client.is_closed
    again = arrives(client, there, 5, rank=100)
    assert again.player is not None
    assert again.player.zone.zone_id == ANTONICA
    assert again.player.position == there.atlas.get(ANTONICA).safe
    here.service.closed(client.player, client, "over", here.now)
    here.run(120.0)
    assert there.presence.is_playing(105)
    assert here.presence.is_playing(105), "both see where it plays"
    assert here.store.rows[5].zone_id == ANTONICA, "nobody stored it anew"


def test_a_client_that_does_not_go_is_closed() -> None:
    here, _ = two()
    client = here.stand(5, admin_status=100)
    client.types("/zone antonica")
    client.walk(3.0, 1.0, 245.0)
    client.types("/say I am still here")
    here.run(61.0)
    assert client.is_closed
    assert here.store.rows[5].zone_id == ANTONICA


def test_what_cannot_be_stored_does_not_go() -> None:
    here, _ = two()
    client = here.stand(5, admin_status=100)
    here.store.broken = True
    client.types("/zone antonica")
    assert client.decoded("WS_ZoneChangeMsg") == []
    assert client.player is not None
    assert client.player.state is PlayerState.STANDING
    here.store.broken = False
    client.types("/zone antonica")
    assert reported(client)["port"] == THERE[1]


@pytest.mark.parametrize("leaves", [False, True], ids=["link lost", "camped"])
def test_who_is_gone_before_its_place_there_is_stored_stays_here(leaves: bool) -> None:
    """The price of its way is given back, so it must not be there when it comes again."""
    here, _ = two()
    client = here.stand(5, admin_status=100)
    assert client.player is not None
    player, save_character, goes = client.player, here.store.save_character, [True]

    async def slow(char_id: int, state: SavedState, **_how: bool) -> None:
        await save_character(char_id, state)
        if goes.pop() if goes else False:
            if leaves:
                here.departures.leave_saved(player, LeaveReason.CAMPED, here.now)
            else:
                here.departures.link_lost(player, "over", here.now)

    here.store.save_character = slow  # type: ignore[method-assign]
    client.types("/zone antonica")
    assert client.decoded("WS_ZoneChangeMsg") == []
    here.run(5.0)
    assert here.store.rows[5].zone_id == ISLE
    if not leaves:
        again = here.enter(5)
        assert again.player is player
        assert player.journey.destination is None


def test_a_save_meanwhile_does_not_bring_it_back() -> None:
    here, _ = two()
    client = here.stand(5, admin_status=100)
    assert client.player is not None
    player, calls, save_character = client.player, list[int](), here.store.save_character

    async def slow(char_id: int, state: SavedState, **_how: bool) -> None:
        await save_character(char_id, state)
        calls.append(state.zone_id)
        if len(calls) == 1:
            here.world.saves.save(player)  # its minute is over before the answer has come

    here.store.save_character = slow  # type: ignore[method-assign]
    client.types("/zone antonica")
    assert reported(client)["port"] == THERE[1]
    assert calls == [ANTONICA, ANTONICA]
    assert here.store.rows[5].zone_id == ANTONICA


def test_who_comes_in_at_the_wrong_process_is_sent_on() -> None:
    here, there = two()
    place = (1.0, 2.0, 3.0, 4.0, 5)
    client = here.stand(5, zone_id=ANTONICA, place=place)
    assert reported(client)["port"] == THERE[1]
    assert (here.store.rows[5].zone_id, here.store.rows[5].place) == (ANTONICA, place)
    again = arrives(client, there, 5)
    assert again.player is not None
    assert again.player.position == place


def test_who_leaves_while_waiting_to_be_sent_on_keeps_its_place() -> None:
    here, _ = two()
    place = (1.0, 2.0, 3.0, 4.0, 5)
    client = here.enter(5, zone_id=ANTONICA, place=place)
    client.say("OP_DoneLoadingZoneResourcesMsg")
    here.console("kick Name5")
    assert (here.store.rows[5].zone_id, here.store.rows[5].place) == (ANTONICA, place)


@pytest.mark.parametrize(("rank", "shows_cause"), [(100, False), (200, True)])
def test_only_operators_of_the_server_see_why_the_store_fails(rank: int, shows_cause: bool) -> None:
    """A database's error can name its address, which game masters need not know."""
    here, _ = two()
    client = here.stand(5, admin_status=rank)
    here.store.broken = True
    error = StoreError("the disk is full")
    assert client.types("/zone antonica") == [str(error) if shows_cause else public_text(error)]


def test_who_crashed_in_one_process_comes_in_at_another_with_all_it_has() -> None:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    client = here.stand(5, last_played=1.0, admin_status=100)
    here.exist("Borvik")
    client.types("/friend Borvik")
    client.walk(451.0, -37.0, 820.0)
    assert client.player is not None
    place = client.player.position
    finish(there.service.fetch(5))
    assert client.is_closed
    assert client.player.state is PlayerState.GONE
    row = here.store.rows[5]
    assert (row.relations, row.place) == (((0, "Borvik"),), tuple(place))
    again = there.stand(5)
    assert there.presence.is_playing(105)
    assert here.presence.is_playing(105)
    assert not again.is_closed
    here.service.closed(client.player, client, "over", here.now)
    here.run(130.0)
    assert there.presence.is_playing(105)


def test_a_process_that_cannot_store_or_answer_does_not_keep_a_player_out() -> None:
    here, there = two()
    client = here.stand(5)
    here.store.broken = True
    finish(there.service.fetch(5))
    assert client.is_closed
    here.store.broken = False
    finish(there.service.fetch(5))
    finish(there.service.fetch(99))
    here.presence.entered(client.player.present, lambda: None)  # type: ignore[union-attr]
    there.world.processes.bus._answers.clear()  # type: ignore[attr-defined]
    finish(there.service.fetch(5))
    assert sum("not given up" in reason for reason in there.world.faults.drops) == 2


def test_a_hidden_master_stays_hidden_when_a_client_of_another_version_takes_over() -> None:
    here = WorldHarness()
    client = here.stand(5, admin_status=100)
    assert client.player is not None
    client.player.spawn.hidden = True
    again = here.enter(5, 561)
    assert again.player is not None
    assert again.player is not client.player
    assert again.player.spawn.hidden


def test_who_crashed_while_changing_zones_comes_in_where_it_was_going() -> None:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    client = here.stand(5, last_played=1.0, admin_status=100)
    client.types("/zone antonica")
    assert client.player is not None
    assert client.player.state is PlayerState.ZONING
    finish(there.service.fetch(5))
    assert client.player.state is PlayerState.GONE
    again = there.stand(5)
    assert again.player is not None
    assert again.player.zone.zone_id == ANTONICA


def test_who_waits_for_the_zone_of_new_characters_waits_in_a_zone_of_this_process() -> None:
    _, there = two()
    client = there.enter(5, zone_id=ISLE)
    assert client.player is not None
    assert client.player.zone.zone_id == ANTONICA


def test_who_waits_for_a_node_is_sent_on_as_soon_as_there_is_one() -> None:
    here = WorldHarness(elsewhere={ANTONICA: THERE})
    nodes = here.world.processes.zone_servers
    assert isinstance(nodes, ZoneTable)
    nodes.lost.add(ANTONICA)
    client = here.stand(5, zone_id=ANTONICA)
    lines = [row["text"] for row in client.decoded("WS_DisplayText")]
    assert len([line for line in lines if "You cannot be where you were" in line]) == 1
    here.run(30.0)
    assert client.decoded("WS_ZoneChangeMsg") == []
    lines = [row["text"] for row in client.decoded("WS_DisplayText")]
    assert len([line for line in lines if "You cannot be where you were" in line]) == 1
    nodes.lost.clear()
    here.run(5.0)
    assert reported(client)["port"] == THERE[1]
    here.run(60.0)
    assert here.world.players.get(5) is None


def test_who_waits_for_a_node_and_leaves_is_waited_for_no_more() -> None:
    here = WorldHarness(elsewhere={ANTONICA: THERE})
    nodes = here.world.processes.zone_servers
    assert isinstance(nodes, ZoneTable)
    nodes.lost.add(ANTONICA)
    client = here.stand(5, zone_id=ANTONICA)
    here.console("kick Name5")
    nodes.lost.clear()
    here.run(30.0)
    assert client.decoded("WS_ZoneChangeMsg") == []
