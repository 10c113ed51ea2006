"""`emu content show`: a spawn with all that belongs to it, and other subjects."""

from pathlib import Path

import pytest

from tests.support.content.dumps import meadow, write_dumps
from tests.support.content.subjects import knowledge, others, trade
from tests.support.running.command_line import CommandLine


@pytest.fixture(scope="module")
def emu(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    folder: Path = tmp_path_factory.mktemp("show")
    tables = meadow() | {name: rows for name, rows in others().items() if name != "factions"}
    tables |= knowledge() | trade()
    emu = CommandLine(folder)
    emu.good("content", "import", str(write_dumps(folder / "dumps", tables)))
    return emu


def test_a_spawn_is_shown_with_loot_wares_spells_scripts_and_places(emu: CommandLine) -> None:
    lines = emu.good("content", "show", "90001").stdout.splitlines()
    assert {
        "name: a guard",
        "merchant: 7 (A Smith)",
        "script of spawn 90001: SpawnScripts/meadow/guard.lua",
        "script of location 3: SpawnScripts/meadow/place.lua",
        "loot table 2 (crossed): 1 times 6 %, 5 to 50 copper at 100 %",
        "loot table 2: item 502 (a ring), weight 120",
        "sells item 502 (a ring), 2 of them for 3 of item 601 (a token)",
        "sells item 504 (a cape) for 40 status",
        "spell list 4: 11 (Smite), tier 2 when a fight begins",
        "stands in zone 9 (meadow) at placement 11, weight 86",
    } <= set(lines)


def test_verbs_are_shown_with_their_distance(emu: CommandLine, tmp_path: Path) -> None:
    own = CommandLine(tmp_path)
    own.good("content", "import", str(write_dumps(tmp_path / "dumps", meadow())))
    lines = own.good("content", "show", "90001").stdout.splitlines()
    assert "verb: Hail (hail), within 10" in lines


def test_another_subject_is_named_before_its_number(emu: CommandLine) -> None:
    lines = emu.good("content", "show", "spell", "11").stdout.splitlines()
    assert lines[:2] == ["id: 11", "name: Smite"]
    assert any(line.startswith("spell_tiers: spell_id 11 (Smite), tier 1") for line in lines)
    lines = emu.good("content", "show", "merchant", "7").stdout.splitlines()
    assert len([line for line in lines if line.startswith("merchants: ")]) == 2


@pytest.mark.parametrize("words", [("castle", "1"), ("spell",), ("spell", "x"), ("a", "b", "1")])
def test_other_words_get_the_list_of_subjects(emu: CommandLine, words: tuple[str, ...]) -> None:
    assert "a subject before it: spawn, zone, area, item" in emu.refused("content", "show", *words)


def test_a_subject_that_is_not_there_names_the_search(emu: CommandLine) -> None:
    assert "there is no quest 77" in emu.refused("content", "show", "quest", "77")
