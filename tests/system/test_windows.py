"""The functions of `emu.system` for Windows, with `msvcrt` and `_winapi` made of this system's."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emu.system import posix, windows
from tests.support.running.without_posix import msvcrt, winapi


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt())
    monkeypatch.setitem(sys.modules, "_winapi", winapi())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "file"
    found.write_bytes(b"0123456789")
    return found


def test_both_modules_have_the_same_functions() -> None:
    def names(module: Any) -> set[str]:
        return {
            name for name, one in vars(module).items()
            if not name.startswith("_") and getattr(one, "__module__", "") == module.__name__
        }  # fmt: skip

    assert names(windows) == names(posix)


@pytest.mark.parametrize("shared", [False, True])
def test_a_lock_excludes_others_until_the_file_is_closed(path: Path, shared: bool) -> None:
    first, second = windows.open_shared(path), windows.open_shared(path)
    assert windows.lock(first)
    assert not windows.lock(second, shared=shared)
    os.close(first)
    assert windows.lock(second, shared=shared)
    windows.unlock(second)
    third = windows.open_shared(path)
    assert windows.lock(third)
    os.close(second)
    os.close(third)


def test_a_lock_covers_no_byte_that_sqlite_locks_or_uses(path: Path) -> None:
    # https://www.sqlite.org/fileformat2.html, "the lock-byte page": 512 bytes from 1 << 30.
    assert windows.LOCKED_BYTE >= (1 << 30) + 512
    assert windows.LOCKED_BYTE // 4096 == (1 << 30) // 4096
    opened = windows.open_shared(path)
    os.lseek(opened, 3, os.SEEK_SET)
    assert windows.lock(opened)
    assert os.read(opened, 2) == b"34", "the place in the file stays"
    assert path.stat().st_size == 10
    os.close(opened)


def test_an_incomplete_file_is_locked_once(path: Path) -> None:
    lock = windows.open_locked(path)
    assert lock is not None
    assert windows.open_locked(path) is None
    os.close(lock)
    assert windows.open_locked(path.with_name("none")) is None
    assert not path.with_name("none").exists()


def test_a_folder_is_locked_by_a_file_in_it(tmp_path: Path) -> None:
    lock = windows.open_locked(tmp_path)
    assert lock is not None
    assert windows.open_locked(tmp_path) is None
    os.close(lock)


def test_bytes_are_read_and_written_at_their_places(path: Path) -> None:
    opened = windows.open_shared(path)
    assert windows.write_at(opened, b"ab", 4) == 2
    assert windows.read_at(opened, 4, 3) == b"3ab6"
    os.close(opened)


def test_a_file_is_flushed_and_a_folder_has_nothing_to_flush(path: Path) -> None:
    windows.flush(path)
    windows.flush(path.parent)
    with pytest.raises(FileNotFoundError):
        windows.flush(path.with_name("none"))


class Kernel:
    """What the Windows function OpenProcess knows: 7 runs, 8 has ended, 9 is another user's."""

    def OpenProcess(self, _access: int, _inherits: bool, process: int) -> int:
        return process if process in (7, 8) else 0

    def GetLastError(self) -> int:
        return self.error

    error = 5

    def GetExitCodeProcess(self, process: int, code: Any) -> int:
        code._obj.value = 259 if process == 7 else 1
        return 1

    def CloseHandle(self, _process: int) -> int:
        return 1


def test_a_process_is_asked_about_and_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert [windows.is_running(process) for process in (7, 8, 9)] == [True, False, True]
    kernel.error = 87
    assert not windows.is_running(10)


@pytest.fixture
def alarms(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The times of an alarm by another signal than pytest's."""
    found: list[int] = []
    monkeypatch.setattr(windows, "ALARM", signal.SIGUSR2)
    before = signal.signal(signal.SIGUSR2, lambda number, _frame: found.append(number))
    yield found
    windows.clear_alarm()
    signal.signal(signal.SIGUSR2, before)


def wait_for(alarms: list[int], count: int) -> None:
    end = time.monotonic() + 30
    while len(alarms) < count:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_an_alarm_comes_again_until_it_is_cleared(alarms: list[int]) -> None:
    windows.set_alarm(0.001, 0.001)
    wait_for(alarms, 3)
    windows.clear_alarm()
    count = len(alarms)
    time.sleep(0.05)
    assert len(alarms) <= count + 1, "one may have been under way"


def test_another_thread_sends_it_at_once(alarms: list[int]) -> None:
    threading.Thread(target=windows.alarm_now).start()
    wait_for(alarms, 1)
