"""Appearance of characters: both pairs of tables return the stored values."""

from __future__ import annotations

import pytest

from emu.model import Color
from emu.store import Store
from emu.store.characters import AppearanceTables
from tests.support.database.stores import character, world_character

COLORS = {"hair_color1": Color(250, 1, 2), "eye_type": Color(-100, 0, 100, signed=True)}


def owners(store: Store) -> dict[str, list[int]]:
    listed = [store.login.characters.add(character(char_id=n, colors={})).id for n in (1, 2)]
    own = [store.world.characters.create(world_character(name=n, colors={})).id for n in "xy"]
    return {"character": listed, "world_character": own}


@pytest.mark.parametrize("owner", ["character", "world_character"])
def test_appearances_are_returned_by_owner(store: Store, owner: str) -> None:
    first, second = owners(store)[owner]
    tables = AppearanceTables(store.database.connection, owner)
    tables.put(first, {"a_number": 7}, COLORS)
    tables.put(second, {"a_number": 8}, {})
    appearance, colors = tables.of("IN (?, ?)", (first, second))
    assert (appearance[first]["a_number"], appearance[second]["a_number"]) == (7, 8)
    assert (colors[first], colors[second]) == (COLORS, {})
    appearance, colors = tables.of("= ?", (second,))
    assert set(appearance) == {second}
    assert not colors
