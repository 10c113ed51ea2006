"""`emu opcodes import` and `export`."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from emu.cli.main import root
from emu.files import opcodes_folder
from emu.opcodes import OpcodeRow, OpcodeStore, VersionRange
from emu.opcodes.files import read_database
from tests.support.files.opcode_rows import FEW, HEIDISQL, MARIADB, ONE_LINE, shipped_database

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]

RANGE = VersionRange(540, 546)


def emu(path: Path, *words: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(root, ["opcodes", "--db", str(path), *words], input=given)


def rows(path: Path, version_range: VersionRange | None = None) -> list[OpcodeRow]:
    with OpcodeStore(path) as store:
        return store.rows(version_range)


@pytest.mark.parametrize("dump", [MARIADB, HEIDISQL, ONE_LINE])
def test_a_dump_is_imported_once(db: Path, tmp_path: Path, dump: str) -> None:
    file = tmp_path / "dump.sql.gz"
    file.write_bytes(gzip.compress(dump.encode()))
    result = emu(db, "import", str(file))
    assert (result.exit_code, result.stdout) == (
        0,
        "2 rows added, 0 changed, 0 removed, 1 as they were, 0 left out\n",
    )
    assert rows(db, VersionRange(546, 844)) == [
        OpcodeRow(546, 844, "OP_KeymapLoadMsg", 151, "dump.sql.gz", "")
    ]
    before = rows(db)
    again = emu(db, "import", str(file))
    assert again.stdout == "0 rows added, 0 changed, 0 removed, 3 as they were, 0 left out\n"
    assert rows(db) == before


def test_a_new_database_is_made_with_what_is_shipped(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    assert emu(path, "import", "-", given=MARIADB).exit_code == 0
    assert len(rows(path)) > 1000


def test_a_dry_run_shows_and_writes_nothing(db: Path) -> None:
    before = db.read_bytes()
    text = MARIADB.replace("546,'OP_KeymapLoadMsg',153", "546,'OP_KeymapLoadMsg',154")
    result = emu(db, "import", "-", "--dry-run", "--format", "json", given=text)
    assert [tuple(row.values()) for row in json.loads(result.stdout)] == [
        ("add", 546, 844, "OP_KeymapLoadMsg", None, 151),
        ("change", 540, 546, "OP_KeymapLoadMsg", 153, 154),
        ("add", 540, 546, "OP_UpdatePositionMsg", None, 9999),
    ]
    assert "2 rows would be added, 1 changed" in result.stderr
    assert db.read_bytes() == before


def test_a_dry_run_makes_no_database(tmp_path: Path) -> None:
    result = emu(tmp_path / "none.sqlite", "import", "-", "--dry-run", given=MARIADB)
    assert result.exit_code == 0
    assert list(tmp_path.iterdir()) == []


def test_rows_that_cannot_be_used_are_reported_and_left_out(db: Path) -> None:
    text = MARIADB.replace("546,844", "67634,67633")
    result = emu(db, "import", "-", given=text)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[1:] == [
        "left out: line 16: inverted version range 67634-67633 (row OP_KeymapLoadMsg = 151)"
    ]
    assert "1 left out" in result.stdout


def test_strict_imports_nothing_then(db: Path) -> None:
    before = rows(db)
    result = emu(db, "import", "-", "--strict", given=MARIADB.replace("546,844", "67634,67633"))
    assert result.exit_code == 1
    assert "nothing was imported: line 16: inverted version range" in str(result.exception)
    assert rows(db) == before


def test_a_list_is_for_the_version_that_is_named(db: Path) -> None:
    text = "name,opcode\nOP_KeymapLoadMsg,400\nOP_LsClientAlertlogReplyMsg,401\n"
    assert emu(db, "import", "-", given=text).exit_code == 1
    assert emu(db, "import", "-", "--version", "546", given=text).exit_code == 0
    with OpcodeStore(db) as store:
        table, before = (store.tables().for_version(version) for version in (546, 545))
    assert (table.number("OP_KeymapLoadMsg"), before.number("OP_KeymapLoadMsg")) == (400, 153)
    assert table.number("OP_ClientCmdMsg") == 50
    emu(db, "import", "-", "--range", "540-546", "--keep", "other-ranges", given=text)
    assert len(rows(db, RANGE)) == 2


def test_keep_nothing_leaves_the_file_alone(db: Path) -> None:
    result = emu(db, "import", "-", "--keep", "nothing", given=MARIADB)
    assert len(rows(db)) == 3
    assert "a server refuses these tables" in result.stderr


@pytest.mark.parametrize(
    "given",
    [
        MARIADB[:-30],
        "INSERT INTO opcodes VALUES ('" + "x" * 2_000_000,
        "hello world, this is no table of anything",
        "[[[[",
        gzip.compress(b"\n" * 30_000_000, mtime=0),
        gzip.compress(MARIADB.encode(), mtime=0)[:-20],
    ],
)
def test_a_file_that_cannot_be_used_leaves_the_database(db: Path, given: str | bytes) -> None:
    before = rows(db)
    result = emu(db, "import", "-", given=given)
    assert result.exit_code == 1
    assert "\n" not in str(result.exception)
    assert rows(db) == before


def test_csv_into_a_folder_is_the_text_under_opcodes(db: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = emu(db, "export", "--output", str(out))
    assert result.exit_code == 0
    shipped = [opcodes_folder() / name for name in FEW]
    assert [path.name for path in sorted(out.iterdir())] == [path.name for path in shipped]
    for path in shipped:
        assert (out / path.name).read_bytes() == path.read_bytes()
    again = emu(db, "import", str(out))
    assert again.stdout.startswith("0 rows added, 0 changed, 0 removed,")


@pytest.mark.parametrize("style", ["csv", "json", "sql"])
def test_what_is_exported_is_imported_as_no_change(db: Path, tmp_path: Path, style: str) -> None:
    file = tmp_path / f"export.{style}"
    assert emu(db, "export", "--as", style, "--output", str(file)).exit_code == 0
    assert emu(db, "export", "--as", style).stdout == file.read_text()
    other = tmp_path / "other.sqlite"
    result = emu(other, "import", str(file))
    assert result.stdout.startswith("0 rows added, 0 changed, 0 removed,")


@pytest.mark.slow
def test_a_database_is_exported_and_those_of_servers_are_imported(db: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "export.db", tmp_path / "other.sqlite"
    emu(db, "set", "OP_LoginReplyMsg", "999", "--range", "540-546", "--note", "tried")
    assert emu(db, "export", "--as", "sqlite", "--output", str(file)).exit_code == 0
    assert [row for _, row in read_database(file)] == rows(db)
    for source in (file, db):
        result = emu(other, "import", str(source))
        assert result.stdout.endswith("0 left out\n")
        assert rows(other) == rows(db)
    assert emu(db, "export", "--as", "sqlite").exit_code == 2
    piped = emu(db, "import", "-", given=file.read_bytes())
    assert "cannot be read from a stream" in str(piped.exception)


def test_export_of_a_version_and_of_a_range(db: Path) -> None:
    listed = emu(db, "export", "--as", "list", "--version", "546").stdout.splitlines()
    assert listed[0] == "name,opcode"
    assert "OP_LsClientAlertlogReplyMsg,216" in listed
    exact = json.loads(emu(db, "export", "--as", "json", "--range", "540-546").stdout)
    assert len(exact) == len(rows(db, RANGE))
    of_version = json.loads(emu(db, "export", "--as", "json", "--version", "546").stdout)
    assert of_version == exact
    assert emu(db, "export", "--as", "list").exit_code == 2
    missing = emu(db, "export", "--range", "1-2")
    assert "there is no range 1-2" in str(missing.exception)


def test_an_export_is_whole_or_not_there(db: Path, tmp_path: Path) -> None:
    result = emu(db, "export", "--as", "sql", "--output", str(tmp_path / "no" / "x.sql"))
    assert result.exit_code == 1
    assert "cannot be written" in str(result.exception)
    emu(db, "export", "--as", "sql", "--output", str(tmp_path / "x.sql"))
    assert sorted(path.name for path in tmp_path.iterdir() if "x.sql" in path.name) == ["x.sql"]


def commands_in(readme: Path) -> list[list[str]]:
    """Return the words of each command that a page shows as an indented line or in backticks."""
    text = " ".join(readme.read_text(encoding="utf-8").split())
    found = re.findall(r"(?<=[` ])emu [a-z]+ [a-z]+(?: [^ `]+)*? --output [A-Z]+", text)
    return [shlex.split(one) for one in found]


def test_the_command_in_the_readme_of_the_tables_writes_exactly_these_files(tmp_path: Path) -> None:
    (command,) = commands_in(opcodes_folder() / "README.md")
    folder = tmp_path / "tables"
    words = [str(folder) if word == "FOLDER" else word for word in command[1:]]
    done = CliRunner().invoke(root, [*words, "--db", str(shipped_database(tmp_path))])
    assert done.exit_code == 0, done.output
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    shipped = {name: (opcodes_folder() / name).read_bytes() for name in FEW}
    assert written == shipped
