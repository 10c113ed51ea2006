"""`emu opcodes`: what is there, shown, compared and checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from emu.cli.main import root
from emu.cli.opcodes.commands import opcodes
from emu.opcodes import OpcodeStore, VersionRange
from emu.opcodes.checks import Severity
from emu.opcodes.files import read_rows
from tests.support.files.opcode_rows import FEW, MARIADB
from tests.support.files.recordings import DUMPS, needs_dumps

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]


def emu(path: Path, *words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(root, ["opcodes", "--db", str(path), *words])
    if code != 1 or result.exception is None or isinstance(result.exception, SystemExit):
        assert result.exit_code == code, result.output
    return result


def rows_of(result: Result) -> list[dict[str, object]]:
    found = json.loads(result.stdout)
    assert isinstance(found, list)
    return found


def test_every_verb_has_an_example() -> None:
    assert isinstance(opcodes, click.Group)
    assert {
        "versions", "list", "show", "set", "unset", "diff", "check", "history", "undo", "import",
        "export", "derive", "edit", "redo", "reset",
    } == set(opcodes.commands)  # fmt: skip
    for name in opcodes.commands:
        result = CliRunner().invoke(root, ["opcodes", name, "--help"])
        assert f"Example: emu opcodes {name}" in " ".join(result.output.split()), name


def test_versions_count_rows_and_name_overlaps(db: Path) -> None:
    with OpcodeStore(db) as store:
        store.set(VersionRange(546, 547), "OP_KeymapLoadMsg", 9999)
    found = {row["first_version"]: row for row in rows_of(emu(db, "versions", "--format", "json"))}
    assert found[0]["last_version"] == 369
    assert found[0]["overlaps"] == ""
    assert found[546]["overlaps"] == "540-546 547-559"
    assert (found[546]["rows"], found[546]["placeholders"]) == (1, 1)
    assert int(str(found[546]["opcodes"])) > 50


def test_list_of_a_version_a_range_and_all(db: Path) -> None:
    with OpcodeStore(db) as store:
        store.set(VersionRange(546, 546), "OP_KeymapLoadMsg", 400)
    listed = rows_of(emu(db, "list", "--version", "546", "--filter", "KEYMAP", "--format", "json"))
    assert [(row["first_version"], row["opcode"], row["name"]) for row in listed] == [
        (540, 154, "OP_KeymapNoneMsg"),
        (540, 155, "OP_KeymapDataMsg"),
        (540, 156, "OP_KeymapSaveMsg"),
        (546, 400, "OP_KeymapLoadMsg"),
    ]
    exact = rows_of(emu(db, "list", "--range", "546-546", "--format", "json"))
    assert len(exact) == 1
    everything = emu(db, "list", "--format", "csv").stdout.splitlines()
    assert everything[0] == "first_version,last_version,opcode,name,source,note"
    assert len(everything) > 1000
    assert "OP_KeymapNoneMsg" in emu(db, "list", "--version", "546").stdout


def test_a_narrow_terminal_shows_names_and_numbers(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emu.cli.tables._console", lambda: Console(width=50))
    first = next(filter(None, emu(db, "list", "--version", "546").stdout.splitlines()))
    assert first.split() == ["opcode", "name"]


def test_show_by_name_and_by_number(db: Path) -> None:
    by_name = rows_of(emu(db, "show", "keymapload", "--format", "json"))
    assert {row["name"] for row in by_name} == {"OP_KeymapLoadMsg"}
    assert len(by_name) == len(FEW)
    by_number = rows_of(emu(db, "show", "0xd8", "--version", "546", "--format", "json"))
    assert [row["name"] for row in by_number] == ["OP_LsClientAlertlogReplyMsg"]
    for words in (["show", "OP_Nothing"], ["show", "OP_Nothing", "--version", "546"]):
        result = emu(db, *words, code=1)
        assert "there is no opcode OP_Nothing" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list", "--version", "400"], "no opcode range covers client version 400; the nearest"),
        (["list", "--range", "1-2"], "there is no range 1-2"),
        (["diff", "546", "elephant"], "elephant: no such file; name a file, a version like 546"),
    ],
)
def test_what_is_not_there_is_one_clear_line(db: Path, words: list[str], message: str) -> None:
    result = emu(db, *words, code=1)
    assert message in str(result.exception)


@pytest.mark.parametrize(
    "words",
    [["list", "--range", "x"], ["list", "--range", "9-8"], ["show"], ["list", "--format", "xml"],
     ["diff", "1-2-3", "4"]],
)  # fmt: skip
def test_wrong_usage_is_exit_status_2(db: Path, words: list[str]) -> None:
    emu(db, *words, code=2)


def test_diff_of_two_versions(db: Path) -> None:
    found = rows_of(emu(db, "diff", "546", "561", "--format", "json"))
    assert {"range": "", "name": "OP_EqStateCmd", "first": 430, "second": 437} in found
    emu(db, "diff", "546", "546", "--exit-code")
    emu(db, "diff", "546", "561", "--exit-code", code=1)
    same = rows_of(emu(db, "diff", "540-546", "546", "--format", "json"))
    assert same == []


def test_diff_of_two_databases(db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    shutil.copy(db, other)
    with OpcodeStore(other) as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 400)
        store.unset(VersionRange(540, 546), "OP_KeymapNoneMsg")
        store.set(VersionRange(1, 2), "OP_New", 300)
    words = ["diff", str(db), str(other), "--format", "json"]
    result = emu(db, *words)
    assert [tuple(row.values()) for row in rows_of(result)] == [
        ("540-546", "OP_KeymapLoadMsg", 153, 400),
        ("540-546", "OP_KeymapNoneMsg", 154, None),
    ]
    assert result.stderr == f"only in {other}: 1-2\n"
    assert len(rows_of(emu(db, *words, "--both"))) == 1
    assert len(rows_of(emu(db, *words, "--version", "546"))) == 2
    assert rows_of(emu(db, *words, "--range", "560-561")) == []


def test_check_fails_on_errors(db: Path) -> None:
    assert rows_of(emu(db, "check", "--format", "json")) == []
    with OpcodeStore(db) as store:
        store.set(VersionRange(540, 546), "OP_LoginReplyMsg", 7)
        store.set(VersionRange(540, 546), "OP_UpdatePositionMsg", 9999)
    found = rows_of(emu(db, "check", "--format", "json", code=1))
    assert {row["code"] for row in found} == {"core-number", "clash", "sentinel"}
    grave = rows_of(emu(db, "check", "--level", "error", "--format", "json", code=1))
    assert {row["severity"] for row in grave} == {"error"}


def test_check_of_a_file_changes_no_database(db: Path, tmp_path: Path) -> None:
    dump = tmp_path / "opcodes.sql"
    dump.write_text(MARIADB.replace("546,844", "67634,67633"))
    before = db.read_bytes()
    found = rows_of(emu(db, "check", str(dump), "--format", "json", code=1))
    assert {"inverted-range", "uncovered", "sentinel"} == {row["code"] for row in found}
    assert db.read_bytes() == before
    assert rows_of(emu(db, "check", str(db), "--format", "json")) == []


def test_history_names_who_and_what(db: Path) -> None:
    emu(db, "set", "OP_KeymapLoadMsg", "400", "--version", "546")
    (entry,) = rows_of(emu(db, "history", "--limit", "1", "--format", "json"))
    assert (entry["action"], entry["range"], entry["name"]) == (
        "set",
        "540-546",
        "OP_KeymapLoadMsg",
    )
    assert (entry["old"], entry["new"]) == (153, 400)
    assert entry["who"]
    named = rows_of(emu(db, "history", "--name", "OP_KeymapLoadMsg", "--format", "json"))
    assert named[0] == entry
    change = str(entry["change"])
    assert rows_of(emu(db, "history", "--change", change, "--format", "json")) == [entry]


def test_reading_makes_no_database(tmp_path: Path) -> None:
    result = emu(tmp_path / "none.sqlite", "versions", code=1)
    assert "there is no such database" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_without_a_database_what_is_shipped_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "emu.toml"
    config.write_text('[database]\nurl = "sqlite:state.sqlite"\n')
    words = ["--config", str(config), "opcodes"]
    listed = CliRunner().invoke(root, [*words, "show", "216", "--version", "546"])
    assert "OP_LsClientAlertlogReplyMsg" in listed.output
    assert CliRunner().invoke(root, [*words, "history"]).exit_code == 0
    assert not (tmp_path / "state.sqlite").exists()
    changed = CliRunner().invoke(root, [*words, "set", "OP_New", "300", "--version", "546"])
    assert changed.exit_code == 0
    assert (tmp_path / "state.sqlite").exists()


@needs_dumps
def test_real_dumps_import_and_what_is_odd_in_them_is_named(tmp_path: Path) -> None:
    reported = {}
    for name in ("login", "world", "rewrite"):
        path = tmp_path / f"{name}.sqlite"
        dump = str(DUMPS / f"{name}-opcodes.sql.gz")
        reported[name] = emu(path, "import", dump).stderr
        codes = {row["code"] for row in rows_of(emu(path, "check", "--format", "json"))}
        assert "sentinel" in codes
    assert "inverted version range 67634-67633" in reported["rewrite"]
    found = rows_of(emu(tmp_path / "login.sqlite", "check", "--format", "json"))
    assert any(row["code"] == "overlap" and row["range"] == "546" for row in found)
    with OpcodeStore(tmp_path / "login.sqlite") as store:
        table = store.tables().for_version(546)
    assert table.number("OP_LsClientAlertlogReplyMsg") == 216
    assert table.get("OP_UpdatePositionMsg") is None


@needs_dumps
def test_login_and_world_data_differ_as_described(tmp_path: Path) -> None:
    login, world = (str(DUMPS / f"{name}-opcodes.sql.gz") for name in ("login", "world"))
    found = rows_of(emu(tmp_path / "none", "diff", login, world, "--format", "json"))
    changed = [tuple(row.values()) for row in found if None not in row.values()]
    assert changed == [
        ("540-546", "OP_ChangeZoneMsg", 66, 67),
        ("540-546", "OP_CreateBoatTransportsMsg", 224, 220),
        ("60085-60116", "OP_OpenCharCust", 564, 566),
        ("60085-60116", "OP_SubmitCharCust", 565, 567),
        ("60085-60116", "OP_TradeskillList", 714, 731),
    ]
    words = ("diff", login, world, "--range", "560-561", "--format", "json")
    at_561 = {
        row["name"]: (row["first"], row["second"])
        for row in rows_of(emu(tmp_path / "none", *words))
    }
    assert at_561["OP_KeymapLoadMsg"] == (151, 153)
    assert at_561["OP_ClientCmdMsg"] == (53, 50)
    assert len(at_561) > 300


def test_levels_are_those_of_the_lints() -> None:
    assert [str(one) for one in Severity] == ["error", "warning", "note"]
    assert len(list(read_rows(Path(__file__).parents[3] / "opcodes"))) > 1000


def test_check_finds_a_range_that_lost_a_needed_message(db: Path) -> None:
    reported = emu(db, "unset", "OP_PlayCharacterReplyMsg", "--range", "540-546").stderr
    assert (
        "warning: a server refuses these tables: 540-546 OP_PlayCharacterReplyMsg lost" in reported
    )
    found = rows_of(emu(db, "check", "--level", "error", "--json", code=1))
    assert [(one["code"], one["range"]) for one in found] == [("lost-message", "540-546")]
    emu(db, "reset", "OP_PlayCharacterReplyMsg")
    assert rows_of(emu(db, "check", "--level", "error", "--json")) == []
