import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.store.server_lock import ServerLock


def test_a_second_server_is_refused_with_one_line(tmp_path: Path) -> None:
    with ServerLock(tmp_path / "emu.sqlite"):
        with pytest.raises(
            StoreError, match=rf"another server .* \(process {os.getpid()}\)"
        ) as got:
            ServerLock(tmp_path / "emu.sqlite")
        assert "\n" not in str(got.value)
        ServerLock(tmp_path / "other.sqlite").release()


def test_a_lock_that_was_let_go_is_free(tmp_path: Path) -> None:
    lock = ServerLock(tmp_path / "emu.sqlite")
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
    ServerLock(tmp_path / "emu.sqlite").release()


def test_a_file_that_was_removed_while_it_was_waited_for_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "emu.sqlite.lock"
    flock = fcntl.flock

    def removed_first(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        path.unlink()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_first)
    with ServerLock(tmp_path / "emu.sqlite"), pytest.raises(StoreError):
        ServerLock(tmp_path / "emu.sqlite")


@pytest.mark.slow
def test_a_server_that_was_killed_leaves_nothing_locked(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal; from emu.store.server_lock import ServerLock;"
        f"lock = ServerLock(pathlib.Path({str(tmp_path / 'emu.sqlite')!r}));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, timeout=30)
    assert (tmp_path / "emu.sqlite.lock").read_text().strip().isdigit()
    ServerLock(tmp_path / "emu.sqlite").release()


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        ServerLock(tmp_path / "file" / "emu.sqlite")


@pytest.mark.slow
def test_the_next_server_learns_whether_the_last_one_was_killed(tmp_path: Path) -> None:
    database = tmp_path / "emu.sqlite"
    for _ in range(2):
        with ServerLock(database) as lock:
            assert not lock.after_crash
    code = (
        "import os, pathlib, signal; from emu.store.server_lock import ServerLock;"
        f"lock = ServerLock(pathlib.Path({str(database)!r}));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, timeout=30)
    with ServerLock(database) as lock:
        assert lock.after_crash
    with ServerLock(database) as lock:
        assert not lock.after_crash
