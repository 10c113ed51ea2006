"""The rows of a world's dump, by character."""

import tracemalloc
from pathlib import Path

import pytest

from emu.errors import CommandError, FileFormatError
from emu.sqldump import Dump
from emu.store.eq2emu_rows import BELONGINGS, TABLES, CharacterRows
from tests.support.files.eq2emu_players import ANTONIA, LOGIN, Rows, mysqldump


def dump(folder: Path, text: str, name: str = "world.sql") -> Dump:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Dump(path)


def test_rows_come_by_character_with_their_places(tmp_path: Path) -> None:
    counts: list[int] = []
    with CharacterRows() as rows:
        rows.read_dumps([dump(tmp_path, mysqldump(ANTONIA))], counts.append)
        assert [row.columns["name"] for row in rows.characters()] == ["Aldana", "Borvik", "Gone"]
        own = rows.belongings(900)
        assert [row.columns["language_id"] for row in own if "language_id" in row.columns] == [
            0, 2, 13,
        ]  # fmt: skip
        assert {row.table for row in own} == set(BELONGINGS) & set(ANTONIA)
        assert all(row.place.startswith("world.sql, line ") for row in own)
        assert [row.table for row in rows.belongings(901)] == ["character_details"]
        assert rows.later == {"character_quest_rewards": 1}
        title = rows.fact("titles", 70)
        assert title is not None
        assert title["title"] == "of the Harbor"
        assert rows.fact("titles", 99) is None
        assert list(rows.ownerless()) == []
    assert counts == []


def test_rows_without_a_character_are_found(tmp_path: Path) -> None:
    lost: Rows = [
        {"id": 1, "char_id": 5, "title_id": 70},
        {"id": 2, "char_id": None, "title_id": 70},
    ]
    with CharacterRows() as rows:
        text = mysqldump({**ANTONIA, "character_titles": lost})
        rows.read_dumps([dump(tmp_path, text)], lambda _count: None)
        assert [row.columns["char_id"] for row in rows.ownerless()] == [5]
        assert [(table, fault) for table, _, fault in rows.malformed] == [
            ("character_titles", "char_id is missing")
        ]


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (LOGIN, "has no table characters: it is the login server's"),
        ({"poem": [{"id": 1}]}, "has no table characters, so it is none of a world"),
        ({"characters": ANTONIA["characters"]}, "lacks char_colors, character_buyback,"),
    ],
)
def test_a_dump_without_the_tables_is_refused(tmp_path: Path, tables: dict, reason: str) -> None:
    with CharacterRows() as rows, pytest.raises(FileFormatError, match=reason):
        rows.read_dumps([dump(tmp_path, mysqldump(tables))], lambda _count: None)


def test_the_tables_may_be_in_several_dumps(tmp_path: Path) -> None:
    dumps = [
        dump(tmp_path, mysqldump({name: ANTONIA[name]}), f"{name}.sql")
        for name in TABLES
        if name in ANTONIA
    ]
    with CharacterRows() as rows:
        rows.read_dumps(dumps, lambda _count: None)
        assert len(list(rows.characters())) == 3
        assert len(rows.belongings(900)) == 38


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with CharacterRows() as rows:
        rows._rows.execute("PRAGMA max_page_count = 5")
        with pytest.raises(CommandError, match=r"temporary file .*full.* SQLITE_TMPDIR"):
            rows.read_dumps([dump(tmp_path, mysqldump(many_skills(5000)))], lambda _count: None)


def many_skills(count: int) -> dict[str, Rows]:
    columns = {"id": 1, "skill_id": 7, "current_val": 1, "max_val": 1, "progress": 0}
    skills = [{**columns, "char_id": 1 + number % 50} for number in range(count)]
    return {**ANTONIA, "character_skills": skills}


@pytest.mark.slow
def test_the_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        source = dump(tmp_path, mysqldump(many_skills(count)))
        tracemalloc.start()
        try:
            with CharacterRows() as rows:
                rows.read_dumps([source], lambda _count: None)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(20_000) < peak(2_000) + 500_000
