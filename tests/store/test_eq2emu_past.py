"""Factions, events and spells of EQ2Emulator's characters, as this world stores them.

Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from emu.sqldump.report import Columns
from emu.store.eq2emu_past import MOST_EVENTS, MOST_FACTIONS, MOST_SPELLS, ImportedPast
from emu.world.actors import past
from emu.world.actors.past import Past
from tests.support.files.eq2emu_players import ANTONIA


@pytest.fixture
def imported() -> ImportedPast:
    found = ImportedPast()
    for row in ANTONIA["character_factions"]:
        found.add_standing(row)
    for row in ANTONIA["character_lua_history"]:
        found.add_event(row)
    for row in ANTONIA["character_spells"]:
        found.add_spell(row)
    found.add_details(ANTONIA["character_details"][0])
    return found


def test_the_world_reads_all_of_it(imported: ImportedPast) -> None:
    found = Past(imported.stored)
    assert dict(found.standings) == {11: 12_500, 12: -40_000}
    assert found.event(12) == (1, 4_000_000_000)
    assert found.pet_name == "Fluff"
    assert found.text == imported.stored


def test_the_highest_tier_of_a_spell_counts(imported: ImportedPast) -> None:
    assert list(Past(imported.stored).spells.items()) == [(99, 7), (110014, 5)]
    imported.add_spell({"spell_id": 99, "tier": 2})
    assert imported.spells[99] == 7


def test_who_has_been_through_nothing_has_no_past() -> None:
    assert ImportedPast().stored == ""
    assert Past(ImportedPast(pet_name="Fluff").stored).pet_name == "Fluff"


def test_the_bounds_are_those_of_the_world() -> None:
    assert (MOST_FACTIONS, MOST_EVENTS, MOST_SPELLS) == (
        past.MOST_FACTIONS, past.MOST_EVENTS, past.MOST_SPELLS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("add", "name", "most", "what"),
    [
        (ImportedPast.add_standing, "faction_id", MOST_FACTIONS, "factions"),
        (ImportedPast.add_event, "event_id", MOST_EVENTS, "events"),
        (ImportedPast.add_spell, "spell_id", MOST_SPELLS, "spells"),
    ],
)
def test_more_than_a_character_keeps_is_left_out(
    add: Callable[[ImportedPast, Columns], None], name: str, most: int, what: str
) -> None:
    found = ImportedPast()
    for one in range(1, most + 1):
        add(found, {name: one})
    add(found, {name: most})
    with pytest.raises(ValueError, match=f"at most {most} {what}"):
        add(found, {name: most + 1})


@pytest.mark.parametrize(
    ("add", "row", "reason"),
    [
        (ImportedPast.add_standing, {"faction_id": 0}, "faction_id is missing"),
        (ImportedPast.add_standing, {"faction_id": 5, "faction_level": 50_001}, "faction_level"),
        (ImportedPast.add_event, {"event_id": None}, "event_id is missing"),
        (ImportedPast.add_event, {"event_id": 5, "value2": -1}, "value2 is out of range"),
        (ImportedPast.add_spell, {"tier": 3}, "spell_id is missing"),
        (ImportedPast.add_spell, {"spell_id": 5, "tier": 0}, "tier is out of range"),
        (ImportedPast.add_spell, {"spell_id": 5, "tier": 256}, "tier is out of range"),
    ],
)
def test_a_row_that_makes_no_sense_is_left_out(
    add: Callable[[ImportedPast, Columns], None], row: dict[str, Any], reason: str
) -> None:
    found = ImportedPast()
    with pytest.raises(ValueError, match=reason):
        add(found, row)
    assert found.stored == ""


def test_a_pet_name_is_cut_and_visible() -> None:
    found = ImportedPast()
    found.add_details({"pet_name": " " + "x" * 40})
    assert Past(found.stored).pet_name == "x" * 31
    found.add_details({"pet_name": "a\nb"})
    assert found.pet_name == ""
