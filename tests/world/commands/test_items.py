"""Commands of game masters about things."""

from __future__ import annotations

from emu.items.held import Where
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene


def test_things_go_into_the_bank_on_request() -> None:
    _, client = scene()
    assert client.types(f"/summonitem {kinds.PEBBLE} 4 bank") == []
    assert held(client, Where.BANK) == [(kinds.PEBBLE, 0, 4)]
    for _ in range(12):
        client.types(f"/summonitem {kinds.MARBLE} bank")
    assert len(held(client, Where.BANK)) == 12  # without a free place nothing happens


def test_lore_is_refused() -> None:
    _, client = scene()
    assert client.types(f"/summonitem {kinds.SEAL}") == []
    assert client.types(f"/summonitem {kinds.SEAL}") == [
        "You cannot obtain Cracked Royal Seal due to lore conflict."
    ]
    assert held(client) == [(kinds.SEAL, 0, 1)]


def test_charges_begin_full() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.CHARM}")
    assert held(client) == [(kinds.CHARM, 0, 3)]


def test_things_are_given_to_others_and_found_by_name() -> None:
    harness, client = scene()
    other = harness.stand(2, 1208, class_=1)
    name = player_of(other).name
    assert client.types(f"/giveitem {name} {kinds.PEBBLE} 2") == [
        f"{name} is given Grey River Pebble"
    ]
    assert held(other) == [(kinds.PEBBLE, 0, 2)]
    assert client.types("/itemsearch pebble") == [f"{kinds.PEBBLE}  Grey River Pebble"]
    assert "no name" in client.types("/itemsearch zzz")[0]


def test_a_wrong_count_makes_nothing() -> None:
    _, client = scene()
    for count in ("0", "-1", "99999", "x"):
        (line,) = client.types(f"/summonitem {kinds.PEBBLE} {count}")
        assert "is no number of things" in line
    assert held(client) == []


def test_coins_are_added_to_the_target_or_oneself() -> None:
    _, client = scene()
    assert client.types("/player coins add 150") == ["You give yourself 150 coins"]
    assert player_of(client).character.coins == 150
