"""Text of version ranges: read, written back byte for byte, refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from emu.errors import FileFormatError
from emu.files import opcodes_folder
from emu.opcodes import OpcodeRow, VersionRange
from emu.opcodes import text as opcode_text
from emu.opcodes.text import (
    file_name,
    format_range,
    parse_number,
    parse_range,
    range_of,
    read_file,
    read_folder,
    write_folder,
)
from tests.support.files.opcode_rows import ROWS

RANGE = VersionRange(540, 546)
GOOD = 'name,opcode,source,note\nOP_A,1,a page,\nOP_B,0x10,,"with, comma"\n'


def test_a_range_is_read() -> None:
    assert list(parse_range(GOOD, RANGE)) == [
        OpcodeRow(540, 546, "OP_A", 1, "a page", ""),
        OpcodeRow(540, 546, "OP_B", 16, "", "with, comma"),
    ]


def test_file_names_and_ranges() -> None:
    assert file_name(RANGE) == "0540-0546.csv"
    assert file_name(VersionRange(57000, 57002)) == "57000-57002.csv"
    assert range_of(Path("x/0540-0546.csv")) == RANGE
    for name in ("opcodes.csv", "540.csv", "0546-0540.csv", "99999999999-1.csv"):
        with pytest.raises(FileFormatError, match=name):
            range_of(Path(name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the columns name,opcode,source,note"),
        ("name,opcode\nOP_A,1\n", "line 1: expected the columns"),
        ("name,opcode,source,note\nOP_A,1\n", "line 2: expected 4 cells, found 2"),
        ("name,opcode,source,note\nOP_A,x,,\n", "line 2: 'x' is not an opcode number"),
        ("name,opcode,source,note\nOP_A,65536,,\n", "line 2: opcode 65536 is not between"),
        ("name,opcode,source,note\nA,1,,\n", "line 2: 'A' is not an opcode name"),
        ("name,opcode,source,note\n\nOP_A,1,,\nOP_A,2,,\n", "line 4: OP_A occurs twice"),
        ('name,opcode,source,note\nOP_A,1,"x,\n', "line 2: not CSV"),
        ("name,opcode,source,note\nOP_A,1," + "x" * 200_000 + ",\n", "line 2: not CSV"),
    ],
)
def test_wrong_text_is_reported_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        list(parse_range(text, RANGE))


def test_numbers() -> None:
    assert [parse_number(text) for text in ("7", " 010 ", "0xfF")] == [7, 10, 255]
    for text in ("", "-1", "1.0", "x", "9" * 30, "٣"):
        with pytest.raises(FileFormatError):
            parse_number(text)


@given(ROWS)
def test_written_text_reads_back(rows: list[OpcodeRow]) -> None:
    by_range: dict[VersionRange, list[OpcodeRow]] = {}
    for row in rows:
        by_range.setdefault(row.range, []).append(row)
    for version_range, group in by_range.items():
        text = format_range(group)
        again = list(parse_range(text, version_range))
        assert sorted(again) == sorted(group)
        assert format_range(again) == text


@pytest.mark.slow
def test_a_folder_is_written_as_it_was_read(tmp_path: Path) -> None:
    """The text under opcodes/ is in exactly the form that an export has."""
    rows = read_folder(opcodes_folder())
    written = write_folder(rows, tmp_path / "out")
    assert {path.name for path in written} == {p.name for p in opcodes_folder().glob("*.csv")}
    for path in written:
        assert path.read_bytes() == (opcodes_folder() / path.name).read_bytes()


def test_files_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileFormatError, match="has no opcode tables"):
        read_folder(tmp_path)
    path = tmp_path / "0001-0002.csv"
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_file(path)
    path.write_bytes(b"name,opcode,source,note\nOP_A,x,,\n")
    with pytest.raises(FileFormatError, match=r"0001-0002\.csv, line 2: 'x'"):
        read_folder(tmp_path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_file(path)
    monkeypatch.setattr(opcode_text, "MAX_FILE", 1)
    with pytest.raises(FileFormatError, match="larger than 1 bytes"):
        read_file(path)
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_folder([OpcodeRow(1, 2, "OP_A", 1)], path)
