"""Where an import reads: files, archives and folders."""

import gzip
import zipfile
from pathlib import Path

import pytest

from emu.content.sources import DumpPart, dump_parts
from emu.errors import FileFormatError


def test_a_part_is_a_file_or_a_member_of_an_archive(tmp_path: Path) -> None:
    (tmp_path / "b.sql").write_bytes(b"b")
    (tmp_path / "c.txt").write_bytes(b"c")
    with gzip.open(tmp_path / "d.sql.gz", "wb") as packed:
        packed.write(b"d")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a2.sql", "two")
        archive.writestr("a1.sql", "one")
        archive.writestr("notes.md", "none")
    parts = dump_parts([tmp_path])
    assert [str(part).removeprefix(f"{tmp_path}/") for part in parts] == [
        "a.zip:a1.sql", "a.zip:in/a2.sql", "b.sql", "d.sql.gz",
    ]  # fmt: skip
    with parts[1].open() as file:
        assert file.read() == b"two"


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    for name in ("one.sql", "same.sql"):
        (tmp_path / name).write_bytes(b"x" * 3_000_000)
    (tmp_path / "other.sql").write_bytes(b"y")
    one, same, other = (DumpPart(tmp_path / f"{name}.sql").digest() for name in
                        ("one", "same", "other"))  # fmt: skip
    assert one == same != other


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"missing\.sql: cannot be read \(No such file"):
        DumpPart(tmp_path / "missing.sql").digest()
    with pytest.raises(FileFormatError, match="no usable zip archive"):
        dump_parts([tmp_path / "missing.zip"])
