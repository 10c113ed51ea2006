"""Going to a zone that another process serves: two worlds share store, keys and bus."""

from __future__ import annotations

from emu.errors import StoreError
from emu.model import Handoff, Place
from emu.world.players.player import PlayerState
from emu.world.players.saving import save
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHouse

ISLE, ANTONICA = 325, 12
"""Zones that ship: the first is served here, the second there."""
HERE, THERE = ("127.0.0.1", 9001), ("192.0.2.9", 9002)


def two() -> tuple[WorldHouse, WorldHouse]:
    here = WorldHouse(elsewhere={ANTONICA: THERE})
    there = WorldHouse(beside=here, elsewhere={ISLE: HERE})
    return here, there


def told(client: Client) -> dict[str, object]:
    (change,) = client.decoded("WS_ZoneChangeMsg")
    return change


def arrives(client: Client, house: WorldHouse, char_id: int) -> Client:
    """Show the key that a client was told at the other world's door, and stand there."""
    change = told(client)
    handoff = finish(house.keys.redeem(int(str(change["account_id"])), int(str(change["key"]))))
    assert handoff is not None
    assert handoff == Handoff(char_id + 100, char_id, f"Name{char_id}")
    return house.stand(char_id)


def test_a_player_goes_over_with_all_it_has() -> None:
    here, there = two()
    client = here.stand(5, admin_status=100, last_played=1.0)
    client.types("/friend Borvik")
    client.types("/zone antonica")
    change = told(client)
    assert (change["ip_address"], change["port"]) == THERE
    assert here.store.rows[5].zone_id == ANTONICA
    assert here.store.rows[5].relations == ((0, "Borvik"),), "stored before the client was told"
    assert client.player is not None
    assert client.player.state is PlayerState.GONE
    assert len(here.world.players) == 0
    assert not client.is_closed
    client.say("OP_ReadyToZoneMsg")
    assert client.is_closed
    again = arrives(client, there, 5)
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
    assert told(client)["port"] == THERE[1]


def test_a_save_meanwhile_does_not_bring_it_back() -> None:
    here, _ = two()
    client = here.stand(5, admin_status=100)
    assert client.player is not None
    player, calls, save_place = client.player, list[int](), here.store.save_place

    async def slow(char_id: int, zone_id: int, place: Place) -> None:
        await save_place(char_id, zone_id, place)
        calls.append(zone_id)
        if len(calls) == 1:
            save(here.world, player)  # its minute is over before the answer has come

    here.store.save_place = slow  # type: ignore[method-assign]
    client.types("/zone antonica")
    assert told(client)["port"] == THERE[1]
    assert calls == [ANTONICA, ANTONICA]
    assert here.store.rows[5].zone_id == ANTONICA


def test_who_comes_in_at_the_wrong_process_is_sent_on() -> None:
    here, there = two()
    place = (1.0, 2.0, 3.0, 4.0, 5)
    client = here.stand(5, zone_id=ANTONICA, place=place)
    assert told(client)["port"] == THERE[1]
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


def test_errors_of_the_store_are_what_the_traveller_is_told_of() -> None:
    here, _ = two()
    client = here.stand(5, admin_status=100)
    here.store.broken = True
    assert client.types("/zone antonica") == [str(StoreError("the disk is full"))]
