"""Levels and classes of a player: what it and others are shown, and what is stored."""

from emu.model import SavedKind
from emu.world.actors.player import Player
from emu.world.levels import Levels
from tests.support.world.worlds import Client, WorldHarness


def scene() -> tuple[WorldHarness, Levels, Client, Player]:
    harness = WorldHarness()
    client = harness.stand(5, name="Aldana")
    assert client.player is not None
    return harness, Levels(harness.world, harness.chat, {3: 800, 4: 1000}), client, client.player


def test_a_level_is_shown_to_all_and_stored() -> None:
    harness, levels, client, player = scene()
    other = harness.stand(6, name="Borvik")
    player.spawn.sheet.health.set_current(5)
    assert levels.set_level(player, 3, harness.now)
    assert not levels.set_level(player, 3, harness.now)
    harness.run(1.0)
    assert player.spawn.sheet.health.current == player.spawn.sheet.health.most == 100
    assert (player.character.level, player.character.experience_needed) == (3, 1000)
    assert client.decoded("WS_DisplayText")[-1]["text"] == "You are now level 3!"
    assert other.fields_of("Aldana")["level"] == 3
    assert other.decoded("WS_HearSpellCast")[-1]["visual"] == 322
    harness.run(3.0)
    stored = harness.store.rows[5]
    assert (stored.level, stored.experience_needed) == (3, 1000)


def test_classes_are_stored() -> None:
    harness, levels, _, player = scene()
    assert levels.set_class(player, 9, harness.now)
    assert levels.set_trade(player, 4, harness.now)
    assert levels.set_trade_level(player, 9000, harness.now)
    assert not levels.set_class(player, 256, harness.now)
    assert not levels.set_trade(player, 4, harness.now)
    assert not levels.set_trade_level(player, 9000, harness.now)
    assert SavedKind.PROGRESS in player.unsaved
    harness.run(3.0)
    stored = harness.store.rows[5]
    assert (stored.class_, stored.tradeskill_class) == (9, 4)
    assert stored.tradeskill_level == harness.world.rules.max_level
