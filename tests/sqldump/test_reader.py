"""Dumps of every flavor give their rows; cut, hostile and foreign files give one clear error."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.sqldump import InsertRow, read_inserts, tokens
from tests.support.files.recordings import DUMPS, needs_dumps

# Without the time of day: it would stand in the names of tests, and every process had others.
zipped = functools.partial(gzip.compress, mtime=0)


def rows(text: str | bytes, *tables: str) -> list[InsertRow]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_inserts(io.BytesIO(data), tables or None))


def values(text: str) -> tuple[tokens.Value, ...]:
    (row,) = rows(f"INSERT INTO t VALUES ({text});")
    return row.values


MYSQLDUMP = """\
-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
/*!40101 SET NAMES utf8mb4 */;
/*M!999999\\- enable the sandbox mode */
DROP TABLE IF EXISTS `pets`;
CREATE TABLE `pets` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT COMMENT 'a; number, (really)',
  `name` varchar(255) NOT NULL DEFAULT 'it''s',
  `kind` enum('cat','dog') DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `both` (`name`,`kind`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=latin1;
LOCK TABLES `pets` WRITE;
/*!40000 ALTER TABLE `pets` DISABLE KEYS */;
INSERT INTO `pets` VALUES (1,'Tom','cat'),(2,'O\\'Rex','dog');
/*!40000 ALTER TABLE `pets` ENABLE KEYS */;
UNLOCK TABLES;
DELIMITER ;;
/*!50003 CREATE*/ /*!50003 TRIGGER x BEFORE INSERT ON pets FOR EACH ROW BEGIN
INSERT INTO `pets` VALUES (9,'no','cat'); END */;;
DELIMITER ;
INSERT INTO `other` VALUES (now(), 'a;b');
-- Dump completed
"""


def test_mysqldump_rows_take_their_columns_from_create_table() -> None:
    found = rows(MYSQLDUMP, "PETS")
    assert found == [
        InsertRow("pets", ("id", "name", "kind"), (1, "Tom", "cat"), 15),
        InsertRow("pets", ("id", "name", "kind"), (2, "O'Rex", "dog"), 15),
    ]


def test_a_table_that_is_not_wanted_may_hold_what_we_cannot_read() -> None:
    assert not rows("INSERT INTO a SELECT * FROM b; INSERT INTO c SET d = 1;", "pets")
    with pytest.raises(FileFormatError, match="line 22: expected a value"):
        rows(MYSQLDUMP)


def test_heidisql_and_mariadb_spread_rows_over_lines_with_a_column_list() -> None:
    text = """\
# HeidiSQL Version: 11.2
CREATE TABLE IF NOT EXISTS `opcodes` (
  `id` int(10), `name` varchar(255) COLLATE latin1_general_ci NOT NULL DEFAULT ''
);
-- Dumping data for table x.opcodes: ~2 rows (approximately)
INSERT IGNORE INTO `x`.`opcodes` (`name`, `id`) VALUES
\t('OP_A', 1), -- the first
\t('OP_B', 2)
\tON DUPLICATE KEY UPDATE `id` = VALUES(`id`);
REPLACE INTO opcodes VALUE (3, 'OP_C');
"""
    assert [(row.columns, row.values, row.line) for row in rows(text, "opcodes")] == [
        (("name", "id"), ("OP_A", 1), 7),
        (("name", "id"), ("OP_B", 2), 8),
        (("id", "name"), (3, "OP_C"), 10),
    ]


def test_rows_without_any_known_columns_say_so() -> None:
    (row,) = rows('REPLACE DELAYED INTO "t" VALUES (1);')
    assert row == InsertRow("t", None, (1,), 1)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"'it''s'", "it's"),
        (r"'a\0b\b\n\r\t\Z\\\'\"'", "a\0b\b\n\r\t\x1a\\'\""),
        (r"'100\%\_\x'", r"100\%\_x"),
        ('\'say ""hi""\\n\'', 'say ""hi""\n'),
        ('"double ""quoted"" it\'s"', 'double "quoted" it\'s'),
        ("''", ""),
        ("'\n'", "\n"),
        ("'é'", "é"),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("340282366920938463463374607431768211456", 2**128),
        ("1.5", 1.5),
        (".5e3", 500.0),
        ("-1e-2", -0.01),
        ("NULL", None),
        ("null", None),
        ("DEFAULT", None),
        ("TRUE", 1),
        ("false", 0),
        ("0xCAFE", b"\xca\xfe"),
        ("0xABC", b"\x0a\xbc"),
        ("x'00ff'", b"\0\xff"),
        ("b'101'", 5),
        ("0b11", 3),
        ("_binary 'a\\0b'", b"a\0b"),
        ("_binary 0x00", b"\0"),
        ("_utf8mb4'é'", "é"),
        ("N'text'", "text"),
        ("/* a comment */ 1 -- and\n", 1),
    ],
)
def test_every_form_of_a_value(written: str, meant: tokens.Value) -> None:
    assert values(written) == (meant,)
    assert values(f"1, {written} ,\n 'x'") == (1, meant, "x")


def test_text_that_is_not_utf8_is_read_as_latin1() -> None:
    (row,) = rows(b"INSERT INTO t VALUES ('caf\xe9', _latin1'\xc3\xa9');")
    assert row.values == ("café", "Ã©")


def test_gzip_of_several_members_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql.gz"
    path.write_bytes(
        gzip.compress(b"INSERT INTO t VALUES (1);") + gzip.compress(b"INSERT INTO t VALUES (2);")
    )
    assert [row.values for row in read_inserts(path)] == [(1,), (2,)]


def test_a_path_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nowhere\.sql: cannot be read"):
        list(read_inserts(tmp_path / "nowhere.sql"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO t VALUES (1),(2", "line 1: the file ends inside a statement"),
        ("INSERT INTO t VALUES (1)", "ends inside a statement"),
        ("INSERT INTO t VALUES ('abc", "ends inside a string"),
        ("INSERT INTO t VALUES ('abc\\", "ends inside a string"),
        ("DROP TABLE x", "ends inside a statement"),
        ("\n\n/* for ever", "line 3: the file ends inside a comment"),
        ("INSERT INTO t VALUES (1 2);", "expected ',' or '\\)'"),
        ("INSERT INTO t VALUES 1;", "expected '\\('"),
        ("INSERT INTO t VALUES (f());", "expected a value"),
        ("INSERT INTO t VALUES (x'zz');", "holds other digits"),
        ("INSERT INTO t (a,b) VALUES (1);", "has 1 values for 2 columns"),
        ("INSERT INTO t SELECT 1;", "expected VALUES"),
        ("CREATE TABLE t (a int; );", "ends before its columns"),
        ("CREATE TABLE IF THEN t (a int);", "expected IF NOT EXISTS"),
        ("\x7fELF...", "not a SQL dump"),
        ("{}", "not a SQL dump"),
        (f"INSERT INTO t VALUES ({'9' * 500});", "more than 400 digits"),
    ],
)
def test_what_is_not_a_whole_dump_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        rows(text)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(b"INSERT INTO t VALUES (1);" * 100)[:-9], "gzip file that was cut short"),
        (zipped(b"INSERT INTO t VALUES (1);")[:-8] + bytes(8), "damaged gzip data"),
        (zipped(b"INSERT INTO t VALUES (1);") + b"garbage", "damaged gzip data"),
        (zipped(zipped(b"INSERT INTO t VALUES (1);")), "not a SQL dump"),
        (zipped(b"-" * 5_000_000), "not a SQL dump"),
        ("INSERT INTO t VALUES (1);".encode("utf-16"), "UTF-16"),
        (b"\xfd7zXZ\0", "not a SQL dump"),
        (b"/* /* */ */ INSERT INTO t VALUES (1);", "not a SQL dump"),
        (b"INSERT INTO t VALUES (--1);", "expected a value"),
        (b"INSERT INTO t VALUES (1+1);", "expected ',' or '\\)'"),
        (b"INSERT INTO t VALUES (NOW());", "expected a value"),
        (b"INSERT INTO t SET a=1;", "expected VALUES"),
    ],
)
def test_a_malformed_file_is_refused_with_one_line(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as error:
        list(read_inserts(io.BytesIO(data), {"t"}))
    assert "\n" not in str(error.value)


def test_every_cut_of_a_dump_gives_its_first_rows_or_an_error() -> None:
    whole = rows(MYSQLDUMP, "pets")
    data = MYSQLDUMP.encode()
    for size in range(len(data)):
        found: list[InsertRow] = []
        try:
            found += read_inserts(io.BytesIO(data[:size]), {"pets"})
        except FileFormatError:
            continue
        assert found in ([], whole)


class Endless(io.RawIOBase):
    """A file that repeats one piece for ever, made as it is read."""

    def __init__(self, head: bytes, piece: bytes) -> None:
        self.parts: Iterator[bytes] = itertools.chain([head], itertools.repeat(piece))
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        part = next(self.parts)
        self.given += len(part)
        return part


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "piece", "message"),
    [
        (b"INSERT INTO t VALUES ('", b"a" * 60_000, "a value is longer than"),
        (b"INSERT INTO t VALUES (", b"9" * 60_000, "a value is longer than|400 digits"),
        (b"INSERT INTO t VALUES (", b"1," * 30_000, "more than 4096 values"),
        (b"INSERT INTO `", b"a" * 60_000, "expected a name"),
        (b"INSERT INTO t (", b"a," * 30_000, "more than 4096 columns"),
        (b"CREATE TABLE t (", b"a int," * 10_000, "more than 4096 columns"),
        (b"DROP ", b"x" * 60_000, "a line is longer than"),
        (b"-- ", b"x" * 60_000, "a line is longer than"),
        (b"DROP ", b"(" * 60_000, "a line is longer than"),
        (b"DROP '", b"\\'" * 30_000, "a line is longer than"),
        (b"INSERT INTO t VALUES ('", b"''" * 30_000, "a value is longer than"),
        (b"/* ", b"*" * 60_000, "a line is longer than"),
    ],
)
def test_endless_files_end_at_a_limit(head: bytes, piece: bytes, message: str) -> None:
    endless = Endless(head, piece)
    with pytest.raises(FileFormatError, match=message):
        list(read_inserts(endless, {"t"}))  # type: ignore[arg-type]
    assert endless.given <= tokens.MAX_STATEMENT


def test_a_statement_has_a_limit_over_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_STATEMENT", 1000)
    small = "INSERT INTO t VALUES (1)" + ",\n(2)" * 10 + ";"
    assert len(rows(small)) == 11
    with pytest.raises(FileFormatError, match="a statement is longer than 1000 bytes"):
        rows(small.replace(";", ",\n(3)" * 500))


def test_a_long_line_of_rows_is_read_in_little_memory() -> None:
    """Rows come out while the line still goes on: nothing waits for its end."""
    endless = Endless(b"INSERT INTO t VALUES (0)", b",(1)" * 1000)
    found = read_inserts(endless, {"t"})  # type: ignore[arg-type]
    assert len(list(itertools.islice(found, 5000))) == 5000
    assert endless.given < 500_000


@given(st.binary(max_size=300))
def test_any_bytes_give_rows_or_one_error(data: bytes) -> None:
    for prefix in (b"", b"INSERT INTO t VALUES (", b"CREATE TABLE t (", b"\x1f\x8b"):
        try:
            found = list(read_inserts(io.BytesIO(prefix + data)))
        except FileFormatError:
            continue
        assert len(found) <= len(data)


SQL_PIECES = st.sampled_from(
    ["INSERT", " INTO ", "t", " VALUES ", "(", ")", ",", ";", "'", "''", "\\", "`", '"', "--", " ",
     "\n", "/*", "*/", "#", "1", "NULL", "x'", "0x", "_binary", "CREATE TABLE ", "DELIMITER //"]
)  # fmt: skip


@given(st.lists(SQL_PIECES, max_size=40).map("".join))
def test_any_pieces_of_sql_give_rows_or_one_error(text: str) -> None:
    with contextlib.suppress(FileFormatError):
        rows(text)


def quoted(text: str) -> str:
    escapes = {"\0": "\\0", "'": "''", '"': '\\"', "\n": "\\n", "\x1a": "\\Z", "\\": "\\\\"}
    return "'" + "".join(escapes.get(letter, letter) for letter in text) + "'"


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_any_text_comes_back_as_it_was_quoted(texts: list[str]) -> None:
    (row,) = rows(f"INSERT INTO t VALUES ({','.join(map(quoted, texts))});")
    assert list(row.values) == texts


@given(st.integers(1, 60), st.lists(st.text("ab'\\\n;,()", max_size=30), min_size=1, max_size=8))
def test_seams_of_reading_never_show(size: int, texts: list[str]) -> None:
    class Slow(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            return super().read(size)

    text = "CREATE TABLE t (a text);\n" + "".join(
        f"INSERT INTO t VALUES ({quoted(one)}),(NULL);" for one in texts
    )
    found = [row.values[0] for row in read_inserts(Slow(text.encode()))]
    assert found[::2] == texts
    assert rows(text) == list(read_inserts(Slow(text.encode())))


@pytest.mark.slow
@needs_dumps
@pytest.mark.parametrize(
    ("name", "table", "count"),
    [
        ("login-opcodes", "opcodes", 21_861),
        ("world-opcodes", "opcodes", 22_183),
        ("rewrite-opcodes", "opcodes", 42_943),
    ],
)
def test_real_dumps_give_all_their_rows(name: str, table: str, count: int) -> None:
    assert sum(1 for _ in read_inserts(DUMPS / f"{name}.sql.gz", {table})) == count


ITEMS = st.one_of(
    st.integers(-(10**17), 10**17).map(str),
    st.decimals(-10_000, 10_000, places=3).map(str),
    st.sampled_from(["NULL", "''", "'a'", "'it''s'", r"'it\'s'", "'a,(b)'", "1e22", "-0.0"]),
)


TABLES = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.lists(ITEMS, min_size=size, max_size=size), min_size=1, max_size=6)
)


@given(TABLES, st.integers(1, 40))
def test_rows_are_the_same_by_one_match_and_by_tokens(table: list[list[str]], size: int) -> None:
    """A comment in a row keeps it from being read by one match; so does the end of a chunk."""
    columns = ", ".join(f"c{number}" for number in range(len(table[0])))
    head = f"INSERT INTO t ({columns}) VALUES "
    plain = head + ",\n".join(f"({','.join(row)})" for row in table) + ";"
    odd = head + ",\n".join(f"(/**/{','.join(row)})" for row in table) + ";"
    expected = rows(odd)
    assert rows(plain) == expected
    assert list(read_inserts(Pieces(plain.encode(), size))) == expected


class Pieces(io.BytesIO):
    """Gives at most some bytes at once."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, _size: int | None = None, /) -> bytes:
        return super().read(self._size)
