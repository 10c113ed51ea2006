"""Ground files read in place, also while they are damaged."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from emu.errors import FileFormatError
from emu.ground import ground_file
from emu.ground.ground_file import MOST_KEPT, GroundFile
from emu.ground.ground_layout import FAN
from tests.support.ground.map_bytes import Part, hills, write_ground

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_ground(tmp_path, [Part(hills(60))])


def test_only_the_boxes_near_the_top_are_kept(path: Path) -> None:
    with GroundFile(path) as file:
        assert file.levels == [4, 32, 256, 2048]
        for level, count in enumerate(file.levels):
            for first in range(0, count, FAN):
                assert file.boxes(level, first) == file.boxes(level, first)
        kept = sum(map(len, file._kept.values()))
    assert kept == sum(count for count in file.levels if count <= MOST_KEPT) == 292


def test_blocks_of_other_boxes_are_kept_up_to_a_limit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground_file, "MOST_BLOCKS", 3)
    with GroundFile(path) as file:
        last = len(file.levels) - 1
        nodes = range(0, file.levels[last], FAN)
        assert [file.boxes(last, first) for first in nodes] == [
            list(file.header.box.iter_unpack(file.at(file._levels_at[last] + first * 12, 96)))
            for first in nodes
        ]
        assert len(file._blocks) == 3


def test_a_good_file_passes_the_check(path: Path) -> None:
    with GroundFile(path) as file:
        file.check()


def test_a_flipped_bit_behind_the_header_is_found_by_the_check(path: Path) -> None:
    random, data = Random(3), path.read_bytes()
    for _ in range(10):
        wrong = bytearray(data)
        at = random.randrange(400, len(wrong))
        wrong[at] ^= 1 << random.randrange(8)
        path.write_bytes(wrong)
        with GroundFile(path) as file, pytest.raises(FileFormatError, match="checksum is wrong"):
            file.check()


@pytest.mark.parametrize("size", [0, 5, 250, 5000])
def test_a_truncated_file_is_not_opened(path: Path, size: int) -> None:
    os.truncate(path, size)
    with pytest.raises(FileFormatError, match=rf"meadow.ground: byte {size}: "):
        GroundFile(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"x\.ground: cannot be read \(No such file"):
        GroundFile(tmp_path / "x.ground")


def test_a_file_that_shrinks_later_is_named(path: Path) -> None:
    with GroundFile(path) as file:
        file.leaf(0)
        os.truncate(path, 5000)
        with pytest.raises(FileFormatError, match=r"ends at byte \d+: it has become shorter"):
            file.leaf((1 << file.header.depth) - 1)


def test_a_file_that_cannot_be_read_any_more_is_named(path: Path) -> None:
    with GroundFile(path) as file:
        os.close(file._file)
        with pytest.raises(FileFormatError, match="Bad file descriptor"):
            file.leaf(0)
        file._file = -1


def test_a_group_beyond_the_table_is_named(path: Path) -> None:
    with GroundFile(path) as file, pytest.raises(FileFormatError, match="of group 5"):
        file.group(5)


def test_no_handle_is_left_after_a_failed_opening(path: Path) -> None:
    os.truncate(path, 300)
    before = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(FileFormatError):
        GroundFile(path)
    assert len([*Path("/proc/self/fd").iterdir()]) == before


@pytest.mark.slow
def test_a_mapping_would_end_the_process_and_this_reader_does_not(path: Path) -> None:
    """The reason for `pread`: an access to a mapping behind the end of its file is a SIGBUS."""
    program = """
        import mmap, os, sys
        from emu.errors import FileFormatError
        from emu.ground.ground_file import GroundFile
        path, way = sys.argv[1:]
        if way == "file":
            with GroundFile(path) as file:
                os.truncate(path, 4096)
                try:
                    file.leaf((1 << file.header.depth) - 1)
                except FileFormatError as error:
                    print(error)
        else:
            with open(path, "rb") as opened:
                mapping = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
            size = len(mapping)
            os.truncate(path, 4096)
            mapping[size - 20 : size]
    """
    data = path.read_bytes()
    done = {}
    for way in ("file", "mapping"):
        path.write_bytes(data)
        done[way] = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(path), way],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done["file"].returncode == 0
    assert "it has become shorter" in done["file"].stdout
    assert done["mapping"].returncode == -signal.SIGBUS
