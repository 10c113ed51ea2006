"""Recipe books, details of recipes and the window of a recipe, as they were recorded.

Source: items-546-deal, items-561-deal, items-1208-deal and items-60114-deal. Where a device stands
among the others is our own number: EQ2Emulator counts those that its recipes name.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.content.crafts import CraftTables
from emu.world.crafting.recipe_windows import (
    DETAILS,
    LIST,
    SHOW_BOOK,
    KnownRecipe,
    bench_of,
    details_fields,
    list_fields,
    old_book,
)
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded, recorded_content

RECIPE: int = 910001
HEAD: int = 7
"""Bytes before a command inside of another message."""


def known() -> KnownRecipe:
    recipe = CraftTables(recorded_content()).recipes([RECIPE])[RECIPE]
    return KnownRecipe(recipe, "Primer of Small Smithing")


def encoded(version: int, struct: str, fields: dict[str, Any]) -> bytes:
    dialect = DIALECTS.for_version(version)
    return dialect.encode_known(struct, fields)


def test_a_recipe_knows_its_device() -> None:
    assert bench_of(known().recipe) == ("Forge", 2)


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_the_details(version: int) -> None:
    (body,) = [body for *_, body in recorded(version, "OP_RecipeDetailsMsg")]
    fields = {"num_recipes": 1, "recipe_array": [details_fields(known())]}
    assert encoded(version, DETAILS, fields) == body


@pytest.mark.parametrize("version", [546, 561])
def test_the_old_book_has_checksums(version: int) -> None:
    bodies = {body for *_, body in recorded(version, "OP_UpdateRecipeBookMsg")}
    dialect = DIALECTS.for_version(version)
    assert bodies == {old_book(dialect, []), old_book(dialect, [known()])}


def test_the_newer_book() -> None:
    (body,) = [body for *_, body in recorded(60114, "OP_RecipeList")]
    layout = DIALECTS.for_version(60114).layout(LIST)
    rows = layout.decode(encoded(60114, LIST, list_fields([known()], lambda _level: 3)))
    assert rows["recipe_array"][0]["device_type"] == 1
    rows["recipe_array"][0]["device_type"] = 0
    assert layout.encode(rows) == body[HEAD:]


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_the_message_about_a_device(version: int) -> None:
    (body,) = [body for *_, body in recorded(version, "OP_ShowRecipeBookMsg")]
    fields = {"device": "Forge", "unknown1": 1, "num_devices": 1, "device_mask": 1}
    assert encoded(version, SHOW_BOOK, fields) == body
