"""The functions of `emu.system` on this system."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from emu.system import posix


@pytest.mark.parametrize(
    ("before", "after"),
    [((1024, 4096), (4096, 4096)), ((1024, -1), (65536, -1)), ((70_000, 80_000), None)],
)
def test_more_files_are_asked_for_than_the_system_gives_unasked(
    monkeypatch: pytest.MonkeyPatch, before: tuple[int, int], after: tuple[int, int] | None
) -> None:
    taken: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _what: before)
    monkeypatch.setattr(resource, "setrlimit", lambda _what, limits: taken.append(limits))
    posix.allow_files(65_536)
    assert taken == ([after] if after else [])


HOLDS: str = """
import sys
from pathlib import Path
from emu.system import posix
lock = posix.open_locked(Path(sys.argv[1]))
print(lock is not None, flush=True)
sys.stdin.read()
"""


def test_a_lock_of_another_process_is_seen_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert posix.open_locked(path) is None
        other.kill()
    lock = posix.open_locked(path)
    assert lock is not None
    os.close(lock)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert posix.open_locked(tmp_path / "link") is None
    assert posix.open_locked(tmp_path / "none") is None


def test_only_processes_that_exist_run() -> None:
    assert posix.is_running(os.getpid())
    assert posix.is_running(1), "a process of another user, unless the test is root's"
    assert not posix.is_running(2**30)
    assert not posix.is_running(2**70)


def test_a_user_without_a_name_is_a_number() -> None:
    assert posix.user_name(0) == "root"
    assert posix.user_name(123_456_789) == "user 123456789"
