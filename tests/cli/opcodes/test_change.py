"""`emu opcodes set`, `unset`, `undo` and `derive`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from emu.cli.main import root
from emu.opcodes import OpcodeStore, VersionRange

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]

RANGE = VersionRange(540, 546)


def emu(path: Path, *words: str) -> Result:
    return CliRunner().invoke(root, ["opcodes", "--db", str(path), *words])


def numbers(path: Path, version: int) -> dict[str, int]:
    with OpcodeStore(path) as store:
        return dict(store.tables().for_version(version).numbers)


def test_set_changes_the_range_that_wins(db: Path) -> None:
    result = emu(db, "set", "OP_KeymapLoadMsg", "0x190", "--version", "546", "--note", "tried")
    assert (result.exit_code, result.stdout) == (0, "540-546 OP_KeymapLoadMsg: 153 -> 400\n")
    assert numbers(db, 540)["OP_KeymapLoadMsg"] == 400
    again = emu(db, "set", "OP_KeymapLoadMsg", "400", "--version", "546")
    assert again.stdout == "540-546 OP_KeymapLoadMsg is 400 already\n"


def test_set_for_exactly_one_version_leaves_its_neighbors(db: Path) -> None:
    emu(db, "set", "OP_KeymapLoadMsg", "400", "--range", "546-546")
    assert numbers(db, 546)["OP_KeymapLoadMsg"] == 400
    assert numbers(db, 545)["OP_KeymapLoadMsg"] == 153
    assert numbers(db, 546)["OP_LsClientAlertlogReplyMsg"] == 216


def test_what_a_server_would_refuse_is_written_with_a_warning(db: Path) -> None:
    result = emu(db, "set", "OP_LoginReplyMsg", "400", "--version", "546")
    assert result.exit_code == 0
    assert (
        "warning: a server refuses these tables: 540-546 OP_LoginReplyMsg is 400" in result.stderr
    )
    assert "undo" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["OP_A", "70000", "--version", "546"],
        ["OP_A", "x", "--version", "546"],
        ["OP_A", "1"],
        ["OP_A", "1", "--version", "546", "--range", "540-546"],
    ],
)
def test_wrong_usage(db: Path, words: list[str]) -> None:
    assert emu(db, "set", *words).exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set", "KeymapLoad", "1", "--version", "546"], "'KeymapLoad' is not an opcode name"),
        (["set", "OP_A", "1", "--version", "400"], "no opcode range covers client version 400"),
        (["unset", "OP_A", "--version", "546"], "there is no row OP_A in the range 540-546"),
        (["undo"], "there is nothing to undo"),
        (["undo", "77"], "the history has no change 77"),
        (["derive", "540-546", "--from", "560-561"], "the range 540-546 exists already"),
        (["derive", "600-601", "--from", "600-650"], "there is no range 600-650"),
        (["derive", "9", "--from", "546", "--insert", "x"], "'x' is not an insertion"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(db: Path, words: list[str], message: str) -> None:
    with OpcodeStore(db) as store:
        before = store.rows()
    result = emu(db, *words)
    assert result.exit_code == 1
    assert message in str(result.exception)
    with OpcodeStore(db) as store:
        assert store.rows() == before


def test_unset_and_undo(db: Path) -> None:
    assert emu(db, "unset", "OP_KeymapLoadMsg", "--version", "546").stdout == (
        "540-546 OP_KeymapLoadMsg: 153 -> none\n"
    )
    result = emu(db, "undo", "--format", "json")
    assert json.loads(result.stdout)[0]["old"] == 153
    assert "undid change 2 (1 rows)" in result.stderr
    assert numbers(db, 546)["OP_KeymapLoadMsg"] == 153


def test_derive_makes_the_table_of_a_new_build(db: Path) -> None:
    old = numbers(db, 64753)
    words = ["derive", "64754", "--from", "64753", "--insert", "OP_NewThingMsg@179"]
    shown = json.loads(emu(db, *words, "--dry-run", "--format", "json").stdout)
    assert {row["name"]: row["opcode"] for row in shown}["OP_NewThingMsg"] == 179
    added = len(set(old.values())) + 1
    assert emu(db, *words).stdout == f"64754-64754: {added} rows added, 0 changed, 0 removed\n"
    new = numbers(db, 64754)
    assert new["OP_NewThingMsg"] == 179
    assert new["OP_KeymapLoadMsg"] == old["OP_KeymapLoadMsg"] == 178
    assert new["OP_KeymapNoneMsg"] == old["OP_KeymapNoneMsg"] + 1 == 180
    again = emu(db, *words, "--remove", "OP_KeymapSaveMsg", "--replace")
    assert again.exit_code == 0
    assert "OP_KeymapSaveMsg" not in numbers(db, 64754)


def test_derive_starts_from_what_is_in_effect(db: Path) -> None:
    """A version without a range of its own takes the rows that its clients are spoken to with."""
    emu(db, "set", "OP_KeymapLoadMsg", "400", "--range", "543-545")
    emu(db, "derive", "700000", "--from", "544")
    assert numbers(db, 700000) == numbers(db, 544)


@pytest.mark.slow
def test_redo_and_reset(db: Path) -> None:
    emu(db, "set", "OP_KeymapLoadMsg", "400", "--version", "546")
    emu(db, "undo")
    assert "400" in emu(db, "redo", "--format", "csv").stdout
    emu(db, "undo")
    assert "reverted undo" in emu(db, "redo").stderr
    shown = json.loads(emu(db, "reset", "--dry-run", "--json").stdout)
    assert [(one["change"], one["old"], one["new"]) for one in shown] == [("change", 400, 153)]
    result = emu(db, "reset", "OP_KeymapLoadMsg", "--range", "540-546")
    assert "1 rows reset, 0 as shipped" in result.stderr
    assert emu(db, "redo").exit_code == 1
    assert json.loads(emu(db, "reset", "--dry-run", "--json").stdout) == []
    refused = emu(db, "undo", "1")
    assert refused.exit_code == 1
    assert "shipped tables and cannot be undone" in str(refused.exception)
