"""What is exported reads back as it was."""

from __future__ import annotations

import io

from hypothesis import given

from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange
from emu.opcodes.files import ROWS_PER_INSERT, as_csv, as_json, as_list, as_sql, read_rows
from tests.support.files.opcode_rows import ROWS


def read(parts: list[str]) -> list[OpcodeRow]:
    return [row for _, row in read_rows(io.BytesIO("".join(parts).encode()))]


@given(ROWS)
def test_csv_reads_back(rows: list[OpcodeRow]) -> None:
    assert read(list(as_csv(rows))) == rows


@given(ROWS)
def test_json_reads_back(rows: list[OpcodeRow]) -> None:
    assert read(list(as_json(rows))) == rows


@given(ROWS.filter(bool))
def test_a_dump_reads_back_but_for_what_it_has_no_columns_for(rows: list[OpcodeRow]) -> None:
    assert read(list(as_sql(rows))) == [OpcodeRow(*row[:4]) for row in rows]


def test_a_dump_has_the_table_that_eq2emulator_reads() -> None:
    """Columns and key of docs/protocol/opcodes.md#table; ids from 1; no row's insert grows without
    end.
    """
    rows = [OpcodeRow(1, 2, f"OP_N{n}", n) for n in range(ROWS_PER_INSERT + 1)]
    text = "".join(as_sql(rows))
    for column in (
        "id",
        "version_range1",
        "version_range2",
        "name",
        "opcode",
        "table_data_version",
    ):
        assert f"  `{column}` " in text
    assert "UNIQUE KEY `newindex` (`version_range1`,`name`,`version_range2`)" in text
    assert text.count("INSERT INTO `opcodes`") == 2
    assert "(1,1,2,'OP_N0',0,1),\n" in text
    assert f"({ROWS_PER_INSERT},1,2,'OP_N{ROWS_PER_INSERT - 1}',{ROWS_PER_INSERT - 1},1);\n" in text
    assert text.endswith(";\n")


def test_an_empty_dump_is_a_whole_one() -> None:
    assert "INSERT" not in "".join(as_sql([]))


def test_a_list_is_one_versions_table() -> None:
    rows = [OpcodeRow(1, 2, "OP_B", 300), OpcodeRow(1, 2, "OP_A", 7), OpcodeRow(1, 2, "OP_C", 999)]
    text = "".join(as_list(OpcodeTables(rows).for_version(1)))
    assert text == "name,opcode\nOP_A,7\nOP_B,300\n"
    again = read_rows(io.BytesIO(text.encode()), version_range=VersionRange(1, 1))
    assert [row[2:4] for _, row in again] == [("OP_A", 7), ("OP_B", 300)]
