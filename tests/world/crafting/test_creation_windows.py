"""Windows of creations, byte for byte as they were recorded.

Source: items-546-deal, items-561-deal, items-1208-deal and items-60114-deal: a window without
components and those with them, the window of the creation itself, and the rounds. The kinds and the
recipe are those of the recorded set.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.content.crafts import CraftTables
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.rules.crafting import CraftChange, CraftEvent, Round, RoundEnd
from emu.world.crafting.components import offers
from emu.world.crafting.creation_windows import (
    CREATE,
    SHOW,
    UPDATE,
    create_fields,
    creation_fields,
    round_fields,
)
from emu.world.crafting.recipe_windows import KnownRecipe
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded, recorded_content, recorded_kinds

VERSIONS = [546, 561, 1208, 60114]
ORE, COAL, STRAP = 910036, 910037, 910038
RECIPE, BUCKLE = 910001, 910039
MISSING = (
    "primary_qty_needed", "primary_item_selected", "primary_selected_item_qty",
    "fuel_qty_needed", "fuel_item_selected", "fuel_selected_item_qty",
)  # fmt: skip
"""What EQ2Emulator leaves 0 for 1208, and sends to all others."""
MISSING_OF_ROWS = ("qty_needed", "item_selected", "selected_item_id", "selected_item_qty")
NAMES = {"Lump of Bog Ore": ORE, "Basket of Charcoal": COAL, "Leather Strap": STRAP}


def known() -> KnownRecipe:
    recipe = CraftTables(recorded_content()).recipes([RECIPE])[RECIPE]
    return KnownRecipe(recipe, "Primer of Small Smithing")


def encoded(version: int, struct: str, fields: dict[str, Any]) -> bytes:
    dialect = DIALECTS.for_version(version)
    return dialect.encode_known(struct, fields)


def choices(rows: object) -> list[tuple[int, int, int]]:
    """Item, number and count of all things that a window offers."""
    found = []
    if isinstance(rows, dict):
        names = [name for name in rows if name.endswith("item_id")]
        if any(name.endswith("component") for name in rows):
            (number,) = [rows[name] for name in names]
            (title,) = [rows[name] for name in rows if name.endswith("component")]
            (count,) = [rows[name] for name in rows if name.endswith("total_quantity")]
            return [(NAMES[title], number, count)]
        for value in rows.values():
            found += choices(value)
    elif isinstance(rows, list):
        for value in rows:
            found += choices(value)
    return found


def inventory(things: list[tuple[int, int, int]]) -> Inventory:
    kinds = recorded_kinds().load([item for item, *_ in things])
    return Inventory(
        [
            Thing(number, item, Place(Where.BAGS, 0, slot), count)
            for slot, (item, number, count) in enumerate(things)
        ],
        kinds,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_the_windows_of_components(version: int) -> None:
    product = recorded_kinds().get(BUCKLE)
    assert product is not None
    layout = DIALECTS.for_version(version).layout(CREATE)
    counts = []
    for _, _, body in recorded(version, "OP_ShowCreateFromRecipeUIMsg"):
        things = choices(layout.decode(body))
        counts.append(len(things))
        offered = offers(known().recipe, inventory(things))
        fields = create_fields(version, known(), product, offered)
        if version == 1208:
            fields |= dict.fromkeys(MISSING, 0)
            rows = fields["build_array"]
            fields["build_array"] = [row | dict.fromkeys(MISSING_OF_ROWS, 0) for row in rows]
        assert encoded(version, CREATE, fields) == body
    assert counts == [0, 3, 3]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_windows_of_creations(version: int) -> None:
    bodies = [body for *_, body in recorded(version, "OP_ShowItemCreationProcessUIMsg")]
    assert len(bodies) == 2
    fields = creation_fields(version, known().recipe, recorded_kinds().get)
    assert {encoded(version, SHOW, fields)} == set(bodies)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_rounds(version: int) -> None:
    layout, seen = DIALECTS.for_version(version).layout(UPDATE), 0
    for _, _, body in recorded(version, "OP_UpdateItemCreationProcessUIMsg"):
        row = layout.decode(body)
        event = CraftEvent(row["reaction_name"], row["reaction_icon"])
        played = Round(
            RoundEnd(row["effect"]), CraftChange(row["durability_change"], row["progress_change"]),
            row["total_durability"], row["total_progress"],
        )  # fmt: skip
        fields = round_fields(played, event if event.name else None, row["spawn_id"])
        assert encoded(version, UPDATE, fields) == body
        seen += 1
    assert seen > 15
