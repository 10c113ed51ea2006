"""A scene of fights: a player, those who look on, and creatures, in a world without sockets."""

from __future__ import annotations

from random import Random
from typing import Any

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, HarnessContent, WorldHarness

HERE = Position(0.0, 0.0, 0.0, 0.0)


class Fight:
    """A world in which a player, Aldana, stands near creatures."""

    def __init__(
        self, version: int = 546, seed: int = 7, content: HarnessContent | None = None,
        **changes: Any,
    ) -> None:  # fmt: skip
        self.harness = WorldHarness(roll=Random(seed).randrange, content=content)
        self.client = self.stand(5, "Aldana", version, **changes)
        self.player = self.of(self.client)

    def stand(self, number: int, name: str, version: int = 546, **changes: Any) -> Client:
        client = self.harness.stand(number, version, name=name, **changes)
        self.put(client, HERE)
        self.harness.run(0.2)
        return client

    def of(self, client: Client) -> Player:
        assert client.player is not None
        return client.player

    def put(self, client: Client, place: Position) -> None:
        self.of(client).teleport(place, self.harness.now)

    def creature(self, name: str = "a crab", at: Position | None = None, **values: Any) -> Spawn:
        spawn = Spawn(
            self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name,
            at or HERE._replace(x=3.0, heading=270.0), **({"attackable": True} | values),
        )  # fmt: skip
        self.player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.2)
        return spawn

    def attack(self, spawn: Spawn, client: Client | None = None) -> list[str]:
        client = client or self.client
        self.of(client).set_target(spawn)
        return client.types("autoattack 1")

    def run(self, seconds: float) -> None:
        self.harness.run(seconds)

    def blows(self, client: Client | None = None) -> list[bytes]:
        log = (client or self.client).log
        return [payload for name, payload in log if name == "OP_EqHearCombatCmd"]

    def texts(self, client: Client | None = None) -> list[str]:
        return [one["text"] for one in (client or self.client).decoded("WS_DisplayText")]
