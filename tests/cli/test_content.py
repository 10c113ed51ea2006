"""`emu content`: what operators and builders type and what they find."""

import json
import sqlite3
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from emu.cli.main import root
from emu.content.file import ContentFile
from tests.support.content.dumps import meadow, write_dumps
from tests.support.running.command_line import CommandLine


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return write_dumps(tmp_path / "dumps", meadow())


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def filled(emu: CommandLine, dumps: Path) -> CommandLine:
    emu.good("content", "import", str(dumps))
    return emu


def test_the_file_is_made_beside_the_database(emu: CommandLine, dumps: Path) -> None:
    result = emu.good("content", "import", str(dumps))
    assert result.stdout == f"{emu.database.with_name('content.sqlite')}\n"
    assert "placements: nothing can stand there: 1 row\n" in result.stderr
    assert "1 table of the dumps not used" in result.stderr
    assert "100 %: zones.sql\nchecking\n" in result.stderr
    keys = emu.database.with_name("content.sqlite.left-out.tsv")
    assert f"the keys of these rows: {keys}\n" in result.stderr
    assert "placements\tnothing can stand there\t9 12\n" in keys.read_text(encoding="utf-8")
    again = emu.good("content", "import", str(dumps))
    assert "dumps not read again: unchanged" in again.stderr


@pytest.mark.slow
def test_things_that_scripts_alone_name_get_stand_ins(
    emu: CommandLine, dumps: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "scripts" / "SpawnScripts"
    folder.mkdir(parents=True)
    source = "local OldHat = 70001\nfunction hailed(NPC, Spawn) SummonItem(Spawn, OldHat) end"
    (folder / "giver.lua").write_text(source, encoding="utf-8")
    imported = ("content", "import", str(dumps), "--stand-ins")
    result = emu.good(*imported, "--scripts", str(folder.parent))
    assert "stand-ins for things without a description: 1\n" in result.stderr
    found = emu.good("content", "find", "hat", "--subject", "item", "--format", "json").stdout
    assert json.loads(found) == [{"subject": "item", "number": 70001, "name": "Old Hat"}]
    trial = emu.good(*imported, "--scripts", str(folder.parent), "--dry-run")
    assert "items" not in trial.stdout
    without = emu.good(*imported, "--dry-run")
    assert "items" in without.stdout


def test_an_import_before_a_configuration_exists_makes_the_folder(
    tmp_path: Path, dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("EMU_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path / "dumps")
    trial = CliRunner().invoke(root, ["content", "import", str(dumps), "--dry-run"])
    assert (trial.exit_code, (tmp_path / "state").exists()) == (0, False), trial.output
    result = CliRunner().invoke(root, ["content", "import", str(dumps)])
    made = tmp_path / "state" / "eq2emu" / "content.sqlite"
    assert (result.exit_code, result.stdout) == (0, f"{made}\n"), result.exception
    assert made.is_file()


def test_a_folder_that_cannot_be_made_is_named(emu: CommandLine, dumps: Path) -> None:
    target = dumps / "zones.sql" / "content.sqlite"
    complaint = emu.refused("content", "import", str(dumps), "--file", str(target))
    assert complaint.startswith(f"{target.parent}: cannot be made (")


def test_the_rows_are_counted(filled: CommandLine) -> None:
    result = filled.good("content", "info", "--format", "json")
    counts = {row["table"]: row["rows"] for row in json.loads(result.stdout)}
    assert (counts["zones"], counts["placements"], counts["npcs"]) == (1, 5, 2)
    assert "spawn_scripts: their location is gone: 1 row" in result.stderr


@pytest.mark.parametrize("name", ["9", "MEADOW", "exp01_meadow", "a meadow"])
def test_a_zone_is_shown_by_any_of_its_names(filled: CommandLine, name: str) -> None:
    result = filled.good("content", "zone", name, "--format", "json", "--seed", "2")
    rows = json.loads(result.stdout)
    assert sum(row["standing"] for row in rows) == 3
    assert {"id": 90003, "name": "a sign", "kind": "sign", "standing": 1} in rows
    assert "A Meadow: 5 placements, 3 spawns standing" in result.stderr


def test_a_spawn_is_shown_with_its_places(filled: CommandLine) -> None:
    lines = filled.good("content", "show", "90001").stdout.splitlines()
    assert "name: a guard" in lines
    assert "skin_color: 4 5 6" in lines
    assert "equipment slot 2: model 4000" in lines
    assert "stands in zone 9 (meadow) at placement 11, weight 86" in lines


def test_names_are_searched(filled: CommandLine) -> None:
    rows = json.loads(filled.good("content", "find", "GUARD", "--format", "json").stdout)
    assert rows == [{"subject": "spawn", "number": 90001, "name": "a guard"}]
    rows = json.loads(
        filled.good("content", "find", "a", "--subject", "zone", "--format", "json").stdout
    )
    assert rows == [{"subject": "zone", "number": 9, "name": "meadow"}]
    assert json.loads(filled.good("content", "find", "%", "--format", "json").stdout) == []


def test_the_file_before_comes_back(filled: CommandLine, dumps: Path) -> None:
    write_dumps(dumps, {"zones": [{"id": 10, "name": "other"}]})
    filled.good("content", "import", str(dumps))
    filled.refused("content", "zone", "meadow")
    filled.good("content", "back")
    filled.good("content", "zone", "meadow")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("info",), "no usable content file"),
        (("zone", "nowhere"), "no usable content file"),
        (("back",), "no earlier content file"),
    ],
)
def test_without_a_file_the_line_says_so(
    emu: CommandLine, words: tuple[str, ...], complaint: str
) -> None:
    assert complaint in emu.refused("content", *words)


def test_what_is_not_there_names_the_search(filled: CommandLine) -> None:
    for words in (("zone", "nowhere"), ("show", "1")):
        assert "`emu content find WORD`" in filled.refused("content", *words)


def test_a_good_file_is_good_and_its_loose_rows_are_counted(filled: CommandLine) -> None:
    result = filled.good("content", "check")
    assert result.stdout.endswith("content.sqlite: good\n")
    assert "entries: their location has no placement: 1 row" in result.stderr


def test_rows_of_one_cause_are_listed(filled: CommandLine) -> None:
    rows = filled.rows("content", "check", "--details", "entries")
    assert [(row["table"], row["reason"]) for row in rows] == [
        ("entries", "their location has no placement")
    ]
    everything = filled.rows("content", "check", "--details", "")
    assert len(everything) > len(rows)
    assert rows[0] in everything


def test_values_out_of_range_need_a_new_import(filled: CommandLine) -> None:
    path = filled.database.with_name("content.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE npcs SET difficulty = 200 WHERE spawn_id = 90001")
    assert "1 value out of range; make the file anew" in filled.refused("content", "check")


def test_a_check_of_an_older_version_is_done_again(filled: CommandLine) -> None:
    path = filled.database.with_name("content.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE checked SET form = 1")
    with ContentFile(path) as file:
        assert not file.is_checked
    filled.good("content", "check")
    with ContentFile(path) as file:
        assert file.is_checked


def test_a_file_without_zones_is_a_problem(emu: CommandLine, tmp_path: Path) -> None:
    dumps = write_dumps(tmp_path / "others", {"skills": [{"id": 1, "name": "x"}]})
    emu.good("content", "import", str(dumps))
    assert "has no zones" in emu.refused("content", "check")


def test_a_zone_is_printed_as_a_zone_file(filled: CommandLine) -> None:
    text = filled.good("content", "export", "--zone", "meadow").stdout
    document = tomllib.loads(text)
    assert document["zone"]["id"] == 9
    assert len(document["spawn"]) == 3
    assert "there is no zone 'nowhere'" in filled.refused("content", "export", "--zone", "nowhere")


def test_scripts_that_are_not_in_the_folder_are_counted(
    emu: CommandLine, dumps: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "scripts" / "SpawnScripts" / "Meadow"
    folder.mkdir(parents=True)
    for name in ("Guard.lua", "captain.lua", "place.lua"):
        (folder / name).write_text("", encoding="utf-8")
    result = emu.good("content", "import", str(dumps), "--scripts", str(tmp_path / "scripts"))
    # `old.lua` and `Generic/SpawnGroups.lua`; the others differ only in their case.
    assert "spawn_scripts: there is no such script: 2 rows\n" in result.stderr
