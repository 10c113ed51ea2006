"""What the verbs share: arguments, the operator's name, and rows in effect."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from emu.cli.opcodes.common import (
    NumberType,
    RangeType,
    chosen_range,
    effective_rows,
    file_rows,
    who,
)
from emu.errors import CommandError, StoreError
from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange
from emu.opcodes.store import OpcodeStore
from tests.support.files.opcode_rows import DUMPED, HEIDISQL

ROWS = [
    OpcodeRow(540, 546, "OP_A", 1),
    OpcodeRow(540, 546, "OP_B", 2),
    OpcodeRow(540, 546, "OP_C", 9999),
    OpcodeRow(546, 546, "OP_A", 3),
]


def test_ranges_and_numbers_of_the_command_line() -> None:
    assert RangeType().convert("540-546", None, None) == (540, 546)
    assert RangeType().convert("546", None, None) == (546, 546)
    assert NumberType().convert("0xd8", None, None) == 216
    for kind, text in ((RangeType(), "x-1"), (RangeType(), "2-1"), (NumberType(), "-1")):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)


def test_one_of_version_and_range_chooses() -> None:
    tables = OpcodeTables(ROWS)
    assert chosen_range(tables, 545, None) == (540, 546)
    assert chosen_range(tables, 546, None) == (546, 546)
    assert chosen_range(tables, None, VersionRange(1, 2)) == (1, 2)
    for version, version_range in ((None, None), (1, VersionRange(1, 2))):
        with pytest.raises(click.UsageError):
            chosen_range(tables, version, version_range)


def test_rows_in_effect_come_from_every_range_that_counts() -> None:
    assert effective_rows(OpcodeTables(ROWS), 546) == [ROWS[1], ROWS[3]]
    assert effective_rows(OpcodeTables(ROWS), 545) == ROWS[:2]


@pytest.mark.slow
def test_files_of_any_kind_give_rows(tmp_path: Path) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text(HEIDISQL)
    assert file_rows(dump) == DUMPED
    OpcodeStore.ensure(tmp_path / "emu.sqlite").close()
    assert len(file_rows(tmp_path / "emu.sqlite")) > 1000
    (tmp_path / "empty.sqlite").write_bytes(b"SQLite format 3\0")
    with pytest.raises((CommandError, StoreError)):
        file_rows(tmp_path / "empty.sqlite")


def test_the_operator_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "alice")
    assert who() == "alice"
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.setenv("LOGNAME", "bob")
    assert who() == "bob"
