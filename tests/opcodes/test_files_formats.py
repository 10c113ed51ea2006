"""Files of opcodes in every format: found out, read, refused with their place."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.files import opcodes_folder
from emu.opcodes import OpcodeRow, VersionRange
from emu.opcodes import files as opcode_formats
from emu.opcodes.changes import plan_rows
from emu.opcodes.checks import check
from emu.opcodes.files import OpcodeFormat, guess_format, read_rows
from tests.support.files.opcode_rows import DUMPED, HEIDISQL, MARIADB, ONE_LINE
from tests.support.files.recordings import DUMPS, needs_dumps

RANGE = VersionRange(540, 546)


def read(text: str | bytes, form: str | None = None) -> list[OpcodeRow]:
    data = text.encode() if isinstance(text, str) else text
    return [
        row
        for _, row in read_rows(
            io.BytesIO(data), form=OpcodeFormat(form) if form else None, version_range=RANGE
        )
    ]


@pytest.mark.parametrize("dump", [MARIADB, ONE_LINE])
def test_dumps_of_every_flavor(dump: str) -> None:
    assert read(dump) == DUMPED
    assert read(gzip.compress(dump.encode())) == DUMPED


def test_a_column_list_wins_over_create_table() -> None:
    assert read(HEIDISQL) == DUMPED


def test_places_are_lines_of_the_dump() -> None:
    places = [place for place, _ in read_rows(io.BytesIO(MARIADB.encode()))]
    assert places == ["line 16", "line 17", "line 18"]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("first_version,last_version,name,opcode,source,note\n", "csv"),
        ("name,opcode,source,note\r\n", "csv"),
        ("\ufefffirst_version,last_version,name,opcode\r\n", "csv"),
        ("first_version;last_version;name;opcode\n", "csv"),
        ("name,opcode\n", "list"),
        ("OP_A,1\n", "list"),
        ("\n\n  OP_A = 0x10\n", "list"),
        ('[\n{"name": 1}]', "json"),
        ("{}", "json"),
        ("-- MySQL dump\n", "sql"),
        ("INSERT INTO opcodes VALUES (1)", "sql"),
        ("", "sql"),
    ],
)
def test_the_format_is_found_out(text: str, form: str) -> None:
    assert guess_format(text.encode()) == form


def test_a_list_for_one_client_version() -> None:
    text = "name,opcode\nOP_A,1\n'OP_B'; 0xff\n# a remark\n\nOP_C\t300 # another\n`OP_D` = 4,\n"
    assert read(text) == [
        OpcodeRow(540, 546, "OP_A", 1),
        OpcodeRow(540, 546, "OP_B", 255),
        OpcodeRow(540, 546, "OP_C", 300),
        OpcodeRow(540, 546, "OP_D", 4),
    ]


def test_csv_of_one_range_takes_it_from_the_file_name(tmp_path: Path) -> None:
    path = tmp_path / "0001-0002.csv"
    path.write_text("name,opcode,source,note\nOP_A,1,s,n\n")
    assert list(read_rows(path)) == [("line 2", OpcodeRow(1, 2, "OP_A", 1, "s", "n"))]


def test_csv_with_ranges_and_json() -> None:
    rows = [OpcodeRow(1, 2, "OP_A", 3, "s", "n")]
    assert read("first_version,last_version,name,opcode,source,note\n1,2,OP_A,3,s,n\n\n") == rows
    cells = {"first_version": 1, "last_version": 2, "name": "OP_A", "opcode": 3}
    assert read(json.dumps([cells | {"source": "s", "note": "n"}])) == rows
    assert read(json.dumps([cells])) == [OpcodeRow(1, 2, "OP_A", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "\ufefffirst_version,last_version,name,opcode\r\n1,2,OP_A,3\r\n",
        "first_version;last_version;name;opcode\n1;2;OP_A;3\n",
        "first_version\tlast_version\tname\topcode\n\n1\t2\tOP_A\t0x3\n",
        '"Opcode","Name","First_version","Last_version"\n"3","OP_A","1","2"\n',
    ],
)
def test_csv_of_spreadsheets(text: str) -> None:
    assert read(text) == [OpcodeRow(1, 2, "OP_A", 3)]


def test_json_may_begin_with_the_mark_of_utf8() -> None:
    cells = {"first_version": 1, "last_version": 2, "name": "OP_A", "opcode": 3}
    assert read("\ufeff" + json.dumps([cells])) == [OpcodeRow(1, 2, "OP_A", 3)]


@pytest.mark.slow
def test_a_folder_is_read_as_a_whole() -> None:
    rows = list(read_rows(opcodes_folder()))
    assert (
        "540-546",
        OpcodeRow(540, 546, "OP_ClientCmdMsg", 50, "docs/protocol/opcodes.md#world-numbers", ""),
    ) in rows


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("", None, "has no rows of a table `opcodes`"),
        ("INSERT INTO zones VALUES (1);", None, "has no rows of a table `opcodes`"),
        (
            "INSERT INTO opcodes VALUES (1,2,3);",
            None,
            "line 1: the columns of the table opcodes are unknown",
        ),
        ("INSERT INTO opcodes (id) VALUES (1);", None, "no column version_range1 or"),
        (ONE_LINE.replace("844", "'x'"), None, "line 1: 'x' is not a whole number"),
        (ONE_LINE.replace("'OP_KeymapLoadMsg'", "NULL"), None, "'None' is not an opcode name"),
        (MARIADB[:-18], None, "ends inside a statement"),
        ("[", None, "not JSON"),
        ("[" * 100_000, None, "not JSON"),
        ("{}", None, "expected a list of objects"),
        ("[1]", None, "item 1: expected an object"),
        ('[{"first_version": true}]', None, "item 1: expected an object"),
        (
            '[{"first_version":true,"last_version":2,"name":"OP_A","opcode":1}]',
            None,
            "item 1: 'True' is not a whole number",
        ),
        (
            '[{"first_version":1,"last_version":2,"name":"OP_A","opcode":1,"note":5}]',
            None,
            "item 1: source and note must be text",
        ),
        ("OP_A,1\nnonsense\n", None, "line 2: expected a name and a number"),
        ("first_version,last_version\n", "csv", "line 1: expected the columns"),
        ("version_min,name,opcode\n1,OP_A,2\n", None, "line 1: expected the columns"),
        ("first_version,name,opcode\n1,OP_A,2\n", None, "line 1: expected the columns"),
        ("name,opcode,name\nOP_A,2,OP_B\n", None, "line 1: expected the columns"),
        (
            "first_version,last_version,name,opcode,source,note\n1,2\n",
            None,
            "line 2: expected 6 cells, found 2",
        ),
        (
            'first_version,last_version,name,opcode,source,note\n1,2,"',
            None,
            "line 2: not CSV",
        ),
        (b"\xff\x00OP_A,1", "list", "is not UTF-8"),
        ("OP_A,1".encode("utf-16"), None, "UTF-16"),
    ],
)
def test_files_that_cannot_be_used(text: str | bytes, form: str | None, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read(text, form)


def test_a_file_of_no_known_version_asks_for_one() -> None:
    with pytest.raises(FileFormatError, match="--version"):
        list(read_rows(io.BytesIO(b"OP_A,1\n")))


def test_a_huge_text_ends_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opcode_formats, "MAX_TEXT", 1000)
    with pytest.raises(FileFormatError, match="larger than 1000 bytes"):
        read("OP_A,1\n" * 1000)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none\.sql: cannot be read"):
        list(read_rows(tmp_path / "none.sql"))


@given(st.binary(max_size=200), st.sampled_from([None, "csv", "sql", "json", "list"]))
def test_any_bytes_give_rows_or_one_error(data: bytes, form: str | None) -> None:
    for head in (b"", b"name,opcode\n", b"first_version,last_version,name,opcode,source,note\n"):
        try:
            rows = read(head + data, form)
        except FileFormatError:
            continue
        assert len(rows) <= len(data)


@pytest.mark.slow
@needs_dumps
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("login", (21_861, 40, 589, 276, 55)),
        ("world", (22_183, 41, 592, 228, 70)),
        ("rewrite", (42_943, 80, 610, 1467, 79)),
    ],
)
def test_real_dumps_are_as_their_description_says(
    name: str, figures: tuple[int, int, int, int, int]
) -> None:
    """The figures of docs/protocol/opcodes.md#data-sets."""
    count, ranges, names, sentinels, shared = figures
    placed = list(read_rows(DUMPS / f"{name}-opcodes.sql.gz"))
    rows = [row for _, row in placed]
    assert (len(rows), len({row.range for row in rows})) == (count, ranges)
    assert len({row.name for row in rows}) == names
    assert sum(row.opcode in {999, 9999, 10000, 65535} for row in rows) == sentinels
    plan = plan_rows({}, placed)
    assert len(plan.rejected) == (44 if name == "rewrite" else 0)
    found = check([change.row for change in plan.changes], rejected=plan.rejected)
    codes = [one.code for one in found]
    assert codes.count("shared-number") + codes.count("dead-group") == shared
    assert "sentinel" in codes
    assert ("inverted-range" in codes) == (name == "rewrite")
    at_546 = [one.message for one in found if one.code == "overlap" and one.range == "546"]
    assert bool(at_546) == (name == "login")
