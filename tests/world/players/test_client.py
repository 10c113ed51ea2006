"""Messages a version does not have are left out."""

from __future__ import annotations

from emu.world.players.client import WorldClient
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import WorldHouse


def test_a_message_of_another_age_is_not_sent() -> None:
    client = WorldHouse().client()
    behind = WorldClient(dialect(546), client, "127.0.0.1")
    assert not behind.send("WS_NoSuchStruct")
    assert not behind.send_bytes("OP_NoSuchMsg")
    behind.command("OP_NoSuchCmd", b"")
    behind.drop("odd")
    assert client.log == []
    assert sum(behind.drops.values()) == 4
    assert behind.send("WS_SetPOVGhostCmd", {"spawn_id": 1})
    assert client.log == [("OP_EqSetPOVGhostCmd", bytes.fromhex("01000000"))]
