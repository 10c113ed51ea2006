"""What worn things change: resistances, armor, block, weapons."""

from emu.items.wearing import Equipped, equip
from emu.world.actors.client import sheet_fields
from emu.world.items.effects import show_bonuses
from tests.support.world import item_kinds as kinds
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
        show_bonuses(player)
    sheet = player.spawn.sheet
    fields = sheet_fields(player.character, sheet)
    assert fields["resists"] == [0, 0, 0, 12, 12, 3, 3, 3, 3, 3]
    assert fields["resists_base"] == [0, 0, 0, 3, 3, 3, 3, 3, 3, 3]
    assert (fields["mitigation_cur"], sheet.power.most) == (130, power + 7 + 3 * 3)
    assert (fields["melee_pri_dmg_min"], fields["melee_pri_dmg_max"]) == (1, 6)
    assert fields["melee_pri_delay"] == 1.6
