"""A world with houses of a content file, and players at their doors."""

from __future__ import annotations

from typing import Any, Final

from emu.content.homes import HomeTables, HouseKind
from emu.houses import Price
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, Verb
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.travel_scenes import ANTONICA, DOOR, ISLE, PLACE, TravelScene
from tests.support.world.worlds import Client, HarnessContent, WorldHarness, bare_atlas

INN: Final = HouseKind(12, "The Nettleville Inn", Price(0), Price(500), 6, 0, 0, ANTONICA, ISLE,
                  (648.5, -24.93, 349.37, 323.0))  # fmt: skip
MANOR: Final = HouseKind(3, "Manors of Erollisi", Price(1000, 40), Price(70, 5), 6, 1, 0, ANTONICA,
                    99, (1.0, 2.0, 3.0, 4.0))  # fmt: skip
HALL: Final = HouseKind(5, "Halas Guild Hall", Price(50), Price(0), 6, 0, 1, ANTONICA, ISLE,
                   (0.0, 0.0, 0.0, 0.0))  # fmt: skip
HOMES: Final = HomeTables({one.id: one for one in (INN, MANOR, HALL)})
WEEK: Final = 7 * 86_400.0


class HouseScene(TravelScene):
    """One player beside the doors of houses, which are copies of Antonica."""

    def __init__(self, version: int = 546, tables: HomeTables = HOMES, **values: Any) -> None:
        self.harness = WorldHarness(atlas=bare_atlas(), content=HarnessContent(homes=tables))
        self.travel = self.harness.parts.travel
        self.housing = self.harness.parts.housing
        usual = {"coins": 10_000, "status_points": 100}
        self.client = self.harness.stand(5, version, name="Aldana", **(usual | values))
        assert self.client.player is not None
        self.player = self.client.player
        self.zone = self.player.zone
        self.go(1.0)

    def door(self, home: HouseKind = INN, number: int = 900) -> Spawn:
        """Put the door of a house into the zone."""
        spawn = self.put("widgets", {**DOOR, "kind": "generic", "housing": home.id}, number,
                         command="access")  # fmt: skip
        spawn.verbs = (Verb("Access", 10.0, "access"),)
        spawn.more_verbs = (Verb("Visit", 10.0, "visit"),)
        return spawn

    def asks(self, message: str, struct: str, **fields: Any) -> list[str]:
        """Send what a window sends; return the lines that the player is shown."""
        return self.asks_of(self.client, message, struct, **fields)

    def asks_of(self, client: Client, message: str, struct: str, **fields: Any) -> list[str]:
        before = len(client.decoded("WS_DisplayText"))
        client.say(message, client.dialect.layout(struct).encode(fields))
        self.harness.run(0.5)
        return [str(one["text"]) for one in client.decoded("WS_DisplayText")[before:]]

    def buys(self, home: HouseKind = INN, door: Spawn | None = None) -> Spawn:
        """Let the player buy a house at its door."""
        door = door or self.door(home)
        assert self.use(door, "Access") == []
        assert self.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=home.id) == []
        return door

    def number(self, client: Client | None = None) -> int:
        """Return the number by which a client names the house of its window."""
        client = client or self.client
        window = client.decoded("WS_PlayerHouseBaseScreen")[-1]
        return int(window.get("house_id", window["spawn_id"]))

    def enters(self, client: Client | None = None, number: int | None = None) -> list[str]:
        """Let a player enter the house of its window; return what it reads."""
        client = client or self.client
        assert client.player is not None
        lines = self.asks_of(
            client, "OP_EnterHouseMsg", "WS_EnterHouse",
            house_id=self.number(client) if number is None else number,
        )  # fmt: skip
        self.arrives(client.player)
        return [line for line in lines if not line.startswith("Zoning to")]

    def arrives(self, player: Player) -> None:
        """Let a player that changes its zone arrive there."""
        if player.journey.destination is None:
            return
        version = player.client.dialect.version
        client = self.harness.enter(player.id, version)
        client.load()
        self.harness.run(0.5)
        if player is self.player:
            self.client = client

    def owned(self) -> list[Any]:
        return list(finish(self.harness.stored.houses.owned(self.player.id)))

    @property
    def coins(self) -> int:
        return self.player.character.coins

    @property
    def is_right(self) -> bool:
        """Whether the entries explain all coins but those with which the characters began."""
        audit = finish(self.harness.stored.ledger.audit())
        return all(one.found - one.by_entries in {0, 10_000} for one in audit.differences)


__all__ = ["HALL", "HOMES", "INN", "MANOR", "PLACE", "WEEK", "HouseScene", "Position"]
