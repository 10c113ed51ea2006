"""What worn things change: resistances, armor, block, weapons."""

import pytest

from emu.items.kinds import Slot
from emu.items.wearing import Equipped, equip
from emu.world.actors.client import sheet_fields
from emu.world.actors.sheet import FieldKind
from emu.world.items.effects import show_bonuses
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, makes, player_of
from tests.support.world.worlds import WorldHarness


def test_the_sheet_has_what_is_worn_once() -> None:
    harness = WorldHarness()
    client = harness.stand(1, 546, class_=1)
    player = client.player
    assert player is not None
    row = (
        'id = 5, name = "Ring", slots = 512, baubles = {cast_time = 1},'
        " stats = [{kind = 2, subkind = 1, integer = 9}, {kind = 5, subkind = 1, integer = 7}]"
    )
    found = kinds.item_kinds([row])
    inventory = player.holdings.inventory
    for number, item in enumerate((kinds.SWORD, kinds.BUCKLER, 5)):
        kind = found.get(item)
        assert kind is not None
        thing = inventory.add_things(kind, 1, lambda number=number: 1000 + number)[0]  # type: ignore[misc]
        assert isinstance(equip(inventory, thing.id, harness.parts.items.wearer(player)), Equipped)
    power = player.spawn.sheet.power.most
    # The sword has three points of strength, each three of power.
    for _ in range(2):  # not once for each call
        show_bonuses(player, harness.world.knowledge.skills)
    sheet = player.spawn.sheet
    fields = sheet_fields(player.character, sheet, player.client.dialect.world_rules)
    assert fields["resists"] == [0, 0, 0, 12, 12, 3, 3, 3, 3, 3]
    assert fields["resists_base"] == [0, 0, 0, 3, 3, 3, 3, 3, 3, 3]
    assert (fields["mitigation_cur"], sheet.power.most) == (130, power + 7 + 3 * 3)
    assert (fields["melee_pri_dmg_min"], fields["melee_pri_dmg_max"]) == (1, 6)
    assert fields["melee_pri_delay"] == 1.6


def test_what_is_worn_adds_to_fights_and_spells() -> None:
    """Statistics of the kinds 1, 5 and 6 count as bonuses (eq2-real-content.md 5.3)."""
    harness = WorldHarness()
    player = harness.stand(1, 546, class_=1).player
    assert player is not None
    stats = {(6, 17): 20, (6, 4): 3, (6, 59): 5, (6, 37): 2, (5, 2): 1, (5, 3): 4,
             (1, 19): 10, (1, 33): 7, (6, 111): 9}  # fmt: skip
    rows = ", ".join(
        f"{{kind = {kind}, subkind = {sub}, {'decimal' if kind == 6 else 'integer'} = {value}}}"
        for (kind, sub), value in stats.items()
    )
    found = kinds.item_kinds(
        [f'id = 5, name = "Ring", slots = 512, baubles = {{cast_time = 1}}, stats = [{rows}]']
    )
    kind = found.get(5)
    assert kind is not None
    inventory, sheet = player.holdings.inventory, player.spawn.sheet
    thing = inventory.add_things(kind, 1, lambda: 1000)[0]
    assert isinstance(equip(inventory, thing.id, harness.parts.items.wearer(player)), Equipped)
    skills = harness.world.knowledge.skills
    parry = next(one.id for one in skills.values() if one.name == "Parry")
    show_bonuses(player, skills)
    shown = {name: sheet.get(name, FieldKind.FRACTION) for name in ("haste", "potency", "parry")}
    assert shown == {"haste": 20.0, "potency": 5.0, "parry": 2.0}
    assert {one: sheet.bonus(one) for one in (604, 502, 133, 6111)} == {
        604: 3.0, 502: 1.0, 133: 7.0, 6111: 9.0,
    }  # fmt: skip
    assert sheet.skill_bonus(parry) == 10
    assert harness.parts.spells.skill_of(player.spawn, parry) == 5 + 10
    assert harness.parts.sheets.fields(player)["conc_max"] == 6
    inventory.use_up(thing, thing.count)
    show_bonuses(player, skills)
    assert (sheet.bonus(604), sheet.skill_bonus(parry)) == (0.0, 0)
    assert sheet.get("haste", FieldKind.FRACTION) == 0.0


def test_percent_of_worn_things_raises_health_and_power() -> None:
    """Source: eq2-lua.md 7.4 (607 most health %, 620 most power %)."""
    harness = WorldHarness()
    player = harness.stand(1, 546, class_=1).player
    assert player is not None
    stats = (
        "{kind = 6, subkind = 7, decimal = 10}, {kind = 6, subkind = 20, decimal = 20},"
        " {kind = 5, subkind = 0, integer = 50}"
    )
    ring = f'id = 5, name = "Ring", slots = 512, baubles = {{cast_time = 1}}, stats = [{stats}]'
    found = kinds.item_kinds([ring])
    kind = found.get(5)
    assert kind is not None
    inventory, sheet = player.holdings.inventory, player.spawn.sheet
    before = sheet.health.most, sheet.power.most
    thing = inventory.add_things(kind, 1, lambda: 1000)[0]
    assert isinstance(equip(inventory, thing.id, harness.parts.items.wearer(player)), Equipped)
    show_bonuses(player, harness.world.knowledge.skills)
    health, power = player.spawn.sheet.health.most, player.spawn.sheet.power.most
    assert (health, power) == (round(before[0] * 1.1) + 50, round(before[1] * 1.2))
    # With a level the share grows as well.
    player.spawn.level += 10
    player.spawn.mark_sheet()
    higher = player.spawn.sheet.health.most
    inventory.use_up(thing, thing.count)
    show_bonuses(player, harness.world.knowledge.skills)
    assert higher == round(player.spawn.sheet.health.most * 1.1) + 50


@pytest.mark.parametrize("version", [546, 1208])
def test_others_do_not_see_a_helmet_that_its_wearer_hides(version: int) -> None:
    """eq2-items.md 7: helmet and cloak are hidden by the flags of the character."""
    scene = TradeScene(version)
    two = scene.enter(2, version)
    name = player_of(scene.one).name
    makes(scene.one, kinds.CAP)
    scene.one.types("/inventory equip 0")
    scene.one.types("showhelm false")
    scene.harness.run(1.0)
    assert "equipment_types" not in two.fields_of(name)  # all are 0
    scene.one.types("showhelm")
    scene.harness.run(1.0)
    assert two.fields_of(name)["equipment_types"][Slot.HEAD] == 1513


def test_a_hidden_helmet_stays_hidden_in_the_next_session() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    name = player_of(scene.one).name
    makes(scene.one, kinds.CAP)
    scene.one.types("/inventory equip 0")
    scene.one.types("showhelm false")
    scene.one.say("OP_RequestCampMsg", b"\1\1")
    scene.harness.run(3.0)
    assert name not in two.sees()
    back = scene.enter(1)
    scene.harness.run(1.0)
    assert player_of(back).holdings.inventory.worn(Slot.HEAD)
    assert "equipment_types" not in two.fields_of(name)


def test_others_see_a_cloak_only_if_its_wearer_shows_it() -> None:
    """Bit 29 of the flags says that the cloak is shown; new characters do not have it.

    Source: docs/protocol/world/commands.md#options.
    """
    scene = TradeScene(1208)
    two = scene.enter(2, 1208)
    player = player_of(scene.one)
    row = f'id = 5, name = "Cloak", slots = {1 << Slot.CLOAK}, armor = {{low = 1, high = 2}}'
    kind = kinds.item_kinds([f"{row}, appearances = {{id = 1, model = 77}}"]).get(5)
    assert kind is not None
    player.holdings.inventory.add_worn(kind, 1, Slot.CLOAK, lambda: 5000)
    scene.harness.parts.items.changed(player)
    scene.harness.run(1.0)
    assert "equipment_types" not in two.fields_of(player.name)
    scene.one.types("showcloak")
    scene.harness.run(1.0)
    assert two.fields_of(player.name)["equipment_types"][Slot.CLOAK] == 77
