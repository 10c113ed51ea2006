"""Levels and classes of a player: what it and others are shown, and what is stored."""

from emu.model import SavedKind
from emu.world.actors.player import Player, PlayerState
from emu.world.events import (
    ClassChanged,
    Entered,
    LevelGained,
    MayLevel,
    MayTradeLevel,
    TenthGained,
    TradeLevelGained,
)
from emu.world.levels import Levels
from tests.support.world.worlds import Client, WorldHarness


def scene() -> tuple[WorldHarness, Levels, Client, Player]:
    harness = WorldHarness()
    client = harness.stand(5, name="Aldana")
    assert client.player is not None
    levels = Levels(harness.world, harness.chat, {2: 600, 3: 800, 4: 1000}, harness.parts.sheets)
    return harness, levels, client, client.player


def test_a_level_is_shown_to_all_and_stored() -> None:
    harness, levels, client, player = scene()
    other = harness.stand(6, name="Borvik")
    player.spawn.sheet.health.set_current(5)
    assert levels.set_level(player, 3, harness.now)
    assert not levels.set_level(player, 3, harness.now)
    harness.run(1.0)
    assert player.spawn.sheet.health.current == player.spawn.sheet.health.most == 118
    assert (player.character.level, player.character.experience_needed) == (3, 1000)
    assert "You are now level 3!" in [one["text"] for one in client.decoded("WS_DisplayText")]
    assert other.fields_of("Aldana")["level"] == 3
    assert other.decoded("WS_HearSpellCast")[-1]["visual"] == 322
    assert other.decoded("WS_CannedEmote")[-1]["anim_type"] == 1753
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
    assert SavedKind.PROGRESS in player.unsaved.kinds
    harness.run(3.0)
    stored = harness.store.rows[5]
    assert (stored.class_, stored.tradeskill_class) == (9, 4)
    assert stored.tradeskill_level == harness.world.rules.max_level


def test_the_recorded_order_of_a_level() -> None:
    """Recorded: fight-546-melee-a."""
    harness, levels, client, player = scene()
    client.log.clear()
    levels.gain(player, 650, harness.now)
    names = [name for name, _ in client.log]
    wanted = [
        "OP_LevelChangedMsg", "OP_EqHearSpellCastCmd", "OP_EqCannedEmoteCmd", "OP_EqDisplayTextCmd",
    ]  # fmt: skip
    assert [one for one in names if one in wanted][:3] == wanted[:3]
    assert client.decoded("WS_LevelChanged")[-1] == {"old_level": 1, "new_level": 2, "type": 0}
    assert (player.character.level, player.character.experience) == (2, 50)


def test_a_gain_can_be_several_levels() -> None:
    harness, levels, _, player = scene()
    seen: list[tuple[int, int]] = []
    harness.world.events.subscribe(
        LevelGained, lambda event: seen.append((event.before, event.after))
    )
    levels.gain(player, 1500, harness.now)
    assert (player.character.level, player.character.experience) == (3, 100)
    assert seen == [(1, 2), (2, 3)]


def test_points_stop_below_the_level_that_nobody_reaches() -> None:
    harness, levels, _, player = scene()
    levels.gain(player, 100_000, harness.now)
    assert player.character.level == 4
    assert player.character.experience == 0
    assert player.character.experience_needed == 0


def test_a_forbidden_level_keeps_the_points() -> None:
    harness, levels, _, player = scene()
    asked: list[tuple[int, int, int, int]] = []

    def forbid(event: MayLevel) -> None:
        asked.append((event.before, event.after, event.points, event.player.character.experience))
        if event.after == 3:
            event.refusals.append("a test")

    harness.world.events.subscribe(MayLevel, forbid)
    levels.gain(player, 100, harness.now)
    assert asked == []
    levels.gain(player, 1400, harness.now)
    assert asked == [(1, 2, 1400, 100), (2, 3, 900, 0)]
    assert (player.character.level, player.character.experience) == (2, 900)
    levels.gain(player, 10, harness.now)
    assert (player.character.level, player.character.experience) == (2, 910)


def test_a_level_waits_until_the_zone_has_changed() -> None:
    harness, levels, _, player = scene()
    player.state = PlayerState.ZONING
    levels.gain(player, 700, harness.now)
    assert (player.character.level, player.character.experience) == (1, 700)
    player.state = PlayerState.STANDING
    seen: list[int] = []
    harness.world.events.subscribe(LevelGained, lambda event: seen.append(event.after))
    levels._entered(Entered(player, harness.now))
    assert (player.character.level, player.character.experience) == (2, 100)
    assert seen == [2]


def test_tradeskill_experience_makes_levels_and_is_stored() -> None:
    """Source: LevelChanged of ../shared/spec/eq2-combat.md: kind 1 for tradeskills."""
    harness, levels, client, player = scene()
    got: list[TradeLevelGained] = []
    harness.world.events.subscribe(TradeLevelGained, got.append)
    levels.gain_trade(player, 599, harness.now)
    assert (player.character.tradeskill_level, player.character.tradeskill_experience) == (1, 599)
    levels.gain_trade(player, 601 + 805, harness.now)
    assert [(one.before, one.after) for one in got] == [(1, 2), (2, 3)]
    assert client.decoded("WS_LevelChanged") == [
        {"old_level": 1, "new_level": 2, "type": 1}, {"old_level": 2, "new_level": 3, "type": 1},
    ]  # fmt: skip
    assert "Your tradeskill level is now 3!" in [
        one["text"] for one in client.decoded("WS_DisplayText")
    ]
    harness.run(3.0)
    stored = harness.store.rows[5]
    assert (stored.tradeskill_level, stored.tradeskill_experience) == (3, 605)
    assert stored.tradeskill_needed == 1000


def test_the_last_tradeskill_level_stays() -> None:
    harness, levels, _, player = scene()
    levels.gain_trade(player, 1_000_000, harness.now)
    assert (player.character.tradeskill_level, player.character.tradeskill_experience) == (4, 0)
    levels.gain_trade(player, 50, harness.now)
    assert (player.character.tradeskill_level, player.character.tradeskill_experience) == (4, 0)


def test_a_lower_level_is_shown_without_a_cheer() -> None:
    harness, levels, client, player = scene()
    levels.set_level(player, 4, harness.now)
    client.log.clear()
    player.spawn.sheet.power.set_current(1)
    assert levels.set_level(player, 2, harness.now)
    assert client.decoded("WS_LevelChanged") == [{"old_level": 4, "new_level": 2, "type": 0}]
    assert client.decoded("WS_HearSpellCast") == client.decoded("WS_CannedEmote") == []
    assert player.spawn.level == 2
    assert player.spawn.sheet.power.current == player.spawn.sheet.power.most


def test_the_dead_gain_a_level_and_no_health() -> None:
    harness, levels, _, player = scene()
    harness.minds.harm.kill(player.zone, player.spawn, None)
    levels.set_level(player, 3, harness.now)
    levels.cheer_tenth(player)
    assert (player.character.level, player.spawn.hp_percent) == (3, 0)
    assert player.spawn.sheet.health.current == 0


def test_a_further_tenth_of_a_level_is_said_once_and_fills_the_pools() -> None:
    harness, levels, client, player = scene()
    tenths: list[Player] = []
    harness.world.events.subscribe(TenthGained, lambda event: tenths.append(event.player))
    found = [levels.gain(player, points, harness.now) for points in (59, 1, 59, 1, 120)]
    assert found == [False, True, False, True, True]
    assert tenths == [player] * 3
    sheet = player.spawn.sheet
    sheet.health.set_current(1)
    sheet.power.set_current(1)
    client.log.clear()
    levels.cheer_tenth(player)
    assert (sheet.health.current, sheet.power.current) == (sheet.health.most, sheet.power.most)
    assert len(client.decoded("WS_HearSpellCast")) == 1


def test_half_of_a_gain_pays_the_debt() -> None:
    """One percent of the 600 points of a level is 6."""
    harness, levels, _, player = scene()
    harness.world.saves.set_facts(player, harness.now, experience_debt=1000)
    levels.gain(player, 4, harness.now)
    assert (player.character.experience, player.character.experience_debt) == (2, 667)
    levels.gain(player, 100, harness.now)
    assert (player.character.experience, player.character.experience_debt) == (98, 0)


def test_points_that_are_set_are_those_of_the_level() -> None:
    harness, levels, _, player = scene()
    levels.set_points(player, 700, harness.now)
    assert (player.character.level, player.character.experience) == (1, 700)
    levels.set_points(player, -1, harness.now)
    assert player.character.experience == 0
    levels.set_points(player, 1_000_000, harness.now)
    assert player.character.experience == 3000


def test_a_class_has_a_number_of_one_byte() -> None:
    harness, levels, _, player = scene()
    changed: list[tuple[int, int]] = []
    harness.world.events.subscribe(
        ClassChanged, lambda event: changed.append((event.before, event.player.character.class_))
    )
    before = player.character.class_
    for number in (-1, 256, before):
        assert not levels.set_class(player, number, harness.now)
    assert changed == []
    for number in (255, 0):
        assert levels.set_class(player, number, harness.now)
        assert player.spawn.appearance["class"] == number
    assert changed == [(before, 255), (255, 0)]
    for number in (-1, 256, player.character.tradeskill_class):
        assert not levels.set_trade(player, number, harness.now)
    assert levels.set_trade(player, 255, harness.now)
    assert levels.set_deity(player, 7, harness.now)
    assert not levels.set_deity(player, 7, harness.now)
    assert player.character.deity == 7


def test_a_forbidden_tradeskill_level_keeps_the_points() -> None:
    harness, levels, _, player = scene()

    def forbid(event: MayTradeLevel) -> None:
        assert (event.before, event.after, event.points) == (1, 2, 700)
        event.refusals.append("a test")

    harness.world.events.subscribe(MayTradeLevel, forbid)
    levels.gain_trade(player, 700, harness.now)
    character = player.character
    assert (character.tradeskill_level, character.tradeskill_experience) == (1, 700)
    assert character.tradeskill_needed == 600
    assert levels.set_trade_level(player, 0, harness.now) is False
    levels.set_trade_level(player, 2, harness.now)
    assert levels.set_trade_level(player, 0, harness.now)
    assert player.character.tradeskill_level == 1
