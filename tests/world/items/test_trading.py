"""A merchant, a bank and a trade of players beside each other, and those of the shipped zones."""

from __future__ import annotations

from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.content.trade import TomlTrade, TradeTables, shipped_trade
from emu.world.actors.spawn import Spawn
from emu.world.population.atlas import read_atlas
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, coins_of, held, player_of
from tests.support.world.worlds import Client, WorldHarness

POUCH, RAPIER = 2_000_000_001, 2_000_000_010


def test_what_is_offered_to_a_player_is_not_sold_banked_or_destroyed() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    scene.harness.run(1.0)
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types(f"/start_trade {player_of(scene.one).index_of(player_of(two).spawn)}")
    scene.one.types("/add_trade_item 0 0 1")
    scene.merchant()
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1") == [
        "You cannot sell the item in use."
    ]
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.types("/inventory move 0 0 -3 0") == ["You cannot move the item in use."]
    assert scene.one.types("/inventory destroy 0") == ["You cannot destroy the item in use."]
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 0)


class Isle:
    """The shipped Isle of Refuge, with the shipped things, and a player at its dock."""

    def __init__(self) -> None:
        self.harness = WorldHarness(atlas=read_atlas())
        self.trade = TradeTables(None, TomlTrade([shipped_trade()]))
        trading = self.harness.parts.trading
        trading.merchants._trade = trading.loots._tables = self.trade
        self.kinds = ItemKinds(None, TomlItems([shipped_items()]))
        self.harness.parts.items.kinds = self.kinds
        self.client: Client = self.harness.stand(1, 1208, zone_id=325)
        self.harness.run(2.0)

    def goes_to(self, name: str) -> Spawn:
        player = player_of(self.client)
        found = next(one for one in player.zone.near(player.position, 60.0) if one.name == name)
        player.spawn.move(found.position)
        self.harness.run(1.0)
        player.set_target(found)
        return found

    def uses(self, name: str, verb: str) -> None:
        """Choose a verb of a spawn as a client does."""
        spawn = self.goes_to(name)
        index = player_of(self.client).index_of(spawn) or 0
        text = verb.encode()
        body = index.to_bytes(4, "little") + len(text).to_bytes(2, "little") + text
        self.client.say("OP_EntityVerbsVerbMsg", body)


def test_the_shipped_isle_has_a_chest_a_merchant_a_banker_and_a_mender() -> None:
    isle = Isle()
    client = isle.client
    isle.uses("a salt-stained coffer", "loot")
    window = client.decoded("WS_UpdateLoot")[-1]
    client.say(
        "OP_LootItemsRequestMsg",
        client.dialect.layout("WS_LootItem").encode(
            {"loot_id": window["spawn_id"], "loot_all": 1, "target_id": 0xFFFFFFFF}
        ),
    )
    assert 120 <= coins_of(client) < 261
    assert held(client)
    isle.uses("Maren Saltwick", "frommerchant")
    goods = client.decoded("WS_UpdateMerchant")[-4]["item_array"]
    assert len(goods) == len(isle.trade.wares(2_000_000_001)) > 20
    client.types(f"/buy_from_merchant {POUCH} 1")
    assert POUCH in [item for item, _ in held(client)]
    isle.uses("Corvin Stoutlock", "bank")
    client.types("/bank_deposit 5")
    assert client.decoded("WS_UpdateBank")[-1]["bank_coins"] == 5
    isle.uses("Hesk Rivetwright", "repair")
    assert client.decoded("WS_UpdateMerchant")[-1]["type"] == 96


def test_everything_that_the_shipped_zones_trade_is_described() -> None:
    tables = TomlTrade([shipped_trade()])
    kinds_ = ItemKinds(None, TomlItems([shipped_items()]))
    numbers = {ware.item_id for wares in tables.wares.values() for ware in wares}
    numbers |= {drop.item_id for table in tables.tables.values() for drop in table.drops}
    assert kinds_.load(numbers).keys() == numbers
    zones = read_atlas()
    for fixture in zones.fixtures(325):
        dealing = fixture.template.dealing
        assert not dealing.merchant or dealing.merchant in tables.wares
        assert set(dealing.loot) <= tables.tables.keys()
