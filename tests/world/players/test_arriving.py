"""How characters come into the world; that they are taken over, whole-house tests say."""

from __future__ import annotations

from emu.world.players.client import WorldClient
from tests.support.world.ghost_views import dialect
from tests.support.world.worlds import WorldHouse


def test_a_version_whose_ghosts_are_not_known_is_let_in_and_sees_nobody(house: WorldHouse) -> None:
    house.stand(6)
    client = house.client()
    client.dialect = dialect(1208)
    behind = WorldClient(dialect(1208), client, "127.0.0.1")
    client.player = house.service.enter(house.character(5), behind, house.now)
    for name in ("OP_DoneLoadingZoneResourcesMsg", "OP_DoneLoadingEntityResourcesMsg"):
        client.say(name)
    house.run(1.0)
    assert "OP_LoginReplyMsg" in client.names
    assert "OP_EqCreateGhostCmd" not in client.names
    house.service.closed(client.player, client, "gone", house.now)
    house.run(200.0)
    assert len(house.world.players) == 1


def test_a_full_instance_of_a_zone_begins_another(house: WorldHouse) -> None:
    definition = house.zones.definition(325)
    house.zones.table._zones[325] = definition.__class__(
        **{name: getattr(definition, name) for name in definition.__slots__} | {"population": 2}
    )
    clients = [house.stand(number) for number in range(5, 10)]
    assert [client.player.zone.instance for client in clients] == [0, 0, 1, 1, 2]
    house.run(1.0)
    assert clients[0].sees() == {"Name6"}
