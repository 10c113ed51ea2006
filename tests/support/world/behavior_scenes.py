"""A player before a spawn that has one of the shipped behaviors."""

from __future__ import annotations

from typing import Any

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness

HERE = Position(3.0, -7.97, 243.45, 0.0)


def scene(name: str, options: dict[str, Any]) -> tuple[WorldHarness, Client, Spawn]:
    harness = WorldHarness()
    client = harness.stand(5, name="Aldana")
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard Vexel", HERE)
    assert client.player is not None
    client.player.zone.add_spawn(spawn, harness.now)
    assert harness.behaviors.start_behavior(name, options, client.player.zone, spawn)
    harness.run(1.5)
    return harness, client, spawn


def hail(client: Client, spawn: Spawn) -> None:
    assert client.player is not None
    index = client.player.index_of(spawn)
    assert index is not None
    client.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
    client.types("/hail")


def choose(client: Client, number: int) -> None:
    conversation = client.decoded("WS_DialogOpen")[-1]["conversation_id"]
    client.say(
        "OP_DialogSelectMsg", conversation.to_bytes(4, "little") + bytes((number - 1, 0, 0, 0))
    )
