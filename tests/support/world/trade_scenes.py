"""Scenes with a merchant, a banker, a mender and two players, as they were recorded."""

from __future__ import annotations

from typing import Any

from emu.content.trade import Ware
from emu.items.held import Where
from emu.rules.loot import LootDrop, LootTable
from emu.world.actors.dealings import Dealing, MerchantKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.worlds import Client, WorldHarness

VERSIONS = [546, 561, 1096, 1208, 60114]
SHOP = 9101
WARES = (
    Ware(kinds.SWORD, None, 0, 0, ()),
    Ware(kinds.PEBBLE, None, 0, 0, ()),
    Ware(kinds.CAP, None, 0, 0, ()),
    Ware(kinds.RING, 2, 0, 0, ()),
    Ware(kinds.BOOTS, None, 123, 0, ()),
    Ware(kinds.HAT, None, 0, 0, ((kinds.BRASS, 3),)),
)
"""What Quartermaster Odell sells in items-*-deal."""
FOR_STATUS = Ware(kinds.MARBLE, None, 0, 30, ())


class TradeScene:
    """A zone with those who trade, and players who stand beside them."""

    def __init__(self, version: int = 546, **values: Any) -> None:
        self.harness = WorldHarness()
        self.harness.kinds = kinds.item_kinds()
        self.harness.parts.items.kinds = self.harness.kinds
        self.harness.trade._wares[SHOP] = WARES
        self.began: dict[int, int] = {}
        """The coins with which characters were made, which no entry has."""
        self.one = self.enter(1, version, **values)

    def enter(self, number: int, version: int = 546, **values: Any) -> Client:
        usual = {"admin_status": 100, "class_": 1, "coins": 0}
        self.began.setdefault(number, values.get("coins", 0))
        return self.harness.stand(number, version, **(usual | values))

    def stands(self, name: str, command: str, dealing: Dealing, away: float = 1.0) -> Spawn:
        """Put somebody who trades beside the first player, and let it be the target."""
        player = player_of(self.one)
        place = player.position._replace(x=player.position.x + away)
        spawn = Spawn(
            self.harness.zones.next_spawn_id(), SpawnKind.NPC, name, place,
            verbs=(Verb(command, 10.0, command),), dealing=dealing,
        )  # fmt: skip
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(1.0)
        self.targets(self.one, spawn)
        return spawn

    def merchant(self, **changes: Any) -> Spawn:
        return self.stands(
            "Quartermaster Odell", "frommerchant", Dealing(7, SHOP)._replace(**changes)
        )

    def banker(self) -> Spawn:
        return self.stands("Vaultkeeper Ryle", "bank", Dealing(8))

    def mender(self) -> Spawn:
        return self.stands("Mender Sallow", "repair", Dealing(9, merchant_kind=MerchantKind.MENDER))

    def foe(
        self, name: str, *drops: tuple[int, int], coins: int = 0, unless_quest: int = 0,
        **changes: Any,
    ) -> Spawn:  # fmt: skip
        """Put a creature with loot beside the first player: items and their counts.

        It drops them only for who has not completed `unless_quest`.
        """
        number = 910_900 + len(self.harness.trade._own)
        rows = tuple(
            LootDrop(item, count, is_worn=False, weight=100.0, unless_quest=unless_quest)
            for item, count in drops
        )
        tables = [
            LootTable(number * 10 + place, name, (coins, coins) if not place else (0, 0), 100.0,
                      1, 100.0, (row,) if row else ())
            for place, row in enumerate(rows or (None,))
        ]  # fmt: skip
        self.harness.trade._tables.update({table.id: table for table in tables})
        self.harness.trade._own[number] = ()
        player = player_of(self.one)
        spawn = Spawn(
            self.harness.zones.next_spawn_id(), SpawnKind.NPC, name, player.position,
            attackable=True, dealing=Dealing(0, loot=tuple(one.id for one in tables)),
            **({"level": player.spawn.level} | changes),
        )  # fmt: skip
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(1.0)
        self.targets(self.one, spawn)
        return spawn

    def kill(self, name: str, *drops: tuple[int, int], coins: int = 0, **changes: Any) -> Spawn:
        """Let the first player kill a creature that leaves this behind."""
        spawn = self.foe(name, *drops, coins=coins, **changes)
        self.one.types("/kill")
        self.harness.run(1.0)
        return spawn

    def chest(self) -> Spawn:
        """Return the chest that stands in the zone."""
        found = [
            one for one in player_of(self.one).zone.near(player_of(self.one).position, 50.0)
            if one.name.endswith("Chest")
        ]  # fmt: skip
        (chest,) = found
        return chest

    def asks(self, client: Client, spawn: Spawn, *items: int, button: int = 1) -> list[str]:
        """Send what a client's loot window sends; without items it takes all."""
        before = len(client.log)
        index = player_of(client).index_of(spawn) or 0
        fields: dict[str, Any] = {
            "loot_id": index, "loot_all": int(not items),
            "button_clicked": button, "target_id": 0xFFFFFFFF,
        }  # fmt: skip
        if items:
            fields["item_list"] = [{"item_id": one} for one in items]
        client.say("OP_LootItemsRequestMsg", client.dialect.encode_known("WS_LootItem", fields))
        layout = client.dialect.layout("WS_DisplayText")
        return [
            str(layout.decode(payload)["text"])
            for name, payload in client.log[before:]
            if name == "OP_EqDisplayTextCmd"
        ]

    def targets(self, client: Client, spawn: Spawn) -> None:
        player_of(client).set_target(spawn)

    def goes(self, client: Client, x: float) -> None:
        """Move a player so far along."""
        player = player_of(client)
        here = player.position
        player.spawn.move(Position(here.x + x, here.y, here.z))
        for moved in self.harness.parts.movement.moved:
            moved(player)
        self.harness.run(1.0)

    def is_right(self) -> bool:
        """Whether the entries explain all coins and things."""
        audit = finish(self.harness.stored.ledger.audit())
        began = all(
            one.found - one.by_entries == self.began.get(one.owner.number)
            for one in audit.differences
        )
        return began and not audit.wrong_things


def player_of(client: Client) -> Player:
    assert client.player is not None
    return client.player


def piles_up(client: Client, item: int) -> None:
    """Let all things of a kind that a player has lie in one stack, as an import may leave them."""
    player = player_of(client)
    inventory = player.holdings.inventory
    first, *others = inventory.of_kind(item)
    inventory.set(first, count=inventory.count_of(item))
    for one in others:
        inventory.use_up(one, one.count)
    client.harness.parts.items.changed(player)


def held(client: Client, where: Where = Where.BAGS) -> list[tuple[int, int]]:
    """Return kind and count of what lies in a list, by place."""
    found = player_of(client).holdings.inventory.in_list(where)
    return [(one.item_id, one.count) for one in found]


def coins_of(client: Client) -> int:
    return player_of(client).character.coins


def makes(client: Client, *items: int) -> None:
    """Let a game master make things for itself."""
    for item in items:
        assert client.types(f"/summonitem {item}") == []
