"""The program that has locked a database."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from emu.database.sqlite import holder
from emu.database.sqlite.files import explained
from emu.database.sqlite.holder import lock_holder

HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not holder.LOCKS.exists(), reason="only Linux lists the locks of files")
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_the_program_that_writes_is_named(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "some.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0.0)) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("CREATE TABLE names (name TEXT)")
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as other:  # fmt: skip
            assert other.stdout is not None
            assert other.stdout.readline() == "locked\n"
            named = lock_holder(path)
            with pytest.raises(sqlite3.OperationalError) as caught:
                database.execute("BEGIN IMMEDIATE")
            line = str(explained(path, caught.value))
            other.communicate()
        assert named.endswith(f", process {other.pid}")
        assert line == (
            f"{path}: is locked by another program ({named}); try again when that one is done"
        )
        assert not lock_holder(path)


def test_our_own_locks_and_unknown_ones_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE names (name TEXT)")
        database.execute("BEGIN IMMEDIATE")
        assert not lock_holder(path)
    for text in ("", "1: -> POSIX ADVISORY WRITE 1 00:01:1 0 0\n", "nonsense\n"):
        (tmp_path / "locks").write_text(text, encoding="ascii")
        monkeypatch.setattr(holder, "LOCKS", tmp_path / "locks")
        assert not lock_holder(path)
    monkeypatch.setattr(holder, "LOCKS", tmp_path / "none")
    assert not lock_holder(path)
