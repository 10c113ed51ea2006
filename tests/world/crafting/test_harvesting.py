"""Nodes: texts, messages, skills, uses and what is stored, by the recorded harvests."""

from __future__ import annotations

import pytest

from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.dealings import NodeSkill
from emu.world.item_events import Harvested, NodeWorked
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import SURE, CraftScene, rows, texts
from tests.support.world.trade_scenes import VERSIONS, held, player_of

LACKING = "You lack the skills to harvest this node!"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_harvest(version: int) -> None:
    """Source: fight-546-harvest-a, real-harvest-1208-QueensColony-collect."""
    scene = CraftScene(version)
    node = scene.node("roots", kinds.PEBBLE)
    before = len(scene.one.log)
    read = scene.uses(scene.one, node)
    number = player_of(scene.one).holdings.inventory.of_kind(kinds.PEBBLE)[0].id
    link = f"\\aITEM {kinds.PEBBLE} {number}:Grey River Pebble\\/a"
    assert read == [
        f"You gather 1 {link} from the roots.",
        "Your Gathering was successful on roots!",
        "You begin to gather roots.",
    ]
    colors = [row["color"] for row in rows(scene.one, "WS_DisplayText", before)]
    assert colors == ([89, 39, 49] if version <= LAST_OLD_CLIENT else [104, 41, 52])
    wanted = (
        "OP_EqSpellCastStartCmd", "OP_EqHearSpellCastCmd", "OP_EqSpellCastEndCmd",
        "OP_EqDisplayTextCmd", "OP_UpdateInventoryMsg", "OP_OnscreenMsgMsg",
    )  # fmt: skip
    order = [name for name, _ in scene.one.log[before:] if name in wanted]
    assert order == [*wanted, "OP_EqDisplayTextCmd", "OP_EqDisplayTextCmd"]
    (start,) = rows(scene.one, "WS_StartCastSpell", before)
    assert (start["cast_time"], start["spell_name"]) == (5.0, "Gathering")
    (cast,) = rows(scene.one, "WS_HearSpellCast", before)
    index = player_of(scene.one).index_of(node)
    assert (cast["spell_id"], cast["visual"], cast["seconds"]) == (8134, 568, 5.0)
    assert [one["target"] for one in cast["target_array"]] == [index]
    (shown,) = rows(scene.one, "WS_OnScreenMsg", before)
    assert shown["text"] == "\\#64FFFFYou have gathered:\n\\#C8FFFF1 Grey River Pebble"
    assert (shown["message_type"], shown["size"]) == ("ui_harvested_normal", 2.25)
    assert held(scene.one) == [(kinds.PEBBLE, 1)]
    assert scene.is_right()


@pytest.mark.parametrize("version", VERSIONS)
def test_three_harvests_use_a_node_up(version: int) -> None:
    scene = CraftScene(version)
    two = scene.enter(2, version)
    node = scene.node("roots", kinds.PEBBLE)
    for count in (1, 2, 3):
        scene.uses(scene.one, node, seconds=5.5)
        assert held(scene.one) == [(kinds.PEBBLE, count)]
    # Recorded (real-harvest-546-QueensColony): it offers no verb then, and goes a second later.
    index = player_of(scene.one).index_of(node) or 0
    before = len(scene.one.log)
    scene.one.say("OP_EntityVerbsRequestMsg", index.to_bytes(4, "little"))
    assert "OP_EntityVerbsReplyMsg" not in [name for name, _ in scene.one.log[before:]]
    scene.harness.run(2.0)
    assert player_of(scene.one).index_of(node) is None
    assert player_of(two).index_of(node) is None
    assert held(scene.one) == [(kinds.PEBBLE, 3)]


def test_each_player_has_uses_of_its_own() -> None:
    scene = CraftScene()
    two = scene.enter(2, 60114)
    node = scene.node("roots", kinds.PEBBLE, node_uses=2)
    scene.uses(scene.one, node)
    scene.uses(two, node)
    assert (held(scene.one), held(two)) == ([(kinds.PEBBLE, 1)], [(kinds.PEBBLE, 1)])
    scene.uses(two, node)
    scene.harness.run(2.0)
    assert held(two) == [(kinds.PEBBLE, 2)]
    assert player_of(scene.one).index_of(node) is None


@pytest.mark.parametrize(
    ("skill", "first", "last"),
    [
        (NodeSkill.MINING, "You mine 1 ", "You start to mine it."),
        (NodeSkill.TRAPPING, "You acquire 1 ", "You cast Trapping on it."),
        (NodeSkill.COLLECTING, "You gather 1 ", "You begin to gather it."),
        (NodeSkill.FORESTING, "You forest 1 ", "You cast Foresting on it."),
        (NodeSkill.FISHING, "You fish 1 ", "You cast Fishing on it."),
    ],
)
def test_the_words_of_each_skill(skill: NodeSkill, first: str, last: str) -> None:
    """Source: real-harvest-1208-QueensColony-collect; foresting and fishing are our own."""
    scene = CraftScene(1208)
    read = scene.uses(scene.one, scene.node("it", kinds.PEBBLE, skill=skill))
    assert read[0].startswith(first)
    assert read[-1] == last


def test_a_failure_counts_as_a_use_and_says_so() -> None:
    scene = CraftScene()
    node = scene.node("roots", kinds.PEBBLE, table=SURE._replace(one=0.0), node_uses=1)
    assert scene.uses(scene.one, node) == ["You failed to gather anything from roots."]
    scene.harness.run(2.0)
    assert player_of(scene.one).index_of(node) is None


def test_too_little_skill_is_refused_before_the_time_begins() -> None:
    scene = CraftScene()
    node = scene.node("roots", kinds.PEBBLE, table=SURE._replace(min_skill=300))
    assert scene.uses(scene.one, node, seconds=0.2) == [LACKING]
    assert not rows(scene.one, "WS_StartCastSpell")
    assert held(scene.one) == []
    harvesting = scene.harness.parts.crafting.harvesting
    assert not harvesting.may_harvest(player_of(scene.one), node)
    assert not harvesting.may_harvest(player_of(scene.one), player_of(scene.one).spawn)


def test_who_moves_breaks_a_harvest_off() -> None:
    scene = CraftScene()
    two = scene.enter(2)
    node = scene.node("roots", kinds.PEBBLE)
    before = len(two.log)
    scene.uses(scene.one, node, seconds=2.0)
    scene.goes(scene.one, 0.8)
    assert texts(scene.one)[-1] == "Interrupted!"
    assert len(rows(two, "WS_Interrupt", before)) == 1
    scene.harness.run(6.0)
    assert held(scene.one) == []
    assert len(scene.uses(scene.one, node)) == 3


def test_a_player_that_dies_meanwhile_harvests_nothing() -> None:
    """The dead may begin no harvest; one that had begun went on to its end."""
    scene = CraftScene()
    node, player = scene.node(), player_of(scene.one)
    scene.uses(scene.one, node, seconds=1.0)
    before = len(scene.one.log)
    scene.harness.parts.minds.harm.kill(player.zone, player.spawn, None)
    assert "Interrupted!" in texts(scene.one, before)
    scene.harness.run(6.0)
    assert held(scene.one) == []
    assert not scene.harness.parts.crafting.harvesting._used


def test_a_second_click_does_not_begin_anew() -> None:
    scene = CraftScene()
    node = scene.node("roots", kinds.PEBBLE)
    scene.uses(scene.one, node, seconds=3.0)
    scene.uses(scene.one, node, seconds=3.0)
    assert held(scene.one) == [(kinds.PEBBLE, 1)]
    assert len(rows(scene.one, "WS_StartCastSpell")) == 1


def test_things_without_a_place_wait_and_are_not_lost() -> None:
    scene = CraftScene()
    for _ in range(6):
        scene.one.types(f"/summonitem {kinds.MARBLE}")
    node = scene.node("roots", kinds.PEBBLE)
    scene.uses(scene.one, node)
    inventory = player_of(scene.one).holdings.inventory
    assert [one.item_id for one in inventory.waiting()] == [kinds.PEBBLE]
    assert scene.is_right()


def test_a_thing_that_nothing_describes_is_left_out_and_counted() -> None:
    scene = CraftScene()
    read = scene.uses(scene.one, scene.node("roots", 77_000_000))
    assert read == []
    assert scene.harness.faults.drops["thing of a node that nothing describes"] == 1


def test_a_harvest_is_an_event() -> None:
    scene = CraftScene()
    heard: list[tuple[str, int, int]] = []
    scene.harness.world.events.subscribe(
        Harvested, lambda event: heard.append((event.node.name, event.kind.id, event.count))
    )
    scene.uses(scene.one, scene.node("roots", kinds.PEBBLE))
    assert heard == [("roots", kinds.PEBBLE, 1)]


def test_who_leaves_meanwhile_gets_nothing() -> None:
    scene = CraftScene()
    node = scene.node("roots", kinds.PEBBLE)
    scene.uses(scene.one, node, seconds=2.0)
    scene.harness.departures.lose(player_of(scene.one), scene.harness.now)
    scene.harness.run(10.0)
    assert scene.is_right()


@pytest.mark.parametrize(
    ("skill", "ability"), [(NodeSkill.FORESTING, "Foresting"), (NodeSkill.MINING, "Mining")]
)
def test_the_ability_is_an_event_of_the_node(skill: NodeSkill, ability: str) -> None:
    scene, seen = CraftScene(546), list[NodeWorked]()
    scene.harness.world.events.subscribe(NodeWorked, seen.append)
    node = scene.node("a fallen log", kinds.PEBBLE, skill=skill, table=SURE._replace(one=0.0))
    scene.uses(scene.one, node)
    assert seen == [NodeWorked(player_of(scene.one), node, ability)]
