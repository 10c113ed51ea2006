"""Chance by zone and act, and acts that wait for their turn."""

from __future__ import annotations

from random import Random

from twisted.internet.defer import ensureDeferred

from emu.errors import StoreError
from emu.world.actors.dealings import Dealing
from emu.world.actors.holdings import MOST_WAITING
from emu.world.actors.player import DEAD
from emu.world.crafting.giving import NOT_NOW, ActChances, begin, in_turn, whole_count
from emu.world.events import LeftZone
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import COAL, ORE, RECIPE, STRAP, CraftScene, texts
from tests.support.world.trade_scenes import held, player_of


def test_each_act_has_a_chance_of_its_own_that_follows_from_the_seed() -> None:
    scene = CraftScene()
    zone, spawn = player_of(scene.one).zone, player_of(scene.one).spawn

    def drawn() -> list[float]:
        chances = ActChances(lambda count: count - 1, Random)
        found = [chances.next(zone, spawn).random() for _ in range(3)]
        chances.ended(zone)
        return found

    first = drawn()
    assert len(set(first)) == 3
    assert first == drawn()


def test_an_act_waits_for_the_exchange_before_it() -> None:
    scene = CraftScene()
    player, done = player_of(scene.one), list[str]()
    finish(player.holdings.gate.pass_through())
    waiting: list[object] = []
    scene.harness.start = waiting.append
    in_turn(scene.harness.parts.items, player, lambda: done.append("late"))
    assert done == []
    assert len(waiting) == 1
    player.holdings.gate.leave()
    in_turn(scene.harness.parts.items, player, lambda: done.append("now"))
    assert done == ["now"]
    (work,) = waiting
    finish(work)  # type: ignore[arg-type]
    assert done == ["now", "late"]


def test_a_store_that_does_not_answer_is_said_and_counted() -> None:
    scene = CraftScene()

    def fails() -> None:
        raise StoreError("the database does not answer")

    in_turn(scene.harness.parts.items, player_of(scene.one), fails)
    assert texts(scene.one)[-1] == NOT_NOW

    async def later() -> None:
        fails()

    begin(scene.harness.world, player_of(scene.one), later)
    assert scene.harness.faults.drops["act not carried out: StoreError"] == 2


def test_charges_count() -> None:
    known = kinds.item_kinds()
    charm, pebble = known.get(kinds.CHARM), known.get(kinds.PEBBLE)
    assert charm is not None
    assert pebble is not None
    assert (whole_count(charm, 2), whole_count(pebble, 2)) == (6, 2)


def test_a_dead_player_keeps_its_components() -> None:
    """The creation began, ended with its first round, and made slag of the components."""
    scene = CraftScene()
    scene.learns()
    device, player = scene.device(), player_of(scene.one)
    scene.gets()
    scene.one.types(f"/createfromrecipe {RECIPE}")
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    scene.targets(scene.one, device)
    before = len(scene.one.log)
    scene.begins()
    assert texts(scene.one, before)[-1] == DEAD
    scene.harness.run(6.0)
    assert sorted(held(scene.one)) == [(ORE, 1), (COAL, 2), (STRAP, 2)]
    assert scene.one.types(f"/createfromrecipe {RECIPE}") == [DEAD]


def test_a_dead_player_hands_in_no_collection() -> None:
    scene = CraftScene()
    one, player = scene.one, player_of(scene.one)
    collector = scene.stands("Collector", "hand_in_collections", Dealing(8))
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    scene.targets(one, collector)
    assert one.types("/hand_in_collections") == [DEAD]


def test_components_are_free_although_many_acts_wait() -> None:
    """The act that freed them was refused: they stayed in use until the player left the world."""
    scene = CraftScene()
    scene.learns()
    scene.device()
    player = player_of(scene.one)
    scene.gets()
    scene.one.types(f"/createfromrecipe {RECIPE}")
    scene.begins()
    assert player.holdings.inventory.locked
    finish(player.holdings.gate.pass_through())
    scene.harness.start = ensureDeferred
    for _ in range(MOST_WAITING):
        in_turn(scene.harness.parts.items, player, lambda: None)
    scene.harness.world.events.publish(LeftZone(player))
    player.holdings.gate.leave()
    assert not player.holdings.inventory.locked
