"""Windows of bodies and chests: texts, lists, rights and groups, as in items-*-deal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.errors import StoreError
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.player import DEAD
from emu.world.items.loot import METHOD
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded, recorded_kinds
from tests.support.world.trade_scenes import VERSIONS, TradeScene, coins_of, held, player_of
from tests.support.world.worlds import Client

NOT_ALLOWED = "You are not allowed to loot at this time."


def link(version: int, number: int, name: str) -> str:
    first = name if version <= LAST_OLD_CLIENT else "0"
    return f"\\aITEM {number} {first}:{name}\\/a" if version > LAST_OLD_CLIENT else (
        f"\\aITEM {number} {name}:{name}\\/a"
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_body(version: int) -> None:
    scene = TradeScene(version)
    two = scene.enter(2, version)
    body = scene.foe("a straw brigand", (kinds.MARBLE, 1), coins=21)
    assert scene.one.types("/loot") == ["Your target is not dead."]
    scene.one.types("/kill")
    scene.harness.run(1.0)
    assert scene.one.decoded("WS_HearDeath")
    verb = scene.one.decoded("WS_SetDefaultCommand")[-1]
    assert (verb["command_name"], verb["distance"]) == ("loot", 10.0)
    scene.targets(two, body)
    assert two.types("/loot") == [NOT_ALLOWED]
    assert scene.one.types("/loot") == ["You loot 21 Copper from the corpse of a straw brigand"]
    assert coins_of(scene.one) == 21
    window = scene.one.decoded("WS_UpdateLoot")[-1]
    assert [row["loot_id"] for row in window["loot_array"]] == [kinds.MARBLE]
    assert (window["display"], window["loot_type"], window["lotto_timeout"]) == (1, 1, 120)
    name = link(version, kinds.MARBLE, "Chipped Marble")
    before = len(scene.one.log)
    assert scene.asks(scene.one, body) == [f"You loot {name} from the corpse of a straw brigand"]
    # From 562 on the window is closed before (recorded in fight-*-melee-a and items-*-deal).
    closes = ["OP_EqCloseWindowCmd"] if version > 561 else []
    order = (
        "OP_EqDisplayTextCmd", "OP_UpdateInventoryMsg", "OP_EqUpdateLootCmd", *closes,
        "OP_StoppedLootingMsg",
    )  # fmt: skip
    shown = {*order, "OP_EqCloseWindowCmd"}
    assert [one for one, _ in scene.one.log[before:] if one in shown] == [*order]
    assert all(
        body == b"\4\0\0" for one, body in scene.one.log[before:] if one == "OP_EqCloseWindowCmd"
    )
    assert held(scene.one) == [(kinds.MARBLE, 1)]
    scene.harness.run(2.0)
    assert player_of(scene.one).index_of(body) is None
    assert scene.is_right()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_window_is_the_recorded_one(version: int) -> None:
    scene = TradeScene(version)
    scene.harness.parts.items.kinds = recorded_kinds()
    scene.kill("a straw captain", (kinds.CAP, 1))
    scene.targets(scene.one, scene.chest())
    scene.one.types("/loot")
    (ours,) = scene.one.decoded("WS_UpdateLoot")[-1]["loot_array"]
    layout = DIALECTS.for_version(version).layout("WS_UpdateLoot")
    rows = [
        row
        for _, _, body in recorded(version, "OP_EqUpdateLootCmd")
        for row in layout.decode(body[7:])["loot_array"]
        if row["loot_id"] == kinds.CAP
    ]
    assert rows
    for row in rows:
        row["info"]["unique_id"] = 0  # of EQ2Emulator's run
        assert ours == row


@pytest.mark.parametrize(
    ("item", "name"),
    [(kinds.CAP, "Treasure Chest"), (kinds.SWORD, "Treasure Chest")],
)
def test_better_things_lie_in_a_chest_and_coins_in_the_body(item: int, name: str) -> None:
    scene = TradeScene()
    two = scene.enter(2)
    body = scene.kill("a straw captain", (item, 1), coins=305)
    chest = scene.chest()
    assert chest.name == name
    assert [verb.command for verb in chest.verbs] == ["loot", "Disarm"]
    scene.targets(two, chest)
    assert two.types("/loot") == [NOT_ALLOWED]
    scene.targets(scene.one, chest)
    assert scene.one.types("/loot") == []
    assert scene.one.decoded("WS_StateCmd")[-1]["state"] == 11901
    (text,) = scene.asks(scene.one, chest, item)
    assert text.endswith(f"from the corpse of {name}")
    scene.targets(scene.one, body)
    assert scene.one.types("/loot") == [
        "You loot 3 Silver 5 Copper from the corpse of a straw captain"
    ]
    assert scene.one.decoded("WS_StoppedLooting") != []
    assert scene.is_right()


def test_after_its_time_everybody_may_loot_a_chest() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    scene.kill("a straw captain", (kinds.CAP, 1))
    scene.targets(two, scene.chest())
    scene.harness.run(1150.0)
    assert two.types("/loot") == [NOT_ALLOWED]


def test_a_body_without_loot_has_an_empty_window() -> None:
    scene = TradeScene()
    body = scene.kill("a straw man")
    assert scene.one.types("/loot") == []
    window = scene.one.decoded("WS_UpdateLoot")[-1]
    assert (window["loot_array"], window["display"]) == ([], 0)
    scene.harness.run(12.0)
    assert player_of(scene.one).index_of(body) is None


def test_a_thing_without_a_place_stays_in_the_body() -> None:
    scene = TradeScene()
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    for _ in range(6):
        scene.one.types(f"/summonitem {kinds.MARBLE}")
    scene.one.types("/loot")
    assert scene.asks(scene.one, body) == ["You do not have any free slots."]
    scene.one.types("/inventory destroy 0")
    assert len(scene.asks(scene.one, body)) == 1
    assert len(held(scene.one)) == 6
    assert scene.is_right()


def test_a_thing_that_cannot_be_stored_stays_in_the_body() -> None:
    scene = TradeScene()
    body = scene.kill("a straw man", (kinds.MARBLE, 1), coins=7)
    scene.harness.store.broken = True
    assert scene.one.types("/loot") == ["this cannot be done now; try again"]
    scene.harness.store.broken = False
    assert scene.one.types("/loot") == ["You loot 7 Copper from the corpse of a straw man"]
    scene.harness.store.broken = True
    assert scene.asks(scene.one, body) == []
    scene.harness.store.broken = False
    assert held(scene.one) == []
    assert len(scene.asks(scene.one, body)) == 1
    assert scene.is_right()


@pytest.mark.parametrize("how", ["not open", "far", "other item", "others"])
def test_what_makes_no_sense_changes_nothing(how: str) -> None:
    scene = TradeScene()
    two = scene.enter(2)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    client: Client = scene.one
    items = [kinds.MARBLE]
    if how != "not open":
        scene.one.types("/loot")
    if how == "far":
        scene.goes(scene.one, 40.0)
    elif how == "other item":
        items = [77]
    elif how == "others":
        client = two
    texts = ["You are too far away!"] if how == "far" else []
    assert scene.asks(client, body, *items) == texts
    assert (held(scene.one), held(two)) == ([], [])


@pytest.mark.parametrize(("away", "is_near"), [(4.9, True), (5.1, False), (9.0, False)])
def test_loot_is_taken_from_five_units_away(away: float, is_near: bool) -> None:
    """Source: eq2-items.md 9.3 (rule LootRadius); the verb says 10, as recorded."""
    scene = TradeScene()
    scene.kill("a straw man", (kinds.MARBLE, 1))
    scene.goes(scene.one, away)
    scene.one.types("/loot")
    assert len(scene.one.decoded("WS_UpdateLoot")) == is_near


def test_a_zone_may_have_another_reach_of_loot() -> None:
    scene = TradeScene()
    world = scene.harness.world
    world.rules = replace(world.rules, loot_reach=9.5)
    scene.kill("a straw man", (kinds.MARBLE, 1))
    scene.goes(scene.one, 9.0)
    scene.one.types("/loot")
    assert len(scene.one.decoded("WS_UpdateLoot")) == 1


def group(scene: TradeScene, method: int, version: int = 546) -> Client:
    """Return a second player in the group of the first one."""
    two = scene.enter(2, version)
    groups = scene.harness.world.groups.table
    groups.invite(1, 2, scene.harness.now)
    groups.accept(2, scene.harness.now)
    options = list(player_of(scene.one).client_data.group)
    options[METHOD] = method
    player_of(scene.one).client_data.group = tuple(options)
    return two


def test_a_leader_takes_everything_and_members_nothing() -> None:
    scene = TradeScene()
    two = group(scene, 0)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    scene.targets(two, body)
    assert two.types("/loot") == []
    assert two.decoded("WS_UpdateLoot")[-1]["loot_array"] == []
    assert scene.asks(two, body) == []
    scene.one.types("/loot")
    scene.asks(scene.one, body)
    assert (held(scene.one), held(two)) == ([(kinds.MARBLE, 1)], [])


def test_members_draw_lots_and_need_comes_before_greed() -> None:
    scene = TradeScene()
    two = group(scene, 3)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    scene.one.types("/loot")
    assert two.decoded("WS_UpdateLoot")[-1]["loot_type"] == 3
    remains = scene.harness.parts.trading.loots.remains[body.id]
    assert scene.asks(scene.one, body) == []
    remains.lots[0].answers = {1: remains.lots[0].answers[1].GREED}
    scene.asks(two, body)
    assert (held(scene.one), held(two)) == ([], [(kinds.MARBLE, 1)])
    assert scene.is_right()


def test_lots_are_drawn_after_two_minutes() -> None:
    scene = TradeScene()
    two = group(scene, 2)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    scene.one.types("/loot")
    scene.asks(scene.one, body)
    scene.harness.run(121.0)
    assert (held(scene.one), held(two)) == ([(kinds.MARBLE, 1)], [])


def rolls(scene: TradeScene, monkeypatch: pytest.MonkeyPatch, *numbers: int) -> list[int]:
    """Let lots be drawn with these numbers; return those that are left."""
    left = list(numbers)
    looting = scene.harness.parts.trading.looting
    monkeypatch.setattr(looting, "_roll", lambda _sides: left.pop(0))
    return left


def test_a_winner_without_a_place_keeps_what_it_has_won(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = TradeScene()
    two = group(scene, 2)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    for _ in range(6):
        scene.one.types(f"/summonitem {kinds.MARBLE}")
    left = rolls(scene, monkeypatch, 90, 10, 10, 90)
    scene.one.types("/loot")
    assert scene.asks(scene.one, body) == []
    scene.asks(two, body)
    assert left == [10, 90]  # drawn once
    assert scene.asks(two, body) == []
    scene.harness.run(121.0)
    assert (len(held(scene.one)), held(two), left) == (6, [], [10, 90])
    scene.one.types("/inventory destroy 0")
    scene.one.types("/loot")
    scene.asks(scene.one, body)
    assert (len(held(scene.one)), held(two)) == (6, [])
    assert scene.is_right()


def test_what_nobody_wants_frees_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = TradeScene(1208)
    two = group(scene, 2, version=1208)
    body = scene.kill("a straw man", (kinds.MARBLE, 1), (kinds.PEBBLE, 3))
    rolls(scene, monkeypatch, 10, 90)
    scene.one.types("/loot")
    for client in (scene.one, two):
        scene.asks(client, body, kinds.MARBLE, button=3)
    scene.asks(scene.one, body, kinds.PEBBLE)
    assert (held(scene.one), held(two)) == ([], [])
    scene.asks(two, body, kinds.PEBBLE)
    assert (held(scene.one), held(two)) == ([], [(kinds.PEBBLE, 3)])
    scene.asks(scene.one, body, kinds.MARBLE)
    assert held(scene.one) == [(kinds.MARBLE, 1)]
    assert scene.is_right()


def test_who_is_gone_wins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = TradeScene()
    two = group(scene, 2)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    rolls(scene, monkeypatch, 10, 90)
    scene.one.types("/loot")
    scene.asks(two, body)
    scene.asks(scene.one, body, 77)
    scene.harness.departures.leave(player_of(two), "quit", scene.harness.now)
    scene.asks(scene.one, body)
    scene.harness.run(121.0)
    assert held(scene.one) == [(kinds.MARBLE, 1)]


def test_coins_that_cannot_be_stored_stay_although_another_one_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = TradeScene()
    two = group(scene, 1)
    body = scene.kill("a straw man", coins=21)
    scene.targets(two, body)
    ledger = scene.harness.ledger

    async def away(_movement: Any) -> Any:
        assert two.types("/loot") == []
        raise StoreError("away")

    monkeypatch.setattr(ledger, "move", away)
    scene.one.types("/loot")
    monkeypatch.undo()
    assert two.types("/loot")[0] == "You loot 21 Copper from the corpse of a straw man"
    assert (coins_of(scene.one), coins_of(two)) == (10, 11)
    assert two.decoded("WS_StoppedLooting") != []


def test_coins_are_shared_with_the_group() -> None:
    scene = TradeScene()
    two = group(scene, 1)
    options = list(player_of(scene.one).client_data.group)
    options[2] = 1
    player_of(scene.one).client_data.group = tuple(options)
    scene.kill("a straw man", coins=21)
    texts = scene.one.types("/loot")
    assert texts == [
        "You loot 21 Copper from the corpse of a straw man", "Your share is 10 Copper.",
    ]  # fmt: skip
    assert (coins_of(scene.one), coins_of(two)) == (11, 10)
    audit = finish(scene.harness.stored.ledger.audit())
    assert audit.held == 21


def test_a_client_without_a_loot_window_takes_all_that_it_opens() -> None:
    """EQ2Emulator's struct files have no window of loot for the trial client, 373."""
    scene = TradeScene(373, coins=5)
    scene.kill("a straw brigand", (kinds.SWORD, 1), coins=21)
    assert scene.one.types("/loot") == ["You loot 21 Copper from the corpse of a straw brigand"]
    scene.targets(scene.one, scene.chest())
    (text,) = scene.one.types("/loot")
    assert text.startswith("You loot")
    assert text.endswith("from the corpse of Treasure Chest")
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 26)
    assert scene.is_right()


def test_a_member_without_a_loot_window_disturbs_no_lots() -> None:
    scene = TradeScene()
    group(scene, 2, version=373)
    body = scene.kill("a straw man", (kinds.MARBLE, 1))
    assert scene.one.types("/loot") == []
    assert scene.asks(scene.one, body) == []
    scene.harness.run(121.0)
    assert held(scene.one) == [(kinds.MARBLE, 1)]


def test_the_dead_loot_nothing() -> None:
    scene = TradeScene()
    player = player_of(scene.one)
    body = scene.foe("a straw brigand", (kinds.MARBLE, 1), coins=21)
    scene.one.types("/kill")
    scene.harness.run(1.0)
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    scene.targets(scene.one, body)
    assert scene.one.types("/loot") == [DEAD]
    player.spawn.sheet.health.set_current(1)
    player.spawn.show_pools()
    scene.one.types("/loot")
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    assert scene.asks(scene.one, body) == [DEAD]
    assert (held(scene.one), coins_of(scene.one)) == ([], 21)
