"""What steps of quests count: deaths, things in bags, places, chances, and the company of a group.

Source: docs/guides/quests.md#steps.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.items.held import Place, Where
from emu.quests.journal import TakenQuest
from emu.quests.plans import QuestPlan, QuestSpot, Step, StepKind
from emu.rules.stance import Encounter
from emu.world.events import Cast, Entered
from emu.world.item_events import Crafted, Harvested, ItemObtained
from tests.support.world.quest_scenes import BAG, CRAB, CRABS, HEAL, OTHER_BAG, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def taken(scene: QuestScene, *steps: Step) -> TakenQuest:
    plan = QuestPlan(5, "Errand")
    for one in steps:
        plan.add_step(one)
    scene.journal.offered[5] = 0
    return scene.quests.journal(scene.player).take_quest(plan, 0, scene.harness.moment)


def test_one_death_counts_for_all_steps_that_it_fits(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    quest = taken(
        scene, Step(1, StepKind.KILL, "By number.", 5, ids=frozenset((901,))),
        Step(2, StepKind.KILL, "By name.", 5, names=frozenset(("a shore crab",))),
        Step(3, StepKind.KILL, "Another one.", 5, ids=frozenset((902,))),
        Step(4, StepKind.KILL_SELF, "By oneself.", 1, ids=frozenset((901,))),
    )  # fmt: skip
    scene.kill(901)
    assert quest.counts == {1: 1, 2: 1, 4: 1}
    assert quest.done == (4,)


def test_a_chance_that_is_missed_counts_nothing_and_is_shown(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    rolls = iter([3300, 3299])
    scene.parts.counting._roll = lambda _count: next(rolls)
    quest = taken(scene, Step(1, StepKind.KILL, "Some.", 2, 33.0, ids=frozenset((901,))))
    scene.kill(901)
    assert quest.count(1) == 0
    # As recorded: real-quests-546-QueensColony-fighter, 266.99 s.
    (reply,) = scene.client.decoded("WS_QuestJournalReply")
    assert (reply["onscreen_update"], reply["onscreen_update_text2"]) == (0, "failed")
    scene.kill(901)
    assert quest.count(1) == 1


def test_a_step_for_two_needs_somebody_of_the_group(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    quest = taken(scene, Step(1, StepKind.KILL, "Together.", ids=frozenset((901,)), players=2))
    scene.kill(901)
    assert not quest.done
    other = scene.harness.stand(6, 546, name="Borvik").player
    assert other is not None
    scene.parts.counting._near = lambda _player: [other]
    scene.kill(901)
    assert not quest.done
    scene.quests.journal(other).take_quest(QuestPlan(5, "Errand"), 0, scene.harness.moment)
    scene.kill(901)
    assert quest.done == (1,)


def test_things_count_that_were_there_before(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    kind = scene.harness.kinds.get(BAG)
    assert kind is not None
    quest = taken(scene, Step(1, StepKind.OBTAIN, "Two.", 2, ids=frozenset((BAG,))))
    inventory, items = scene.player.holdings.inventory, scene.harness.parts.items
    (first,) = inventory.add_things(kind, 1, items.new_number)
    scene.parts.counting.looked_at_bags(scene.player)
    assert quest.count(1) == 1
    scene.parts.counting.looked_at_bags(scene.player)
    assert quest.count(1) == 1
    inventory.add_things(kind, 1, items.new_number)
    scene.harness.world.events.publish(ItemObtained(scene.player, first, kind))
    assert quest.done == (1,)


BEGINS_WITH_A_THING = """
function Init(Quest)
    AddQuestStepObtainItem(Quest, 1, "Find a bag.", 1, 100, "", 0, 20902)
    AddQuestStepCompleteAction(Quest, 1, "Found")
end
function Found(Quest, Giver, Player)
    AddQuestStepKill(Quest, 2, "One.", 1, 100, "", 0, 901)
    AddQuestStepCompleteAction(Quest, 2, "Killed")
end
function Killed(Quest, Giver, Player)
    AddQuestStepObtainItem(Quest, 3, "Find another bag.", 1, 100, "", 0, 20903)
    AddQuestStepLocation(Quest, 4, "Stand here.", 5, "", 0, HERE)
    AddQuestStep(Quest, 5, "Wait.", 1, 100, "", 0)
end
"""


def test_a_step_counts_at_its_beginning_what_is_there(tmp_path: Path) -> None:
    """EQ2Emulator looks at the bags at each change (../shared/spec/eq2-quests.md 5)."""
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": BEGINS_WITH_A_THING})
    at = scene.player.position
    here = f"{at.x}, {at.y}, {at.z}"
    scene.script(BEGINS_WITH_A_THING.replace("HERE", here), "Quests/crabs.lua")
    inventory, items = scene.player.holdings.inventory, scene.harness.parts.items
    for number in (BAG, OTHER_BAG):
        kind = scene.harness.kinds.get(number)
        assert kind is not None
        inventory.add_things(kind, 1, items.new_number)
    scene.accept()
    quest = scene.journal.open[CRABS]
    assert quest.done == (1,)
    scene.kill(901)
    assert set(quest.done) == {1, 2, 3, 4}


def test_a_thing_that_comes_out_of_the_bank_counts(tmp_path: Path) -> None:
    """A step of obtaining looks at each change of the bags (../shared/spec/eq2-quests.md 5)."""
    scene = QuestScene(tmp_path)
    inventory, items = scene.player.holdings.inventory, scene.harness.parts.items
    kind = scene.harness.kinds.get(BAG)
    assert kind is not None
    (thing,) = inventory.add_to_bank(kind, 1, items.new_number)
    items.changed(scene.player)
    quest = taken(scene, Step(1, StepKind.OBTAIN, "One.", 1, ids=frozenset((BAG,))))
    scene.harness.run(0.5)
    assert quest.count(1) == 0
    inventory.move_to(thing, Place(Where.BAGS, 0, 3))
    items.changed(scene.player)
    assert quest.done == (1,)


def test_a_harvest_counts_each_thing(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    kind = scene.harness.kinds.get(BAG)
    assert kind is not None
    quest = taken(scene, Step(1, StepKind.HARVEST, "Three.", 3, ids=frozenset((BAG,))))
    node = scene.spawn("", "roots")
    scene.harness.world.events.publish(Harvested(scene.player, node, kind, 2))
    assert quest.count(1) == 2
    scene.harness.world.events.publish(Harvested(scene.player, node, kind, 2))
    assert quest.done == (1,)


def test_made_things_and_casts_count(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    kind = scene.harness.kinds.get(BAG)
    assert kind is not None
    quest = taken(
        scene, Step(1, StepKind.CRAFT, "Two.", 2, ids=frozenset((BAG,))),
        Step(2, StepKind.SPELL, "A spell.", ids=frozenset((HEAL,))),
    )  # fmt: skip
    publish, player = scene.harness.world.events.publish, scene.player
    publish(Crafted(player, 9, kind, 1))
    for caster, spell in ((None, HEAL), (player, HEAL + 1)):
        publish(Cast(caster, zone=scene.zone, spawn=player.spawn, spell_id=spell, tier=1))
    assert (quest.counts, quest.done) == ({1: 1}, ())
    publish(Cast(player, zone=scene.zone, spawn=player.spawn, spell_id=HEAL, tier=1))
    publish(Crafted(player, 9, kind, 1))
    assert set(quest.done) == {1, 2}


def test_a_place_counts_when_the_player_moves_or_comes(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    at = scene.player.position
    here, there = QuestSpot(at.x, at.y, at.z), QuestSpot(at.x, at.y, at.z, 999)
    quest = taken(
        scene, Step(1, StepKind.PLACE, "Here.", spots=(here,), radius=1.0),
        Step(2, StepKind.PLACE_IN_ZONE, "Elsewhere.", spots=(there,), radius=1.0),
    )  # fmt: skip
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    assert quest.done == (1,)


@pytest.mark.parametrize("is_given_up", [False, True])
def test_a_death_counts_unless_its_fight_was_given_up(tmp_path: Path, is_given_up: bool) -> None:
    """Source: eq2-real-content.md 4.2 (a kill counts … unless the state is broken)."""
    scene = QuestScene(tmp_path)
    scene.accept()
    victim = scene.spawn("", "a shore crab")
    victim.look = replace(victim.look, dealing=victim.look.dealing._replace(number=CRAB))
    victim.mind.fighters[scene.player.spawn] = None
    if is_given_up:
        victim.mind.encounter = Encounter.BROKEN
    scene.harness.parts.minds.harm.kill(scene.zone, victim, scene.player.spawn)
    assert scene.journal.open[CRABS].count(1) == int(not is_given_up)
