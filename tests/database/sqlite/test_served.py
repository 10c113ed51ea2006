"""What other programs read from the record of a server, running or not."""

import fcntl
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from emu.database.sqlite import SqliteDatabase
from emu.database.sqlite.served import (
    Loss,
    Served,
    check_served,
    file_key,
    lock_file,
    served_problem,
)
from emu.errors import StoreError
from emu.store import Store
from emu.store.server_lock import ServerLock

SERVER = 4_000_000  # no process of this machine has such a number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "emu.sqlite"
    Store.create(made).close()
    return made


def record(path: Path, loss: Loss | None = None) -> None:
    lock_file(path).write_bytes(Served(SERVER, file_key(path), loss).written())


class Running(ExitStack):
    """Holds the lock of a record, as the server does."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        file = self.enter_context(lock_file(path).open("rb"))
        fcntl.flock(file, fcntl.LOCK_EX)


@pytest.mark.parametrize(
    "served",
    [Served(1), Served(7, (1, 2)), *(Served(7, (1 << 40, 1 << 60), loss) for loss in Loss)],
)
def test_a_record_reads_back(served: Served) -> None:
    assert Served.parse(served.written()) == served


@pytest.mark.parametrize(
    "data", [b"", b"x", b"\xff\n", b"1\nx y\n", b"1\n2\n", b"1\n2 3\nsold\n", b"\0" * 200]
)
def test_anything_else_is_no_record(path: Path, data: bytes) -> None:
    assert Served.parse(data) is None
    lock_file(path).write_bytes(data)
    assert served_problem(path) == ""


def test_a_file_that_is_the_servers_may_be_opened(path: Path) -> None:
    assert served_problem(path) == ""
    record(path)
    assert served_problem(path) == ""
    with Running(path):
        Store.open(path).close()


def replaced(path: Path) -> None:
    other = path.with_name("other")
    Store.create(other).close()
    other.replace(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Path.unlink, r"was deleted while the server \(process 4000000\) uses it; stop the server"),
        (replaced, r"was replaced by another file while .*; restart the server"),
    ],
)
def test_while_the_server_runs_no_program_uses_another_file(
    path: Path, change: Callable[[Path], object], words: str
) -> None:
    record(path)
    with Running(path):
        change(path)
        for attempt in (Store.open, Store.open_for_reading, Store.create, SqliteDatabase.connect):
            with pytest.raises(StoreError, match=words):
                attempt(path)
    check_served(path)  # it was killed: what is there now is what there is
    Store.create(path).close()


def test_an_overwritten_file_is_known_by_what_the_server_wrote(path: Path) -> None:
    record(path, Loss.OVERWRITTEN)
    with Running(path):
        assert "was overwritten" in served_problem(path)
    Store.open(path).close()


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("is_empty", [False, True])
def test_after_a_loss_only_the_operator_makes_an_empty_one(
    path: Path, loss: Loss, is_empty: bool
) -> None:
    record(path, loss)
    path.unlink()
    if is_empty:
        path.touch()
    for attempt in (Store.create, ServerLock):
        with pytest.raises(StoreError, match="--create-database"):
            attempt(path)
    assert path.exists() is is_empty
    assert lock_file(path).exists()
    with ServerLock(path, anew=True):
        pass
    assert not lock_file(path).exists()


def test_a_file_that_was_put_back_is_served_again(path: Path) -> None:
    record(path, Loss.DELETED)
    with ServerLock(path) as lock:
        served = Served.parse(lock_file(path).read_bytes())
        assert served == Served(os.getpid())
        lock.serve((1, 2))
        assert Served.parse(lock_file(path).read_bytes()) == Served(os.getpid(), (1, 2))


def test_reading_the_record_does_not_block_a_servers_lock(path: Path) -> None:
    record(path, Loss.DELETED)
    for _ in range(50):
        served_problem(path)
        ServerLock(path).release()
        record(path, Loss.DELETED)
