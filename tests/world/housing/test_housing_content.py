"""An inn of the real content: bought, entered and left, as the quest of a village asks."""

from __future__ import annotations

import struct

import pytest

from emu.houses import FIRST_HOUSE
from emu.world.actors.spawn import Spawn
from emu.world_stream.movement import Position
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT, real_world
from tests.support.world.worlds import Client

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT),
]
NETTLEVILLE, INN_ZONE, INN, WELCOME = 233, 223, 12, 5763
DOOR = "widget_player_housing_0"
CARETAKER = "Caretaker Fairlee"
EXIT = Position(648.52, -24.93, 349.37, 323.43)


def uses(client: Client, spawn: Spawn, verb: str) -> None:
    assert client.player is not None
    index = client.player.index_of(spawn)
    assert index is not None
    text = verb.encode()
    client.say("OP_EntityVerbsVerbMsg", struct.pack("<IH", index, len(text)) + text)
    client.harness.run(1.0)


def asks(client: Client, message: str, name: str, **fields: int) -> None:
    client.say(message, client.dialect.layout(name).encode(fields))
    client.harness.run(1.0)


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_welcome_to_qeynos_begins_in_an_inn(version: int) -> None:
    harness = real_world()
    client = harness.stand(1, version, name="Aldana", zone_id=NETTLEVILLE, place=EXIT, race=9)
    player = client.player
    assert player is not None
    harness.run(5.0)
    quests = harness.parts.quests.quests
    assert quests.offer(player, WELCOME, is_forced=True)
    harness.run(2.0)
    door = next(
        one for one in player.zone
        if one.name == DOOR and harness.parts.housing.entrances.home_of(one) == INN
    )  # fmt: skip
    player.teleport(door.position._replace(x=door.position.x + 2.0), harness.now)
    harness.run(2.0)
    uses(client, door, "Access")
    assert client.decoded("WS_PlayerHousePurchase")[-1]["house_name"] == "The Nettleville Inn"
    asks(client, "OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=INN)
    window = client.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert window["house_name"] == "Aldana's The Nettleville Inn"
    number = window.get("house_id", window["spawn_id"])
    asks(client, "OP_EnterHouseMsg", "WS_EnterHouse", house_id=number)
    client = harness.enter(1, version)
    client.load()
    harness.run(5.0)
    assert (player.zone.zone_id, player.zone.instance > FIRST_HOUSE) == (INN_ZONE, True)
    assert any(one.name == CARETAKER for one in player.zone)
    # The first step is done by standing in the inn.
    taken = quests.journal(player).open[WELCOME]
    assert taken.is_done(1)
    inside = next(one for one in player.zone if one.name == "Interior House Accessor")
    player.teleport(inside.position, harness.now)
    harness.run(2.0)
    uses(client, inside, "Access")
    assert client.decoded("WS_PlayerHouseBaseScreen")[-1]["inside_house"] == 1
    client.say("OP_ExitHouseMsg")
    harness.run(1.0)
    assert player.journey.destination is not None
    assert player.journey.destination.zone_id == NETTLEVILLE
