"""Skills, languages and titles out of dumps of EQ2Emulator's world database."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.model import Hotkey, KnownSkill, Title
from emu.world.knowledge import read_knowledge
from emu.world.population.eq2emu_import import FILE, import_knowledge
from tests.support.world.world_dumps import world_dump
from tests.support.world.world_fakes import world_character

DUMP = """
INSERT INTO skills (id, short_name, name, description, skill_type, display) VALUES
 (900, 'juggling', 'Juggling', 'It''s fun.', 12, 1), (901, 'hidden', 'Hidden', '', 0, 0),
 (902, 'nameless', '', '', 0, 0);
INSERT INTO languages (id, language) VALUES (77, 'Ayr\\'Dal'), (999, 'Too Far');
INSERT INTO titles (id, title, prefix) VALUES (50, 'Duke', 1), (51, 'of the Hill', 0);
INSERT INTO starting_skills (id, class_id, race_id, skill_id, current_val, max_val) VALUES
 (1, 255, 255, 900, 5, 9), (2, 11, 255, 901, 1, 1), (3, 255, 255, 12345, 1, 1);
INSERT INTO starting_languages (id, race, starting_city, language_id) VALUES
 (1, 3, 0, 77), (2, 9, 0, 0), (3, 9, 2, 77);
INSERT INTO starting_titles (id, race_id, class_id, gender_id, title_id) VALUES
 (1, 255, 255, 2, 50);
INSERT INTO starting_skillbar (id, race_id, class_id, type, hotbar, spell_id, slot, text_val) VALUES
 (1, 255, 255, 4, 0, 0, 1, 'attack'), (2, 255, 31, 1, 0, 8441, 2, 'Unused');
"""


def test_all_kinds_become_one_file_that_reads_back(tmp_path: Path) -> None:
    folder = tmp_path / "knowledge"
    report = import_knowledge([world_dump(tmp_path, DUMP)], folder)
    knowledge = read_knowledge(folder)
    assert (knowledge.skills[900].description, knowledge.skills[901].shown) == ("It's fun.", False)
    assert knowledge.languages[77].name == "Ayr'Dal"
    assert knowledge.titles[50] == Title("Duke", is_prefix=True)
    begins = knowledge.beginners
    priest = world_character(class_=13, race=3, gender=2)
    scout = world_character(class_=33, race=4, gender=1)
    assert begins.skills(priest) == [KnownSkill(900, 5, 9), KnownSkill(901, 1, 1)]
    assert begins.skills(scout) == [KnownSkill(900, 5, 9)]
    assert (begins.languages(priest), begins.languages(scout)) == ([77], [])
    assert begins.titles(priest) == [Title("Duke", is_prefix=True)]
    assert begins.titles(scout) == []
    assert begins.hotkeys(scout) == [Hotkey(0, 1, 4, text="attack"), Hotkey(0, 2, 1, ability=8441)]
    tallies = {name: (one.read, one.added, one.skipped) for name, one in report.tables.items()}
    assert tallies == {
        "skills": (3, 2, 1), "languages": (2, 1, 1), "titles": (2, 2, 0),
        "starting_skills": (3, 2, 1), "starting_languages": (3, 1, 1),
        "starting_titles": (1, 1, 0), "starting_skillbar": (2, 2, 0),
    }  # fmt: skip
    assert any("there is no skill 12345" in note for note in report.notes)
    assert any("one city only" in note for note in report.notes)


# Recorded (real-entry-1208-start-fighter-priest): of rows 4 and 64 a guardian has that of row 4.
def test_the_first_row_for_a_slot_counts(tmp_path: Path) -> None:
    dump = world_dump(
        tmp_path,
        "INSERT INTO starting_skillbar (id, race_id, class_id, type, hotbar, spell_id, slot,"
        " text_val) VALUES (4, 255, 3, 1, 0, 30118, 2, ''), (64, 255, 1, 1, 0, 10019, 2, '');",
    )
    import_knowledge([dump], tmp_path / "knowledge")
    begins = read_knowledge(tmp_path / "knowledge").beginners
    assert [
        [key.ability for key in begins.hotkeys(world_character(class_=one))] for one in (3, 1)
    ] == [[30118], [10019]]


def test_it_is_run_again_dry_and_beside_what_was_changed_by_hand(tmp_path: Path) -> None:
    dump, folder = world_dump(tmp_path, DUMP), tmp_path / "knowledge"
    assert import_knowledge([dump], folder, dry_run=True).tables["titles"].added == 2
    assert not folder.exists()
    import_knowledge([dump], folder)
    again = import_knowledge([dump], folder).tables["titles"]
    assert (again.present, again.added) == (2, 0)
    path = folder / FILE
    path.write_text(path.read_text() + "# mine\n")
    kept = import_knowledge([dump], folder)
    assert kept.tables["titles"].skipped == 2
    assert path.read_text().endswith("# mine\n")
    import_knowledge([dump], folder, replace=True)
    assert not path.read_text().endswith("# mine\n")


def test_a_dump_without_such_tables_is_refused(tmp_path: Path) -> None:
    dump = world_dump(tmp_path, "INSERT INTO other (id) VALUES (1);")
    with pytest.raises(FileFormatError, match=r"world\.sql: has none of the tables skills, lang"):
        import_knowledge([dump], tmp_path / "k")
    assert not (tmp_path / "k").exists()


def test_a_dump_without_names_of_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the columns of skills have no names"):
        import_knowledge([world_dump(tmp_path, "INSERT INTO skills VALUES (1);")], tmp_path / "k")


def test_the_longest_name_is_kept_whole(tmp_path: Path) -> None:
    name = "x" * 255  # the width of EQ2Emulator's column
    dump = (
        "INSERT INTO skills (id, short_name, name, description, skill_type, display) VALUES"
        f" (900, 's', '{name}', '', 1, 1);\n"
        "INSERT INTO starting_skills (id, class_id, race_id, skill_id) VALUES (1, 255, 255, 900);"
    )
    folder = tmp_path / "knowledge"
    import_knowledge([world_dump(tmp_path, dump)], folder)
    knowledge = read_knowledge(folder)
    assert knowledge.skills[900].name == name
    assert knowledge.beginners.skills(world_character()) == [KnownSkill(900, 1, 1)], "as its column"
