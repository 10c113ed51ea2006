"""A server's database file is on disk in time, and a replaced file is detected."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from emu.database.sqlite import SqliteDatabase
from emu.database.sqlite.files import MARK_TABLE
from emu.database.sqlite.keeper import DOUBTS, Keeper
from emu.database.sqlite.served import Loss
from emu.errors import StoreError
from emu.store import Store
from emu.store.repository import schema


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "emu.sqlite") as made:
        made.database.connection.execute("PRAGMA wal_autocheckpoint = 0")
        yield made


@pytest.fixture
def keeper(store: Store) -> Iterator[Keeper]:
    made = Keeper(store.path)
    made.begin()
    yield made
    made.close()


def add(store: Store, *names: str) -> None:
    for name in names:
        store.login.accounts.add(name, "hash", 1.0)


def names_in_main_file(path: Path) -> list[str]:
    """Read what a power cut could leave at worst: the main file without its log."""
    alone = path.with_name("alone.sqlite")
    shutil.copyfile(path, alone)
    with closing(sqlite3.connect(alone)) as connection:
        found = [name for (name,) in connection.execute("SELECT name FROM accounts ORDER BY id")]
    alone.unlink()
    return found


def looks(keeper: Keeper, most: int = DOUBTS) -> Loss | None:
    for _ in range(most):
        found = keeper.check()
    return found


def test_a_checkpoint_brings_everything_into_the_main_file(store: Store, keeper: Keeper) -> None:
    add(store, "alice", "bob")
    assert names_in_main_file(store.path) == []
    assert keeper.checkpoint() is None
    assert names_in_main_file(store.path) == ["alice", "bob"]


def test_nothing_is_written_while_nothing_was_committed(store: Store, keeper: Keeper) -> None:
    add(store, "alice")
    keeper.checkpoint()
    before, done = store.path.read_bytes(), keeper.checkpoints
    for _ in range(3):
        keeper.checkpoint()
    assert (store.path.read_bytes(), keeper.checkpoints) == (before, done)


def test_a_program_that_reads_for_long_keeps_no_commit_from_the_disk(
    store: Store, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    monkeypatch.setattr("emu.database.sqlite.keeper.flush", lambda path: flushed.append(path.name))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM accounts").fetchone()
        add(store, "alice")
        keeper.checkpoint()
        assert flushed == [f"{store.path.name}-wal"]
        assert names_in_main_file(store.path) == []
        keeper.checkpoint()
    keeper.checkpoint()
    assert names_in_main_file(store.path) == ["alice"]


def test_the_log_does_not_grow_for_ever(store: Store, keeper: Keeper) -> None:
    log = store.path.with_name(f"{store.path.name}-wal")
    sizes = set()
    for turn in range(30):
        add(store, *(f"name{turn}x{one}" for one in range(20)))
        keeper.checkpoint()
        sizes.add(log.stat().st_size)
    assert max(sizes) < 2_000_000


def delete(path: Path, _copy: Path) -> None:
    path.unlink()


def delete_all(path: Path, _copy: Path) -> None:
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()


def replace(path: Path, copy: Path) -> None:
    copy.replace(path)


def overwrite(path: Path, copy: Path) -> None:
    shutil.copyfile(copy, path)


def overwrite_with_nothing(path: Path, _copy: Path) -> None:
    path.write_bytes(b"")


def overwrite_with_garbage(path: Path, _copy: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def restore_by_sqlite(path: Path, copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)


@pytest.mark.parametrize(
    ("change", "loss"),
    [
        (delete, Loss.DELETED),
        (delete_all, Loss.DELETED),
        (replace, Loss.REPLACED),
        (overwrite, Loss.OVERWRITTEN),
        (overwrite_with_nothing, Loss.OVERWRITTEN),
        (overwrite_with_garbage, Loss.OVERWRITTEN),
        (restore_by_sqlite, Loss.OVERWRITTEN),
    ],
)
@pytest.mark.parametrize("way", ["emu", "sqlite", "cp"])
def test_other_content_is_noticed_and_left_as_it_is(
    store: Store, keeper: Keeper, change: Callable[[Path, Path], None], loss: Loss, way: str
) -> None:
    copy = store.path.with_name("copy.sqlite")
    add(store, "in-the-copy")
    keeper.checkpoint()
    if way == "emu":
        with SqliteDatabase.connect(store.path) as database:
            database.back_up(copy)
    elif way == "sqlite":
        with closing(sqlite3.connect(copy)) as target:
            store.sqlite.connection.backup(target)
    else:
        shutil.copyfile(store.path, copy)
    add(store, "later")
    keeper.checkpoint()
    add(store, "in-the-log")
    assert keeper.check() is None
    change(store.path, copy)
    kept = store.path.read_bytes() if store.path.exists() else b""
    assert looks(keeper) is loss
    keeper.checkpoint()
    keeper.abandon()
    store.close()
    keeper.close()
    if change is restore_by_sqlite:  # it lies in the log, which is the file's own
        with Store.open(store.path) as again:
            assert [one.name for one in again.login.accounts.every()] == ["in-the-copy"]
        return
    assert (store.path.read_bytes() if store.path.exists() else b"") == kept
    assert not store.path.with_name(f"{store.path.name}-wal").exists()
    if change in (replace, overwrite):
        with Store.open(store.path) as again:
            assert [one.name for one in again.login.accounts.every()] == ["in-the-copy"]


@pytest.mark.parametrize("change", [delete, delete_all, replace])
def test_what_a_deleted_file_held_can_be_saved(
    store: Store, keeper: Keeper, change: Callable[[Path, Path], None]
) -> None:
    add(store, "alice")
    keeper.checkpoint()
    add(store, "in-the-log")
    other = store.path.with_name("other.sqlite")
    Store.create(other).close()
    change(store.path, other)
    assert keeper.check() is not None
    rescued = store.path.with_name("rescued.sqlite")
    keeper.rescue(rescued)
    with Store.open(rescued) as again:
        assert [one.name for one in again.login.accounts.every()] == ["alice", "in-the-log"]


@pytest.mark.slow
def test_what_other_programs_do_is_no_loss(store: Store, keeper: Keeper) -> None:
    """They write, checkpoint, and hold old states; the file stays the server's."""
    copy = store.path.with_name("copy.sqlite")
    for turn in range(8):
        add(store, f"ours{turn}")
        with Store.open(store.path) as other:
            add(other, f"theirs{turn}")
            other.database.connection.execute(
                f"PRAGMA wal_checkpoint({('PASSIVE', 'FULL', 'RESTART', 'TRUNCATE')[turn % 4]})"
            )
            other.sqlite.back_up(copy)
        assert keeper.check() is None
        with closing(sqlite3.connect(store.path)) as other_program:
            other_program.execute("VACUUM")
        assert looks(keeper, 3) is None
        assert keeper.checkpoint() is None
    assert len(names_in_main_file(store.path)) == 16


def test_a_check_releases_none_of_sqlites_locks(store: Store, keeper: Keeper) -> None:
    """A program that closes the file last removes its log; ours must not be removed."""
    log = store.path.with_name(f"{store.path.name}-wal")
    for _ in range(3):
        add(store, f"name{_}")
        keeper.checkpoint()
        store.path.touch()  # so that the main file is read again
        assert keeper.check() is None
        code = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
            "c.execute('SELECT count(*) FROM accounts').fetchone(); c.close()"
        )
        subprocess.run([sys.executable, "-c", code, str(store.path)], check=True, timeout=60)
        assert log.exists()
    add(store, "last")
    with Store.open_for_reading(store.path) as other:
        assert "last" in [one.name for one in other.login.accounts.every()]


def test_a_locked_database_is_checkpointed_all_the_same(store: Store, keeper: Keeper) -> None:
    keeper._use().execute("PRAGMA busy_timeout = 0")
    add(store, "alice")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert keeper.checkpoint() is None
        assert names_in_main_file(store.path) == ["alice"]


class FailingDisk:
    """A connection whose checkpoints end in the middle of the page with the mark."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if "wal_checkpoint" not in sql:
            return self._connection.execute(sql, *values)
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        (page,) = self._connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (MARK_TABLE,)
        ).fetchone()
        with self._path.open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * (size // 2))
        raise sqlite3.OperationalError("disk I/O error")


def test_a_checkpoint_that_fails_midway_is_no_loss(store: Store, keeper: Keeper) -> None:
    # Found by a simulation (seed 118): the log was abandoned, and the database was damaged.
    add(store, "alice")
    connection = keeper._connection
    assert connection is not None
    keeper._connection = FailingDisk(connection, store.path)  # type: ignore[assignment]
    with pytest.raises(StoreError):
        keeper.checkpoint()
    assert looks(keeper, DOUBTS + 1) is None
    keeper._connection = connection
    assert keeper.checkpoint() is None
    assert names_in_main_file(store.path) == ["alice"]
    # The main file counts again.
    store.path.write_bytes(b"\0" * store.path.stat().st_size)
    assert looks(keeper) is Loss.OVERWRITTEN


def test_a_lost_database_answers_nothing_more(store: Store) -> None:
    store.database.lost = "emu.sqlite: was deleted"
    for attempt in (
        store.login.accounts.every,
        lambda: add(store, "x"),
        lambda: store.world.characters.find(1),
    ):
        with pytest.raises(StoreError, match="was deleted"):
            attempt()
    assert schema().newest >= 11
