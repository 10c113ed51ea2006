"""What a killed program leaves incomplete goes; what somebody still writes stays."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from emu.files import ANYBODY, SUFFIX, partial_file, partial_folder, remove_stale, take_name

WRITER = """
import sys, time
from pathlib import Path
from emu.files import partial_file, partial_folder
path = Path(sys.argv[1])
with partial_file(path) as fresh, partial_folder() as folder:
    fresh.write_bytes(b"half")
    for companion in ("-wal", "-shm", "-journal"):
        Path(f"{fresh}{companion}").touch()
    (folder / "copy").touch()
    print(fresh, folder, flush=True)
    time.sleep(60)
"""


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_complete_file_has_its_name_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    with partial_file(path) as fresh:
        assert fresh.parent == tmp_path
        assert stat.S_IMODE(fresh.stat().st_mode) == 0o600
        fresh.write_text("whole")
        fresh.replace(path)
    assert names(tmp_path) == ["copy"]
    assert path.read_text() == "whole"


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), partial_file(tmp_path / "copy") as fresh:
        Path(f"{fresh}-wal").touch(exist_ok=bool((tmp_path / "none").read_bytes()))
    assert names(tmp_path) == []


def test_a_file_without_secrets_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with partial_file(tmp_path / "list", ANYBODY) as fresh:
            assert stat.S_IMODE(fresh.stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_a_name_that_is_taken_is_not_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    path.write_text("mine")
    with partial_file(path) as fresh:
        assert not take_name(fresh, path)
    assert path.read_text() == "mine"


def test_the_longest_name_will_do(tmp_path: Path) -> None:
    with partial_file(tmp_path / ("x" * 255)) as fresh:
        fresh.replace(tmp_path / ("x" * 255))
    assert names(tmp_path) == ["x" * 255]


def test_only_files_without_a_writer_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = tmp_path / "copy"
    others = [".copy.new", "copy", f".copy{SUFFIX}", f".copy.xyz{SUFFIX}", f"a.{'0' * 12}{SUFFIX}x"]
    for name in others:
        (tmp_path / name).touch()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True,
        env=environment,
    ) as writer:  # fmt: skip
        assert writer.stdout is not None
        fresh, folder = map(Path, writer.stdout.readline().split())
        assert remove_stale(tmp_path) == 0
        with partial_folder():
            assert (folder / "copy").exists()
        assert fresh.read_bytes() == b"half"
        writer.send_signal(signal.SIGKILL)
        writer.wait(30)
    assert fresh.exists()
    with partial_file(path) as mine:
        assert not fresh.exists()
        assert names(tmp_path) == sorted([*others, "tmp", mine.name])
    with partial_folder():
        assert not folder.exists()
    assert names(tmp_path) == sorted([*others, "tmp"])
    assert names(temporary) == []


def test_companions_without_their_file_go_too(tmp_path: Path) -> None:
    (tmp_path / f".copy.{'0' * 12}{SUFFIX}-wal").touch()
    assert remove_stale(tmp_path) == 1
    assert names(tmp_path) == []


def test_a_folder_that_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert remove_stale(tmp_path / "none") == 0


def test_a_pipe_of_that_name_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".copy.{'0' * 12}{SUFFIX}")
    assert remove_stale(tmp_path) == 1
