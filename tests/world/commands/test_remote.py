"""Commands as clients use them."""

from __future__ import annotations

import struct

import pytest

from tests.support.world.worlds import WorldHouse


def test_a_client_is_given_what_its_rank_allows(house: WorldHouse) -> None:
    player, master = house.stand(5), house.stand(6, admin_status=100)

    def names(client) -> set[str]:
        [table] = client.decoded("WS_SetRemoteCmdsMsg")
        return {row["name"] for row in table["commands_array"]}

    assert {"say", "tell", "who", "afk"} <= names(player)
    assert not {"kick", "shutdown"} & names(player)
    assert "kick" in names(master)
    assert "shutdown" not in names(master)
    [table] = [data for name, data in player.log if name == "OP_SetRemoteCmdsMsg"]
    assert table.endswith(b"\0")


@pytest.mark.parametrize(
    "body",
    [b"\0", struct.pack("<HH", 60_000, 0), struct.pack("<HH", 0, 60_000) + b"x",
     struct.pack("<HH", 0, 1) + b"xy"],
)  # fmt: skip
def test_damaged_ones_are_counted(house: WorldHouse, body: bytes) -> None:
    one = house.stand(5)
    before = len(one.log)
    one.say("OP_RemoteCmdMsg", body)
    assert sum(one.player.client.drops.values()) == 1
    assert len(one.log) == before
    assert not one.is_closed


def test_an_empty_one_ends_the_session() -> None:
    """docs/protocol/world/movement.md#bad-predictions."""
    one = WorldHouse().stand(5)
    one.say("OP_RemoteCmdMsg", b"")
    assert one.is_closed


def test_a_command_of_another_rank_cannot_be_reached() -> None:
    one = WorldHouse().stand(5)
    [table] = one.decoded("WS_SetRemoteCmdsMsg")
    one.say("OP_RemoteCmdMsg", struct.pack("<HH", table["num_commands"], 0))
    assert sum(one.player.client.drops.values()) == 1
