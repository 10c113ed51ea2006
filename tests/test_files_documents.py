"""Files from elsewhere: whatever they are, reading them ends soon, with one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.files import (
    LARGEST,
    begins_with,
    listed,
    parse_document,
    quoted,
    read_document,
    read_whole,
)
from tests.support.patience import within

HERE = Path("here.toml")


def test_a_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes("\ufeff[world]\nname = 'É'\n".encode())
    assert read_document(path) == {"world": {"name": "É"}}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"\xff\xfe", "not a TOML file: 'utf-8' codec"),
        (b"a = [", "not a TOML file: .*at end of document"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "not a TOML file: it is nested too deeply"),
        (b"a = " + b"9" * 5000, "not a TOML file: Exceeds the limit"),
        (b".".join([b"a"] * 100) + b" = 1", "a key has more than 64 parts"),
        (b"[" + b" . ".join([b'"a b"'] * 100) + b"]", "a key has more than 64 parts"),
    ],
)
def test_an_invalid_document_is_reported_in_one_line(data: bytes, complaint: str) -> None:
    with pytest.raises(FileFormatError, match=complaint) as caught:
        parse_document(data, HERE)
    assert str(caught.value).startswith("here.toml: ")
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_long_words_and_texts_are_no_long_keys() -> None:
    words, text = b"x" * 300_000, b"'" + b"And so on. " * 100 + b"'"
    with within(5):
        assert len(parse_document(b"a = '" + words + b"'\nb = " + text, HERE)) == 2


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(OSError, match="File too large"):
        read_whole(Path("/dev/zero"), 100_000)
    with pytest.raises(FileFormatError, match=r"/dev/zero: cannot be read \(File too large\)"):
        read_document(Path("/dev/zero"))


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(1000))
    assert len(read_whole(path, 1000)) == 1000
    assert LARGEST > 1000


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none\.toml: cannot be read \(No such file"):
        read_document(tmp_path / "none.toml")


def test_the_files_of_a_folder_are_listed(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "c.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in listed(tmp_path, ".toml", "world.zones")] == ["a.toml", "b.toml"]


@pytest.mark.parametrize("name", ["none", "file", "x" * 300])
def test_an_unreadable_folder_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileFormatError, match=r"cannot be listed \(.*\); see world\.zones"):
        listed(tmp_path / name, ".toml", "world.zones")


def test_a_value_is_cut_to_a_line() -> None:
    assert quoted({"a": 1}) == "{'a': 1}"
    assert len(quoted("x" * 1000)) == 60


def test_a_file_begins_with_a_text_or_not(tmp_path: Path) -> None:
    path = tmp_path / "zone.toml"
    assert not begins_with(path, "# made by"), "there is no file"
    path.write_text("# made by emu\n")
    assert begins_with(path, "# made by")
    assert not begins_with(path, "# made by hand")
    assert not begins_with(tmp_path, "# made by"), "a folder"
