"""The upkeep of a server's database file: checkpoints by the clock, and one report of a loss."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
import pytest_twisted
from twisted.internet import reactor
from twisted.internet.task import Clock

from emu.config import Config, DatabaseConfig
from emu.database.sqlite.served import served_problem
from emu.model import Durability
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from emu.net.upkeep import Upkeep
from emu.store import Store
from emu.store.server_lock import ServerLock
from tests.database.sqlite.test_keeper import names_in_main_file
from tests.support.running.whole_server import captured_log, until


class Space:
    """A storage and its upkeep, whose timers stand on a clock of the test's."""

    def __init__(self, path: Path) -> None:
        self.clock = Clock()
        self.lost: list[str] = []
        config = DatabaseConfig(url=path, checkpoint_seconds=3.0, watch_seconds=1.0)
        self.storage = Storage(path, reactor, Scheduler(reactor))
        self.lock = ServerLock(path)
        self.upkeep = Upkeep(
            config, self.lock, reactor, Scheduler(self.clock, lambda: 1.8e9), self._lose
        )
        self.upkeep.open()
        self.upkeep.start()
        self.path = path

    def _lose(self, problem: str) -> None:
        self.lost.append(problem)
        self.storage.lose(problem)

    async def close(self) -> None:
        await self.storage.close()
        await self.upkeep.stop()
        self.lock.release()


@pytest_twisted.async_yield_fixture
async def space(tmp_path: Path) -> AsyncIterator[Space]:
    made = Space(tmp_path / "emu.sqlite")
    yield made
    await made.close()


async def test_what_was_stored_is_in_the_main_file_at_the_next_checkpoint(space: Space) -> None:
    await space.storage.accounts.add_account("alice", "hash", 1.0)
    space.clock.advance(2.9)
    assert names_in_main_file(space.path) == []
    done = space.upkeep.checkpoints
    space.clock.advance(0.1)
    await until(lambda: space.upkeep.checkpoints > done, "the checkpoint")
    assert names_in_main_file(space.path) == ["alice"]


async def test_a_loss_is_reported_once_and_all_work_is_refused(space: Space) -> None:
    with captured_log("text") as log:
        await space.storage.accounts.add_account("alice", "hash", 1.0)
        space.path.unlink()
        for _ in range(5):
            space.clock.advance(1.0)
            await until(lambda: space.upkeep.problem, "the loss")
        await until(lambda: "is saved in" in log.text, "the copy")
    assert space.lost == [space.upkeep.problem]
    assert log.text.count("was deleted while the server") == 1
    with pytest.raises(Exception, match="was deleted while the server"):
        await space.storage.accounts.add_account("bob", "hash", 1.0)
    with pytest.raises(Exception, match="was deleted while the server"):
        await space.storage.accounts.find_account("alice")
    copy = re.search(r"saved in (\S+)", log.text)
    assert copy is not None
    with Store.open(Path(copy[1])) as rescued:
        assert [one.name for one in rescued.login.accounts.every()] == ["alice"]


async def test_a_record_that_was_removed_is_made_again(space: Space) -> None:
    record = space.path.with_name(f"{space.path.name}.lock")
    text = record.read_text()
    record.unlink()
    space.clock.advance(1.0)
    await until(record.exists, "the record")
    await until(lambda: record.read_text() == text, "its text")


async def test_trouble_with_the_disk_is_reported_once_and_tried_again(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    await space.storage.accounts.add_account("alice", "hash", 1.0)
    tries: list[Path] = []

    def fail(path: Path) -> None:
        tries.append(path)
        raise OSError(5, "Input/output error")

    with captured_log("text") as log, monkeypatch.context() as patch:
        patch.setattr("emu.database.sqlite.keeper.flush", fail)
        for wanted in (1, 2, 3):
            space.clock.advance(3.0)
            await until(lambda: len(tries) == wanted, "another attempt")  # noqa: B023
            await until(lambda: not space.upkeep._waiting, "its end")
    assert log.text.count("Input/output error") == 1
    assert space.upkeep.problem == ""
    done = space.upkeep.checkpoints
    space.clock.advance(3.0)
    await until(lambda: space.upkeep.checkpoints > done, "the checkpoint")
    assert names_in_main_file(space.path) == ["alice"]


async def test_after_the_end_the_record_is_there_only_when_the_file_was_lost(
    tmp_path: Path,
) -> None:
    for is_lost in (False, True):
        space = Space(tmp_path / "emu.sqlite")
        if is_lost:
            space.path.unlink()
            space.clock.advance(1.0)
            await until(lambda: space.upkeep.problem, "the loss")  # noqa: B023
        await space.close()
        assert (tmp_path / "emu.sqlite.lock").exists() is is_lost
    assert served_problem(tmp_path / "emu.sqlite") == ""  # this process is the one that wrote it


@pytest.mark.parametrize(("durability", "level"), [("fast", 1), ("safe", 2)])
async def test_the_connection_that_writes_has_the_durability_that_was_set(
    tmp_path: Path, durability: str, level: int
) -> None:
    storage = Storage(
        tmp_path / "emu.sqlite", reactor, Scheduler(reactor), durability=Durability(durability)
    )
    connection = storage.direct.database.connection
    assert connection.execute("PRAGMA synchronous").fetchone()[0] == level
    assert connection.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 0, "left to the keeper"
    await storage.accounts.add_account("alice", "hash", 1.0)
    assert connection.execute("PRAGMA synchronous").fetchone()[0] == level
    await storage.close()


def test_settings_have_their_defaults() -> None:
    database = Config().database
    assert (database.durability, database.checkpoint_seconds) == (Durability.FAST, 2.0)
    assert attrs.evolve(database, durability=Durability.SAFE).durability == "safe"
