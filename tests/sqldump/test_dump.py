"""A dump that is read several times."""

import gzip
from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.sqldump import Dump

TEXT = """CREATE TABLE `A` (`id` int, `name` text);
INSERT INTO `A` VALUES (1,'x'),(2,'y');
CREATE TABLE `empty` (`id` int);
INSERT INTO `other`.`B` (id) VALUES (3);
"""


def test_each_reading_starts_at_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.sql.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    dump = Dump(path)
    for _ in range(2):
        assert [row.values for row in dump.read_rows(("a",))] == [(1, "x"), (2, "y")]
    assert [row.named() for row in dump.read_rows(("b",))] == [{"id": 3}]


def test_it_knows_all_tables_even_those_that_were_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text(TEXT, encoding="utf-8")
    dump = Dump(path)
    assert list(dump.read_rows(("none",))) == []
    assert dump.tables == {"a", "b", "empty"}


def test_columns_without_names_are_refused_with_file_line_and_cure(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text("\nINSERT INTO A VALUES (1,'x');\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"a\.sql: line 2: .* A have no names; .*complete"):
        list(Dump(path).read_rows(("a",)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none\.sql: cannot be read"):
        list(Dump(tmp_path / "none.sql").read_rows(("a",)))
    assert str(Dump(Path("x.sql")).error("is bad")) == "x.sql: is bad"
