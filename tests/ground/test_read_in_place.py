"""Files read in place, also while they are damaged or shrink."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from emu.errors import FileFormatError
from emu.ground.read_in_place import FileInPlace


class PlainHeader(NamedTuple):
    size: int
    checksum: int = 0


def opened(path: Path) -> FileInPlace[PlainHeader]:
    return FileInPlace(path, 1, lambda data: PlainHeader(data[0]))


def test_the_bytes_of_a_place_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x05abcd")
    with opened(path) as file:
        assert file.at(2, 2) == b"bc"
        with pytest.raises(FileFormatError, match="ends at byte 5"):
            file.at(4, 2)


def test_a_size_that_is_not_the_header_s_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x09abcd")
    with pytest.raises(FileFormatError, match=r"x: byte 5: the file ends, not at 9"):
        opened(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="Is a directory"):
        opened(tmp_path)


def test_a_wrong_checksum_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x05abcd")
    with opened(path) as file, pytest.raises(FileFormatError, match="checksum is wrong"):
        file.check()


def test_no_handle_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x05abcd")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    file = opened(path)
    file.close()
    file.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
