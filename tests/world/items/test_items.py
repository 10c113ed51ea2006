"""Things of players in a world: made, worn, moved, refused, stored and back again.

Texts and lists are those of ../shared/data/recordings/items-546-carry and items-1208-carry.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from twisted.internet.defer import ensureDeferred

from emu.content.beginners import StartingThing, starting_things
from emu.content.items import TomlItems, shipped_items
from emu.items.held import Place, Thing, Where
from emu.items.kinds import Slot
from emu.ledger import Moved, Movement, Outcome, Owner, OwnerKind, Part, Reason
from emu.times import Moment
from emu.world.events import Entered
from emu.world.items.exchanges import Act
from emu.world.items.items import NUMBERS_AT_ONCE, keeper_of
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene
from tests.support.world.worlds import WorldHarness

VERSIONS = [546, 561, 1096, 1208, 60114]
SHOP = Owner(OwnerKind.MERCHANT, 7)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_game_master_makes_is_in_the_first_free_place(version: int) -> None:
    _, client = scene(version)
    assert client.types(f"/summonitem {kinds.MARBLE}") == []
    assert client.types(f"/summonitem {kinds.PEBBLE} 3") == []
    assert held(client) == [(kinds.MARBLE, 0, 1), (kinds.PEBBLE, 1, 3)]
    assert client.types("/summonitem 77") == ["Could not find item with id of: 77"]
    assert [name for name, _ in client.log].count("OP_UpdateInventoryMsg") == 4


def test_a_worn_thing_changes_the_sheet_and_what_others_see() -> None:
    _, client = scene()
    spawn = player_of(client).spawn
    before = spawn.sheet.attribute("sta"), spawn.sheet.health.most
    client.types(f"/summonitem {kinds.CAP}")
    client.types(f"/summonitem {kinds.SWORD}")
    assert client.types("/inventory equip 0") == []
    assert client.types("/inventory equip 1") == []
    assert held(client, Where.WORN) == [(kinds.SWORD, 0, 1), (kinds.CAP, 2, 1)]
    assert spawn.appearance["equipment_types"][:3] == [2123, 0, 1513]
    assert spawn.appearance["equipment_colors"][2] == [200, 100, 50]
    assert spawn.sheet.attribute("sta") == before[0] + 4
    assert spawn.sheet.health.most == before[1] + 12 + 4 * 3
    assert client.types("/inventory unequip 2") == []
    assert held(client) == [(kinds.CAP, 0, 1)]
    assert spawn.sheet.attribute("sta") == before[0]
    assert spawn.appearance["equipment_types"][2] == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_everything_is_there_again_after_coming_back(version: int) -> None:
    harness, client = scene(version)
    for item in (kinds.PURSE, kinds.MARBLE, kinds.PEBBLE, kinds.SWORD):
        client.types(f"/summonitem {item}")
    client.types("/inventory equip 3")
    before = [held(client, where) for where in Where]
    harness.departures.leave(player_of(client), "quit", harness.now)
    back = harness.stand(1, version)
    assert [held(back, where) for where in Where] == before
    assert player_of(back).spawn.appearance["equipment_types"][0] == 2123
    audit = finish(harness.stored.ledger.audit())
    assert (audit.things, audit.wrong_things) == (4, ())


def test_a_weight_counts_what_is_carried_and_worn() -> None:
    _, client = scene()
    client.types(f"/summonitem {kinds.PEBBLE} 20")
    client.types(f"/summonitem {kinds.CLUB}")
    client.types("/inventory equip 1")
    fields = player_of(client).spawn.sheet
    assert fields._values["weight"] == (20 * 2 + 120) // 10


def test_a_new_character_wears_the_things_of_its_class_once() -> None:
    harness = WorldHarness()
    items = TomlItems([shipped_items()])
    harness.kinds.reload(None, items, starting_things(None, items.beginners))
    client = harness.stand(1, 546, class_=3, race=0)
    worn = {one[1] for one in held(client, Where.WORN)}
    assert worn == {Slot.PRIMARY, Slot.SECONDARY, Slot.CHEST, Slot.LEGS, Slot.FEET}
    assert [one[2] for one in held(client)] == [1, 5, 5]
    assert harness.parts.world.players.get(1) is not None
    entries = finish(harness.stored.ledger.of_owner(Owner.character(1), 99))
    assert {(one.giver, one.giver_id) for one in entries} == {("class", 3)}
    harness.departures.leave(player_of(client), "quit", harness.now)
    # Even if it is not stored that it was in the world.
    back = harness.stand(1, 546)
    assert len(player_of(back).holdings.inventory) == 8
    assert finish(harness.stored.ledger.audit()).wrong_things == ()


def test_a_new_character_has_the_things_of_the_classes_that_its_class_grew_out_of() -> None:
    """As `real-entry-1208-start-fighter-priest`: a guardian has the bow of warriors as well."""
    harness = WorldHarness()
    items = TomlItems([shipped_items()])
    robe, cap = (one.item_id for one in starting_things(None, items.beginners)[:2])
    rows = [(1, robe, 2), (2, cap, 1), (3, robe, 4), (4, cap, 1)]
    things = [StartingThing(class_, 255, number, count) for class_, number, count in rows]
    harness.kinds.reload(None, items, tuple(things))
    client = harness.stand(1, 546, class_=3, race=0)
    found = [number for number, _, _ in held(client)]
    assert (found.count(robe), found.count(cap)) == (4, 1)


def test_what_is_bound_to_a_zone_does_not_leave_it() -> None:
    row = 'id = 5, name = "Torch of the Vault", nozone = 1'
    harness, client = scene()
    harness.parts.items.kinds = kinds.item_kinds([row])
    client.types("/summonitem 5")
    client.types(f"/summonitem {kinds.MARBLE}")
    player = player_of(client)
    harness.world.events.publish(Entered(player, harness.now))
    assert len(held(client)) == 2  # it comes back to the same zone
    before = [name for name, _ in client.log].count("OP_UpdateInventoryMsg")
    elsewhere = next(zone for zone in harness.world.zones.table if zone.id != player.zone.zone_id)
    player.zone = harness.world.zones.with_space(elsewhere.id, harness.now, lambda _zone: 0)
    harness.world.events.publish(Entered(player, harness.now))
    assert held(client) == [(kinds.MARBLE, 1, 1)]
    assert [name for name, _ in client.log].count("OP_UpdateInventoryMsg") > before
    assert finish(harness.stored.ledger.audit()).wrong_things == ()


@pytest.mark.parametrize(
    ("away", "seconds", "is_there"),
    [(1790.0, 1800.0, True), (2500.0, 1800.0, False), (60.0, 0.0, True), (700.0, 0.0, False),
     (2500.0, 9000.0, True)],
)  # fmt: skip
def test_temporary_things_are_gone_some_time_after_the_last_save(
    away: float, seconds: float, is_there: bool
) -> None:
    """Source: EQ2Emulator's rule TemporaryItemLogoutTime."""
    row = 'id = 5, name = "Torch of the Vault", temporary = 1'
    harness, client = scene()
    harness.parts.items.kinds = kinds.item_kinds([row])
    harness.world.rules = replace(harness.world.rules, temporary_seconds=seconds)
    for number in (5, kinds.MARBLE):
        client.types(f"/summonitem {number}")
    harness.departures.leave(player_of(client), "quit", harness.now)
    stored = harness.store.rows[1]
    harness.store.rows[1] = replace(stored, rested=Moment(harness.world.clock.moment() - away))
    back = harness.stand(1, 546)
    marble = (kinds.MARBLE, 1, 1)
    assert held(back) == ([(5, 0, 1), marble] if is_there else [marble])
    harness.run(1.0)
    assert finish(harness.stored.ledger.audit()).wrong_things == ()


def test_what_is_bound_to_a_zone_stays_behind_also_during_a_refused_exchange() -> None:
    row = 'id = 5, name = "Torch of the Vault", nozone = 1'
    harness, client = scene()
    items = harness.parts.items
    items.kinds = kinds.item_kinds([row])
    client.types("/summonitem 5")
    player = player_of(client)
    harness.world.events.publish(Entered(player, harness.now))
    harness.start = ensureDeferred
    elsewhere = next(zone for zone in harness.world.zones.table if zone.id != player.zone.zone_id)

    async def leaves(_movement: Movement) -> Moved:
        player.zone = harness.world.zones.with_space(elsewhere.id, harness.now, lambda _zone: 0)
        harness.world.events.publish(Entered(player, harness.now))
        return Moved(Outcome.TOO_FEW)

    act = Act([Part(Owner.character(player.id), SHOP, 5)])
    assert finish(items.exchanges.exchange(Reason.BOUGHT, [player], lambda: act, leaves)) is (
        Outcome.TOO_FEW
    )
    assert held(client) == []
    assert finish(harness.stored.ledger.audit()).wrong_things == ()


def test_a_client_without_lists_enters_and_keeps_what_it_gets() -> None:
    harness, client = scene(373)
    client.types(f"/summonitem {kinds.PEBBLE} 3")
    harness.run(1.0)
    assert not client.is_closed
    assert held(client) == [(kinds.PEBBLE, 0, 3)]
    assert "OP_UpdateInventoryMsg" not in [name for name, _ in client.log]


def test_numbers_are_reserved_again_and_none_comes_twice() -> None:
    harness, _ = scene()
    items = harness.parts.items
    numbers = [items.new_number() for _ in range(3 * NUMBERS_AT_ONCE)]
    assert len({*numbers}) == 3 * NUMBERS_AT_ONCE


def test_a_thing_in_the_shared_bank_is_the_accounts() -> None:
    """docs/contributing/architecture.md#ledger: characters and accounts are owners."""
    _, client = scene()
    player = player_of(client)
    owners = {
        where: keeper_of(player, Thing(7, kinds.MARBLE, Place(where, 0, 0)))
        for where in (Where.SHARED, Where.BANK, Where.BAGS, Where.WORN)
    }
    account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
    assert owners.pop(Where.SHARED) == account
    assert {*owners.values()} == {Owner.character(player.id)}
