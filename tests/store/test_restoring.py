"""The return to a backup: all or nothing, and the present database is kept."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.database.sqlite import SqliteDatabase
from emu.database.sqlite.served import log_files
from emu.errors import StoreError
from emu.files import SUFFIX, remove_stale
from emu.store import Store
from emu.store.identity import identity, made_identity
from emu.store.restoring import restore
from emu.store.server_lock import ServerLock
from emu.store.spool import spool_identity, spool_path, write_spool
from tests.support.database.stores import saved_state, world_character
from tests.support.killing import MOST, is_killed

MOMENT = 1_800_000_000.0
DATE = "20270115-080000"


def make(path: Path, *names: str) -> Path:
    with Store.create(path) as store:
        for name in names:
            store.login.accounts.add(name, "hash", 1.0)
    return path


def names(path: Path) -> list[str]:
    with Store.open_for_reading(path) as store:
        return [one.name for one in store.login.accounts.every()]


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    made, copy = make(tmp_path / "made.sqlite", "Alice"), tmp_path / "backup.db"
    with SqliteDatabase.connect(made) as database:
        database.back_up(copy)
    return copy


def test_the_backup_takes_the_place_of_the_database_which_is_kept(
    tmp_path: Path, backup: Path
) -> None:
    database = make(tmp_path / "emu.sqlite", "Bob", "Carol")
    spool_path(database).write_text("players")
    done = restore(backup, database, MOMENT)
    assert names(database) == ["Alice"]
    assert done.kept == tmp_path / f"emu.sqlite.{DATE}.before-restore.bak"
    assert names(done.kept) == ["Bob", "Carol"]
    assert done.unsaved is not None
    assert done.unsaved.read_text() == "players"
    assert not spool_path(database).exists()
    assert (done.accounts, done.characters) == (1, 0)
    assert names(backup) == ["Alice"]
    back = restore(done.kept, database, MOMENT + 1)
    assert names(database) == ["Bob", "Carol"]
    assert back.unsaved is None
    assert database.stat().st_mode & 0o077 == 0


def test_without_a_database_the_backup_becomes_it(tmp_path: Path, backup: Path) -> None:
    log, _ = log_files(tmp_path / "emu.sqlite")
    log.write_bytes(b"of a lost database")
    assert restore(backup, tmp_path / "emu.sqlite", MOMENT).kept is None
    assert names(tmp_path / "emu.sqlite") == ["Alice"]


def test_what_is_only_in_the_log_is_kept(tmp_path: Path, backup: Path) -> None:
    """A killed program leaves its last changes in the log beside the database."""
    database, killed = make(tmp_path / "emu.sqlite", "Bob"), tmp_path / "killed.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE accounts SET name = 'Bobby', name_key = 'bobby'")
        connection.commit()
        for path in (database, *log_files(database)):
            (tmp_path / path.name.replace("emu", "killed")).write_bytes(path.read_bytes())
    done = restore(backup, killed, MOMENT)
    assert done.kept is not None
    assert names(done.kept) == ["Bobby"]
    assert names(killed) == ["Alice"]


def test_a_damaged_database_is_moved(tmp_path: Path, backup: Path) -> None:
    database = make(tmp_path / "emu.sqlite", "Bob")
    damaged = b"SQLite format 3\0" + bytes(5000)
    database.write_bytes(damaged)
    done = restore(backup, database, MOMENT)
    assert done.kept is not None
    assert done.kept.read_bytes() == damaged
    assert names(database) == ["Alice"]


def refused(backup: Path, database: Path) -> str:
    """Restore a backup that must be refused, and return why; nothing has changed."""
    before = {path.name: path.read_bytes() for path in sorted(database.parent.iterdir())}
    with pytest.raises(StoreError) as caught:
        restore(backup, database, MOMENT)
    after = {path.name: path.read_bytes() for path in sorted(database.parent.iterdir())}
    lasting = [name for name in before if not name.endswith(("-shm", "-wal"))]
    assert {name: after.get(name) for name in lasting} == {name: before[name] for name in lasting}
    assert [name for name in after if name not in before and "-" not in name] == []
    return str(caught.value)


def test_what_is_no_good_backup(tmp_path: Path, backup: Path) -> None:
    database = make(tmp_path / "emu.sqlite", "Bob")
    wrong = tmp_path / "wrong.db"
    assert "there is no such backup" in refused(wrong, database)
    assert "is the database itself" in refused(database, database)
    whole = backup.read_bytes()
    for damaged in (whole[:-4096], whole[:6000] + bytes(3000) + whole[9000:], b"text", b""):
        wrong.write_bytes(damaged)
        assert str(wrong) in refused(wrong, database)
    wrong.write_bytes(whole)
    with closing(sqlite3.connect(wrong)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    assert "newer version" in refused(wrong, database)
    with closing(sqlite3.connect(wrong)) as connection:
        connection.execute("PRAGMA application_id = 77")
    assert "another program" in refused(wrong, database)
    assert names(database) == ["Bob"]


def test_while_a_server_runs_nothing_is_restored(tmp_path: Path, backup: Path) -> None:
    database = make(tmp_path / "emu.sqlite", "Bob")
    with ServerLock(database):
        assert "another server uses it" in refused(backup, database)


def test_while_another_program_has_it_open_nothing_is_restored(
    tmp_path: Path, backup: Path
) -> None:
    database = make(tmp_path / "emu.sqlite", "Bob")
    with Store.open(database) as store, store.transaction() as connection:
        connection.execute("SELECT 1 FROM accounts").fetchall()
        with pytest.raises(StoreError):
            restore(backup, database, MOMENT)
    assert names(database) == ["Bob"]
    assert list(tmp_path.glob("*before-restore*")) == []


def identity_of(path: Path) -> str:
    with Store.open_for_reading(path) as store:
        return identity(store)


@pytest.mark.slow
def test_a_kill_at_any_step_leaves_a_whole_database_and_no_spool_of_another(
    tmp_path: Path, backup: Path
) -> None:
    folder = tmp_path / "server"
    for step in range(MOST):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        database = make(folder / "emu.sqlite", "Bob")
        with Store.open(database) as store:
            own = made_identity(store)
        write_spool(spool_path(database), [saved_state(world_character())], own)
        (folder / ".emu.sqlite.20260101-000000.restoring").write_text("of an earlier program")
        was_killed = is_killed(lambda: restore(backup, database, MOMENT), step)  # noqa: B023
        found, spool = names(database), spool_path(database)
        assert found in (["Alice"], ["Bob"])
        if found == ["Bob"]:
            assert spool_identity(spool) == own == identity_of(database)
        else:
            assert identity_of(database) not in ("", own)
            assert not spool.exists() or spool_identity(spool) == own
        if not was_killed:
            break
        # The next writer in the folder removes what the killed one left.
        remove_stale(folder)
        assert list(folder.glob(f".*{SUFFIX}*")) == []
    assert found == ["Alice"]
    assert not spool.exists()
    assert list(folder.glob("*.restoring")) == list(folder.glob(".*.restoring")) == []


@pytest.mark.slow
def test_a_damaged_database_keeps_its_name_until_the_backup_has_it(
    tmp_path: Path, backup: Path
) -> None:
    database = tmp_path / "emu.sqlite"
    for step in range(MOST):
        database.write_bytes(b"SQLite format 3\0" + bytes(5000))
        was_killed = is_killed(lambda: restore(backup, database, MOMENT + step), step)  # noqa: B023
        assert database.exists()
        if not was_killed:
            break
    assert names(database) == ["Alice"]
