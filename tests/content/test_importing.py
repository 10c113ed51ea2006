"""Building a content file: what is taken, what is left out, and what an interruption leaves."""

import gzip
import sqlite3
import zipfile
from pathlib import Path

import pytest

from emu.content import importing
from emu.content.checks import keys_path
from emu.content.file import ContentFile
from emu.content.importing import import_content, step_back
from emu.content.sources import dump_parts
from emu.content.tables import content_tables
from emu.errors import FileFormatError
from tests.support.content.dumps import dump_text, meadow, write_dumps
from tests.support.content.subjects import knowledge, others, trade
from tests.support.killing import MOST, is_killed


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return write_dumps(tmp_path / "dumps", meadow())


def test_rows_that_lead_nowhere_are_counted_by_table_and_reason(
    dumps: Path, tmp_path: Path
) -> None:
    report = import_content(dump_parts([dumps]), tmp_path / "content.sqlite")
    assert dict(report.left_out) == {
        ("spawns", "size is out of its range: the default is taken"): 1,
        ("npcs", "heroic is out of its range: the default is taken"): 1,
        ("placements", "pitch is out of its range: the default is taken"): 1,
        ("equipment", "slot is no usable number"): 1,
        ("placements", "nothing can stand there"): 1,
        ("entries", "their location has no placement"): 1,
        ("spawn_scripts", "their location is gone"): 1,
        ("spawns", "it is of no kind, so it never stands"): 1,
        ("signs", "it leads to no zone"): 1,
        ("appearances", "a later row has the same key"): 1,
    }
    assert report.unread == {"character_items"}
    assert report.rows["placements"] == 5
    with ContentFile(tmp_path / "content.sqlite") as file:
        assert len(file.left_out()) == len(report.left_out)


@pytest.mark.slow
def test_a_dump_may_be_a_file_a_folder_gzip_or_zip(dumps: Path, tmp_path: Path) -> None:
    whole = "".join(dump_text(name, rows) for name, rows in meadow().items())
    (tmp_path / "one.sql").write_text(whole, encoding="utf-8")
    with gzip.open(tmp_path / "one.sql.gz", "wb") as packed:
        packed.write(whole.encode())
    with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(dumps.iterdir()):
            archive.write(path, path.name)
        archive.writestr("README.txt", "nothing")
    counts = []
    for source in (dumps, tmp_path / "one.sql", tmp_path / "one.sql.gz", tmp_path / "all.zip"):
        target = tmp_path / "content.sqlite"
        import_content(dump_parts([source]), target)
        with ContentFile(target) as file:
            counts.append(file.counts())
    assert counts[0]["spawns"] == 4
    assert counts == [counts[0]] * 4


def test_dumps_that_have_not_changed_are_copied(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    first = import_content(dump_parts([dumps]), target)
    changed = meadow()["spawn"]
    changed[0]["name"] = "another guard"
    write_dumps(dumps, {"spawn": changed})
    second = import_content(dump_parts([dumps]), target)
    assert len(second.copied) == len(list(dumps.iterdir())) - 1
    assert second.rows == first.rows
    with ContentFile(target) as file:
        assert file.table("spawns")[0]["name"] == "another guard"
        counted = [((name, reason), rows) for name, reason, rows in file.left_out()]
    assert sorted(counted) == sorted(first.left_out.items())


def test_a_table_of_several_dumps_is_read_again(tmp_path: Path) -> None:
    """The copied table would have the rows of both dumps, also those that are gone now."""
    folder, target = tmp_path / "dumps", tmp_path / "content.sqlite"
    write_dumps(folder / "a", {"spawn": [{"id": 1, "name": "one"}]})
    write_dumps(folder / "b", {"spawn": [{"id": 2, "name": "two"}, {"id": 3, "name": "three"}]})
    import_content(dump_parts([folder]), target)
    write_dumps(folder / "b", {"spawn": [{"id": 2, "name": "other"}]})
    import_content(dump_parts([folder]), target)
    with ContentFile(target) as file:
        assert [(row["id"], row["name"]) for row in file.table("spawns")] == [
            (1, "one"), (2, "other"),
        ]  # fmt: skip


def test_a_row_that_names_no_number_gets_the_next_one(tmp_path: Path) -> None:
    """As AUTO_INCREMENT gives it; source: items-set-A.sql names no id of `item_mod_stats`."""
    folder, target = tmp_path / "dumps", tmp_path / "content.sqlite"
    folder.mkdir()
    (folder / "first.sql").write_text(
        "INSERT INTO items (id, name) VALUES (7, 'Old Ring'), (8, 'Fine Ring');\n"
        "INSERT INTO item_mod_stats (id, item_id, type, subtype, iValue) VALUES (5, 7, 0, 1, 3);\n"
        "INSERT INTO item_mod_stats (item_id, type, subtype, iValue) VALUES (7, 0, 2, 4);\n"
        "INSERT INTO item_mod_stats (id, item_id, type, subtype, iValue) VALUES (9, 8, 0, 1, 1);\n"
        "INSERT INTO item_mod_stats (item_id, type, subtype, iValue) VALUES (8, 0, 3, 2);\n"
    )
    (folder / "second.sql").write_text(
        "INSERT INTO item_mod_stats (item_id, type, subtype, iValue) VALUES (8, 0, 4, 6);\n"
    )
    report = import_content(dump_parts([folder]), target)
    assert not report.left_out
    with ContentFile(target) as file:
        rows = [(row["item_id"], row["id"], row["integer"]) for row in file.table("item_stats")]
    assert rows == [(7, 5, 3), (7, 6, 4), (8, 9, 1), (8, 10, 2), (8, 11, 6)]


def test_the_keys_of_what_is_left_out_are_in_a_file_beside(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    lines = keys_path(target).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "table\treason\tkey"
    assert "placements\tnothing can stand there\t9 12" in lines
    assert "equipment\tslot is no usable number\t90001 255" in lines
    with ContentFile(target) as file:
        assert len(lines) - 1 == sum(rows for _, _, rows in file.left_out())


def test_each_dump_is_noted_with_its_rows_and_moment(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target, moment="2026-01-02")
    with sqlite3.connect(target) as database:
        rows = database.execute("SELECT source, tables, rows, moment FROM imports").fetchall()
    assert (str(dumps / "spawn.sql"), "spawns", 4, "2026-01-02") in rows
    assert (str(dumps / "character_items.sql"), "", 0, "2026-01-02") in rows


def test_scripts_that_do_not_exist_are_counted(dumps: Path, tmp_path: Path) -> None:
    there = {"SpawnScripts/meadow/guard.lua", "SpawnScripts/meadow/place.lua"}
    report = import_content(
        dump_parts([dumps]), tmp_path / "content.sqlite",
        find_script=lambda name: name if name in there else None,
    )  # fmt: skip
    assert report.left_out["spawn_scripts", "there is no such script"] == 3


def test_the_progress_ends_with_all_bytes(dumps: Path, tmp_path: Path) -> None:
    shown: list[tuple[int, int, str]] = []
    import_content(
        dump_parts([dumps]), tmp_path / "content.sqlite", lambda *step: shown.append(step)
    )
    size = sum(path.stat().st_size for path in dumps.iterdir())
    assert {everything for _, everything, _ in shown[:-1]} == {size}
    done = [step for step, _, _ in shown[:-1]]
    assert done == sorted(done)
    assert done[0] == 0
    assert shown[-1] == (1, 1, "checking")


def test_the_file_before_is_kept_once_and_can_come_back(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    write_dumps(dumps, {"zones": []} | {"zones": [{"id": 10, "name": "other"}]})
    import_content(dump_parts([dumps]), target)
    names = []
    for _ in range(3):
        with ContentFile(target) as file:
            names.append([zone["name"] for zone in file.zones()])
        step_back(target)
    assert names == [["other"], ["meadow"], ["other"]]


def test_an_import_that_fails_keeps_the_old_file(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    before = target.read_bytes()
    (dumps / "zones.sql").write_text("INSERT INTO `zones` VALUES (1, 'cut", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"zones\.sql: .*was it cut short"):
        import_content(dump_parts([dumps]), target)
    assert target.read_bytes() == before
    assert {path.name for path in tmp_path.glob("content.sqlite*")} == {
        "content.sqlite", "content.sqlite.left-out.tsv",
    }  # fmt: skip


def test_a_dump_without_names_of_columns_says_so(tmp_path: Path) -> None:
    (tmp_path / "zones.sql").write_text("INSERT INTO `zones` VALUES (1);", encoding="utf-8")
    with pytest.raises(FileFormatError, match="the columns of zones have no names"):
        import_content(dump_parts([tmp_path / "zones.sql"]), tmp_path / "content.sqlite")


def test_there_is_no_step_back_without_an_earlier_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no earlier content file"):
        step_back(tmp_path / "content.sqlite")


def test_a_folder_without_dumps_and_a_broken_archive_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"there is no \.sql"):
        dump_parts([tmp_path / "empty"])
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(FileFormatError, match="no usable zip archive"):
        dump_parts([tmp_path / "broken.zip"])


def test_a_file_of_another_form_is_not_copied_from(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    with sqlite3.connect(target) as database:
        database.execute("PRAGMA user_version = 99")
    assert import_content(dump_parts([dumps]), target).copied == []


def test_the_name_of_the_file_may_have_any_letters(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "my #1? 100%.sqlite"
    import_content(dump_parts([dumps]), target)
    again = import_content(dump_parts([dumps]), target)
    assert len(again.copied) == len(list(dumps.iterdir()))
    with ContentFile(target) as file:
        assert file.counts()["spawns"] == 4


def test_every_subject_of_the_database_fills_its_tables(tmp_path: Path) -> None:
    tables = meadow() | others() | knowledge() | trade()
    target = tmp_path / "content.sqlite"
    report = import_content(dump_parts([write_dumps(tmp_path / "dumps", tables)]), target)
    filled = {table.source.lower(): name for name, table in content_tables().items()}
    for source, rows in (others() | knowledge() | trade()).items():
        assert report.rows[filled[source.lower()]] == len(rows), source
    with ContentFile(target) as file:
        (zone_map,) = file.table("maps")
        (rule,) = file.table("rules")
        (home,) = file.table("homes")
    # A number of 64 bits without a sign, which SQLite has not.
    assert zone_map["explored_key"] == "18446744073709551615"
    assert (rule["category"], rule["name"], rule["value"]) == ("R_World", "DeathXPDebt", "10")
    assert (home["name"], home["coins"], home["zone_id"]) == ("Inn Chamber", 500, 9)


def test_a_file_that_cannot_be_written_is_one_line(dumps: Path, tmp_path: Path) -> None:
    (tmp_path / "content.sqlite").mkdir()
    (tmp_path / "content.sqlite" / "a file").touch()
    with pytest.raises(FileFormatError, match=r"content\.sqlite: cannot be written \("):
        import_content(dump_parts([dumps]), tmp_path / "content.sqlite")


def test_a_full_disk_is_one_line_and_the_old_file_stays(
    dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    before = target.read_bytes()
    create = importing._create

    def small(path: Path) -> sqlite3.Connection:
        database = create(path)
        # No page more than the empty tables have: SQLite says that the disk is full.
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        return database

    monkeypatch.setattr(importing, "_create", small)
    write_dumps(dumps, {"spawn": [{"id": one, "name": "x" * 500} for one in range(1, 200)]})
    with pytest.raises(FileFormatError, match=r"content\.sqlite: cannot be written \(.*full"):
        import_content(dump_parts([dumps]), target)
    assert target.read_bytes() == before
    assert {path.name for path in tmp_path.glob("*content.sqlite*")} == {
        "content.sqlite", "content.sqlite.left-out.tsv",
    }  # fmt: skip


@pytest.mark.slow
def test_an_import_that_is_killed_leaves_a_content_file(dumps: Path, tmp_path: Path) -> None:
    target = tmp_path / "content.sqlite"

    def zones() -> list[str]:
        with ContentFile(target) as file:
            return [str(zone["name"]) for zone in file.zones()]

    import_content(dump_parts([dumps]), target)
    write_dumps(dumps, {"zones": [{"id": 10, "name": "other"}]})
    for step in range(MOST):
        was_killed = is_killed(lambda: import_content(dump_parts([dumps]), target), step)
        assert zones() in (["meadow"], ["other"])
        if not was_killed:
            break
    assert zones() == ["other"]
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "content.sqlite", "content.sqlite.previous", "content.sqlite.left-out.tsv",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("CREATE TABLE `logins` (`id` int);\n", r" \(their tables: logins\)"),
        ("INSERT INTO `logins` VALUES (1);\n", r" \(their tables: logins\)"),
        ("This is no dump;\n", ""),
    ],
)
def test_dumps_of_another_database_are_refused_and_change_nothing(
    dumps: Path, tmp_path: Path, text: str, named: str
) -> None:
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    before = target.read_bytes()
    (tmp_path / "login.sql").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"no row of a table that this server uses{named};"):
        import_content(dump_parts([tmp_path / "login.sql"]), target)
    assert target.read_bytes() == before
    assert not target.with_name("content.sqlite.previous").exists()
