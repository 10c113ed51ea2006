"""Transmuting: the choice of a thing, the question, and what is made.

Source: docs/guides/crafting.md#transmuting; eq2-lua.md 3 (StartTransmute, CompleteTransmute).
"""

from pathlib import Path

import pytest
from twisted.internet.defer import ensureDeferred

from emu.items.held import Place, Where
from emu.rules.transmuting import TransmuteTier
from emu.world.actors.player import DEAD
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

CAP, RING, TUNIC, STACK, FRAGMENT, POWDER = 920001, 920002, 920003, 920004, 920005, 920006
PACK = 920009
ROWS = (
    f'id = {CAP}, name = "Cap", level = 5, tier = 5',
    f'id = {RING}, name = "Ring", level = 5, tier = 5, no_transmute = 1',
    f'id = {TUNIC}, name = "Tunic", level = 40, tier = 6',
    f'id = {STACK}, name = "Pebble", level = 5, tier = 4',
    f'id = {FRAGMENT}, name = "Fragment"',
    f'id = {POWDER}, name = "Powder"',
)
SPELL = """
[[spell]]
id = 5163
name = "Transmute Item"
script = "Spells/Transmute.lua"
target = 0
is_friendly = true
[[spell.tier]]
cast_time = 100
"""


class TransmuteScene(SpellScene):
    """A player with things, beside a guard that begins the art."""

    def __init__(self, folder: Path, *, toml: str = SPELL, version: int = 546) -> None:
        super().__init__(folder, version, toml=toml)
        self.script("function cast(Caster) CompleteTransmute(Caster) end", "Spells/Transmute.lua")
        self.harness.parts.items.kinds = kinds.item_kinds(ROWS)
        self.harness.crafts._transmuting = (TransmuteTier(1, 9, FRAGMENT, POWDER, 1, 2),)
        self.harness.parts.crafting.transmuting._roll = lambda _below: 20

    def has(self, *items: int) -> None:
        given = " ".join(f"AddItem(Spawn, {item})" for item in items)
        self.says(f"{given} StartTransmute(Spawn)")

    def bags(self) -> list[int]:
        held = self.player.holdings.inventory.in_list(Where.BAGS)
        return sorted(one.item_id for one in held)

    def choose(self, *answers: int) -> list[str]:
        """Give answers, one for each page; return the lines that the player is shown."""
        self.shown()
        for answer in answers:
            self.answer(self.dialogs()[-1]["conversation_id"], answer)
            self.run(0.1)
        self.run(3.0)
        return self.shown()


@pytest.mark.parametrize("version", [546, 60114])
@pytest.mark.parametrize("toml", [SPELL, ""])
def test_a_thing_becomes_material(tmp_path: Path, toml: str, version: int) -> None:
    scene = TransmuteScene(tmp_path, toml=toml, version=version)
    scene.has(CAP, RING, STACK, TUNIC)
    page = scene.dialogs()[-1]
    answers = [one["response"] for one in page["response_array"]]
    assert answers == ["Cap", "Tunic", "Cancel"]
    lines = scene.choose(0, 0)
    asked = scene.dialogs()[-1]
    assert asked["text"] == "Are you sure you want to transmute the Cap?"
    assert scene.bags() == [RING, TUNIC, STACK, FRAGMENT]
    made = [line for line in lines if "\\aITEM" in line]
    assert [line.split("\\")[0] for line in made] == ["You transmute ", "     "]
    assert "Fragment" in made[1]
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


@pytest.mark.parametrize("answers", [(2,), (0, 1)])
def test_a_player_changes_its_mind(tmp_path: Path, answers: tuple[int, ...]) -> None:
    scene = TransmuteScene(tmp_path)
    scene.has(CAP, TUNIC)
    assert scene.choose(*answers) == []
    assert scene.bags() == [CAP, TUNIC]


def test_the_skill_may_be_too_small(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path)
    scene.has(TUNIC)
    skill = scene.harness.parts.skills.value(scene.player, "Transmuting")
    needs = "You need at least 175 Transmuting skill to transmute the Tunic."
    assert scene.choose(0) == [f"{needs} You have {skill} Transmuting skill."]
    assert scene.bags() == [TUNIC]


def test_nothing_is_there_to_transmute(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path)
    scene.shown()
    scene.has(RING)
    assert scene.shown() == ["You have nothing that can be transmuted."]
    scene.says("CompleteTransmute(Spawn) CompleteTransmute(NPC) StartTransmute(NPC)")
    assert scene.bags() == [RING]


def test_a_thing_that_is_gone_meanwhile(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path)
    scene.has(CAP)
    scene.says(f"RemoveItem(Spawn, {CAP})")
    assert scene.choose(0)[-1].startswith("Could not find the item")
    assert scene.bags() == []


@pytest.mark.parametrize("where", [Where.SHARED, Where.BANK, Where.WORN])
def test_only_things_in_the_bags_are_transmuted(tmp_path: Path, where: Where) -> None:
    """A thing of the account's shared bank was made into material of the character."""
    scene = TransmuteScene(tmp_path)
    scene.has(CAP)
    inventory = scene.player.holdings.inventory
    inventory.move_to(inventory.of_kind(CAP)[0], Place(where, 0, 0))
    assert scene.choose(0)[-1].startswith("Could not find the item")
    assert [one.item_id for one in inventory] == [CAP]


def test_a_bag_with_things_in_it_is_not_transmuted(tmp_path: Path) -> None:
    """What lay in the bag was lost."""
    scene = TransmuteScene(tmp_path)
    rows = (*ROWS, f'id = {PACK}, name = "Pack", level = 5, tier = 5, bags = {{slots = 4}}')
    scene.harness.parts.items.kinds = kinds.item_kinds(rows)
    scene.has(PACK)
    scene.says(f"AddItem(Spawn, {STACK})")
    assert scene.bags() == [STACK, PACK]
    assert scene.choose(0)[-1].startswith("Could not find the item")
    assert scene.bags() == [STACK, PACK]
    scene.says("StartTransmute(Spawn)")
    assert scene.shown() == ["You have nothing that can be transmuted."]
    scene.says(f"RemoveItem(Spawn, {STACK}) StartTransmute(Spawn)")
    scene.choose(0, 0)
    assert scene.bags() == [FRAGMENT]
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_a_thing_that_is_offered_while_the_act_waits_is_kept(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path, toml="")
    scene.has(CAP)
    player = scene.player
    finish(player.holdings.gate.pass_through())
    scene.harness.start = ensureDeferred  # type: ignore[assignment]
    scene.choose(0, 0)
    player.holdings.inventory.locked.add(player.holdings.inventory.of_kind(CAP)[0].id)
    player.holdings.gate.leave()
    assert scene.bags() == [CAP]


def test_a_dead_player_transmutes_nothing(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path, toml="")
    scene.has(CAP)
    scene.choose(0)
    scene.harness.parts.minds.harm.kill(scene.zone, scene.player.spawn, None)
    assert DEAD in scene.choose(0)
    assert scene.bags() == [CAP]


def test_content_that_says_nothing_of_a_level(tmp_path: Path) -> None:
    scene = TransmuteScene(tmp_path)
    scene.harness.crafts._transmuting = ()
    scene.has(CAP)
    assert "Nothing can be made of this." in scene.choose(0, 0)
    assert scene.bags() == [CAP]
