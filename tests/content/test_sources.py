"""Where an import reads: files, archives and folders."""

import gzip
import io
import tarfile
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
    with pytest.raises(FileFormatError, match=r"missing\.zip: cannot be read \(No such file"):
        dump_parts([tmp_path / "missing.zip"])
    (tmp_path / "text.zip").write_text("no archive", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"text\.zip: is no usable zip archive"):
        dump_parts([tmp_path / "text.zip"])


def tar_of(path: Path, **files: str) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.replace("__", "/").replace("_sql", ".sql"))
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_a_folder_may_hold_a_tar_archive(tmp_path: Path) -> None:
    # EQ2Emulator's Docker stack downloads eq2emu_world_db.tar.gz into a folder.
    tar_of(tmp_path / "eq2emu_world_db.tar.gz", in__b_sql="two", README="none", a_sql="one")
    parts = dump_parts([tmp_path])
    assert parts == dump_parts([tmp_path / "eq2emu_world_db.tar.gz"])
    assert [part.member for part in parts] == ["a.sql", "in/b.sql"]
    assert [part.size() for part in parts] == [3, 3]
    texts = []
    for part in parts:
        with part.open() as file:
            texts.append(file.read())
    assert texts == [b"one", b"two"]


def test_an_archive_without_dumps_is_refused(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "notes.tar.gz", README="none")
    with pytest.raises(FileFormatError, match=r"notes\.tar\.gz: there is no \.sql or \.sql\.gz"):
        dump_parts([path])


def test_a_damaged_tar_archive_is_one_line(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "a.tar.gz", a_sql="".join(map(str, range(50_000))))
    (part,) = dump_parts([path])
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises(FileFormatError, match=r"a\.tar\.gz:a\.sql: is no usable tar archive"):
        part.digest()
    tar_of(path, b_sql="other")
    with pytest.raises(FileFormatError, match="is gone from its archive"):
        part.size()
    path.write_bytes(b"no archive")
    with pytest.raises(FileFormatError, match=r"a\.tar\.gz: is no usable tar archive"):
        dump_parts([path])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no devices as files")
def test_a_device_is_refused_instead_of_read_for_ever() -> None:
    with pytest.raises(FileFormatError, match="/dev/zero: is not a regular file"):
        dump_parts([Path("/dev/zero")])
