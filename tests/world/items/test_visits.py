"""Open windows: which spawn can open them, and when they end."""

from __future__ import annotations

import pytest

from emu.world.actors.dealings import Dealing
from emu.world.actors.player import DEAD
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.items.visits import Window
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, player_of


def visit_of(scene: TradeScene, window: Window) -> object:
    return scene.harness.parts.trading.visits.of(player_of(scene.one), window)


def test_a_window_needs_a_target_with_its_verb() -> None:
    scene = TradeScene()
    scene.one.types("/bank")
    assert visit_of(scene, Window.BANK) is None
    scene.merchant()
    scene.one.types("/bank")
    assert visit_of(scene, Window.BANK) is None
    scene.banker()
    scene.one.types("/bank")
    assert visit_of(scene, Window.BANK) is not None


@pytest.mark.parametrize(("away", "is_open"), [(9.0, True), (30.0, False)])
def test_a_window_opens_near_its_spawn(away: float, is_open: bool) -> None:
    scene = TradeScene()
    scene.stands("Odell", "bank", Dealing(), away)
    texts = scene.one.types("/bank")
    assert texts == ([] if is_open else ["You are too far away!"])
    assert (visit_of(scene, Window.BANK) is not None) is is_open


def test_another_window_closes_the_one_before() -> None:
    scene = TradeScene()
    banker = scene.banker()
    scene.one.types("/bank")
    visits = scene.harness.parts.trading.visits
    assert visits.has_bank(player_of(scene.one))
    scene.merchant()
    scene.one.types("/frommerchant")
    assert not visits.has_bank(player_of(scene.one))
    assert visit_of(scene, Window.BANK) is None
    scene.targets(scene.one, banker)
    scene.one.types("/bank")
    assert visit_of(scene, Window.SHOP) is None


@pytest.mark.parametrize("command", ["frommerchant", "bank", "repair"])
def test_the_dead_open_no_window_and_use_none_that_is_open(command: str) -> None:
    scene = TradeScene()
    player = player_of(scene.one)
    ways = {"frommerchant": scene.merchant, "bank": scene.banker, "repair": scene.mender}
    spawn = ways[command]()
    scene.one.types(f"/{command}")
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    before = len(scene.one.log)
    lines = {"frommerchant": f"/buy_from_merchant {kinds.MARBLE} 1", "bank": "/bank_deposit 1"}
    assert scene.one.types(lines.get(command, "/mender_repair_all")) == [DEAD]
    scene.targets(scene.one, spawn)
    assert scene.one.types(f"/{command}")[-1:] == [DEAD]
    shown = {name for name, _ in scene.one.log[before:]}
    assert shown <= {"OP_EqDisplayTextCmd", "OP_EqHearChatCmd"}


@pytest.mark.parametrize(("away", "is_open"), [(9.0, True), (30.0, False)])
def test_a_window_that_a_script_opens_needs_no_verb(away: float, is_open: bool) -> None:
    scene = TradeScene()
    spawn = scene.stands("Odell", "hail", Dealing(), away)
    visits, player = scene.harness.parts.trading.visits, player_of(scene.one)
    assert (visits.begin_at(player, Window.BANK, spawn) is not None) is is_open
    assert (visits.of(player, Window.BANK) is not None) is is_open
    unseen = Spawn(9_999, SpawnKind.NPC, "Nobody", spawn.position)
    assert visits.begin_at(player, Window.SHOP, unseen) is None
    assert (visits.of(player, Window.BANK) is not None) is is_open
