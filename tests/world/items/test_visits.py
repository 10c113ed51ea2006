"""Open windows: which spawn can open them, and when they end."""

from __future__ import annotations

import pytest

from emu.world.actors.dealings import Dealing
from emu.world.items.visits import Window
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
