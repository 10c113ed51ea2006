"""What creatures have with them and leave behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from emu.content.standing import Standing
from emu.items.remains import LootMethod
from emu.ledger import OwnerKind
from emu.quests.journal import Completion
from emu.rules.loot import LootDrop, LootTable
from emu.times import UNKNOWN
from emu.world.actors.dealings import Dealing
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.events import Died
from emu.world.items.loot import METHOD
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, held, player_of


def test_the_same_seed_gives_a_creature_the_same_loot() -> None:
    scene = TradeScene()
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1), (kinds.PEBBLE, 4), coins=40)
    loots, zone = scene.harness.parts.trading.loots, player_of(scene.one).zone
    first = loots.carried(zone, spawn)
    assert (first.coins, first.things) == (40, [(kinds.MARBLE, 1), (kinds.PEBBLE, 4)])
    loots.vanished(zone, spawn)
    assert loots.carried(zone, spawn) == first


def test_what_a_script_has_changed_is_dropped() -> None:
    scene = TradeScene()
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1))
    carried = scene.harness.parts.trading.loots.carried(player_of(scene.one).zone, spawn)
    carried.things = [(kinds.PEBBLE, 7)]
    scene.one.types("/kill")
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert [(lot.kind.id, lot.count) for lot in remains.lots] == [(kinds.PEBBLE, 7)]


def test_a_grey_creature_drops_nothing_but_what_lies_on_the_body() -> None:
    scene = TradeScene(level=40)
    spawn = scene.kill("a straw man", (kinds.MARBLE, 1), coins=5, level=1)
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert (remains.coins, remains.lots) == (5, [])


@pytest.mark.parametrize(
    ("done", "things"), [((), [kinds.MARBLE]), ((1,), []), ((2,), []), ((3,), [kinds.MARBLE])]
)
def test_a_drop_that_ends_with_a_quest_is_not_for_killers_or_groups_that_have_done_it(
    done: tuple[int, ...], things: list[int]
) -> None:
    """eq2-content.md 8: not if the killer, or its group, has done that quest."""
    scene = TradeScene()
    clients = {1: scene.one, 2: scene.enter(2), 3: scene.enter(3)}
    groups = scene.harness.world.groups.table
    groups.invite(1, 2, scene.harness.now)
    groups.accept(2, scene.harness.now)
    for number in done:
        player_of(clients[number]).journal.completed[77] = Completion(1, UNKNOWN)
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1), coins=5, unless_quest=77)
    scene.one.types("/kill")
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert [one.kind.id for one in remains.lots] == things


def test_a_thing_that_nothing_describes_is_left_out_and_counted() -> None:
    scene = TradeScene()
    spawn = scene.kill("a straw man", (77, 1), (kinds.MARBLE, 1))
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert [lot.kind.id for lot in remains.lots] == [kinds.MARBLE]
    assert scene.harness.faults.drops["loot that nothing describes"] == 1


def test_what_nobody_has_killed_leaves_nothing() -> None:
    scene = TradeScene()
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1))
    zone = player_of(scene.one).zone
    scene.harness.world.events.publish(Died(zone=zone, victim=spawn))
    assert spawn.id not in scene.harness.parts.trading.loots.remains


@pytest.mark.parametrize(("level", "stays"), [(1, 255.0), (10, 390.0)])
def test_a_body_with_things_stays_longer_for_each_level(level: int, stays: float) -> None:
    scene = TradeScene(level=level)
    spawn = scene.kill("a straw man", (kinds.MARBLE, 1), level=level)
    scene.harness.run(stays - 5.0)
    assert player_of(scene.one).zone.spawn(spawn.id) is spawn
    scene.harness.run(10.0)
    assert player_of(scene.one).zone.spawn(spawn.id) is None


def test_a_chest_of_a_zone_file_fills_again() -> None:
    scene = TradeScene()
    table = scene.foe("a model", (kinds.MARBLE, 1)).look.dealing.loot
    player = player_of(scene.one)
    chest = Spawn(
        scene.harness.zones.next_spawn_id(), SpawnKind.OBJECT, "a coffer", player.position,
        verbs=(Verb("Open", 10.0, "loot"),), dealing=Dealing(loot=table),
    )  # fmt: skip
    player.zone.add_spawn(chest, scene.harness.now)
    scene.harness.run(1.0)

    def opens() -> None:
        index = player.index_of(chest)
        assert index is not None
        text = b"loot"
        body = index.to_bytes(4, "little") + len(text).to_bytes(2, "little") + text
        scene.one.say("OP_EntityVerbsVerbMsg", body)
        scene.asks(scene.one, chest)

    opens()
    opens()
    assert held(scene.one) == [(kinds.MARBLE, 1)]
    scene.harness.run(601.0)
    opens()
    assert held(scene.one) == [(kinds.MARBLE, 1)] * 2
    assert scene.is_right()
    assert OwnerKind.LOOT


def test_all_who_fought_may_loot() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1))
    one = player_of(scene.one)
    scene.harness.world.events.publish(
        Died(one, zone=one.zone, victim=spawn, killer=one.spawn,
             fighters=(one.spawn, player_of(two).spawn))
    )  # fmt: skip
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert remains.entitled == {1, 2}


def test_everything_lies_on_a_body_that_needs_no_chest() -> None:
    """The kind of loot is a column of spawns; ../shared/spec/eq2-content.md has it, 298."""
    scene = TradeScene()
    spawn = scene.foe("a straw man", (kinds.CAP, 1))
    scene.harness.parts.trading.loots.set_drop_kind(spawn, 1)
    scene.one.types("/kill")
    remains = scene.harness.parts.trading.loots.remains
    assert {number: [lot.kind.id for lot in one.lots] for number, one in remains.items()} == {
        spawn.id: [kinds.CAP]
    }


def test_a_creature_wears_what_it_may_drop() -> None:
    scene = TradeScene()
    spawn = scene.foe("a straw man")
    table = LootTable(5, "", (0, 0), 0.0, 1, 100.0, (LootDrop(kinds.CAP, 1, True, 100.0, 0),))
    trade, loots = scene.harness.trade, scene.harness.parts.trading.loots
    trade._tables[5], trade._wearers = table, frozenset((77,))
    zone, standing = player_of(scene.one).zone, cast("Standing", None)
    spawn.look = replace(spawn.look, dealing=Dealing(78, loot=(5,)))
    loots.appeared(zone, spawn, standing)
    assert "equipment_types" not in spawn.appearance
    spawn.look = replace(spawn.look, dealing=Dealing(77, loot=(5,)))
    loots.appeared(zone, spawn, standing)
    assert spawn.appearance["equipment_types"][2] == 1513
    assert loots.carried(zone, spawn).things == [(kinds.CAP, 1)]
    # A pebble has no slot, and nothing describes the last one.
    for item in (kinds.PEBBLE, kinds.SATCHEL, 4711):
        other = scene.foe("a scarecrow")
        other.look = replace(other.look, dealing=Dealing(77, loot=(5,)))
        drop = LootDrop(item, 1, True, 100.0, 0)
        trade._tables[5] = replace(table, drops=(drop,))
        loots.appeared(zone, other, standing)
        assert "equipment_types" not in other.appearance


def grouped(scene: TradeScene, method: LootMethod, **values: Any) -> Player:
    """Return a player in the group of the first one, which shares loot by a method."""
    other = player_of(scene.enter(2, **values))
    table = scene.harness.world.groups.table
    table.invite(1, 2, scene.harness.now)
    table.accept(2, scene.harness.now)
    options = list(player_of(scene.one).client_data.group)
    options[METHOD] = method.value
    player_of(scene.one).client_data.group = tuple(options)
    return other


def test_a_group_of_two_shares_by_the_method_of_its_leader() -> None:
    scene = TradeScene()
    grouped(scene, LootMethod.LOTTO)
    spawn = scene.kill("a straw man", (kinds.MARBLE, 1))
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert (remains.method, remains.leader, remains.entitled) == (LootMethod.LOTTO, 1, {1, 2})


def test_a_member_of_the_group_in_another_zone_may_not_loot() -> None:
    scene = TradeScene()
    other = grouped(scene, LootMethod.LOTTO, zone_id=12)
    assert other.zone is not player_of(scene.one).zone
    spawn = scene.kill("a straw man", (kinds.MARBLE, 1))
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert (remains.method, remains.entitled) == (LootMethod.FREE, {1})
