import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock

from emu.errors import StoreError
from emu.net.opcode_source import OpcodeSource, OpcodeWatcher, last_changes
from emu.net.scheduler import Scheduler
from emu.net.store_worker import StoreWorker
from emu.opcodes import OpcodeStore, VersionRange
from tests.support.coroutines import finish
from tests.support.files.opcode_rows import shipped_database
from tests.support.running.whole_server import until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]


def run_at_once(call: Callable[[], Any]) -> Deferred[Any]:
    return maybeDeferred(call)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return shipped_database(tmp_path)


@pytest.mark.slow
def test_an_edit_is_noticed_within_two_seconds_and_a_broken_one_refused(database: Path) -> None:
    clock = Clock()
    source = OpcodeSource(database, Scheduler(clock), run_at_once)
    source.start()
    before = source.tables()
    assert before.for_version(546).number("OP_KeymapLoadMsg") == 153
    with OpcodeStore(database, who="test") as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 158)
    clock.advance(2)
    assert source.tables().for_version(546).number("OP_KeymapLoadMsg") == 158
    assert before.for_version(546).number("OP_KeymapLoadMsg") == 153
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE opcodes SET last_version = 10 WHERE first_version = 540")
    connection.commit()
    connection.close()
    clock.advance(2)
    assert source.tables().for_version(546).number("OP_LoginReplyMsg") == 4
    finish(source.stop())


def test_a_database_without_tables_gets_the_shipped_ones(tmp_path: Path) -> None:
    source = OpcodeSource(tmp_path / "new.sqlite", Scheduler(Clock()), run_at_once)
    assert source.tables().for_version(561).number("OP_LoginReplyMsg") == 4
    finish(source.stop())


def test_tables_that_cannot_be_used_are_one_clear_line(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE opcodes SET last_version = 10 WHERE first_version = 540")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="opcode tables cannot be used"):
        OpcodeSource(database, Scheduler(Clock()), run_at_once)


async def test_tables_are_read_and_checked_outside_the_reactors_thread(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    poll = OpcodeWatcher.poll

    def noted(watcher: OpcodeWatcher) -> Any:
        threads.append(threading.current_thread().name)
        return poll(watcher)

    clock = Clock()
    worker = StoreWorker(reactor, nullcontext, name="emu-opcodes")  # type: ignore[arg-type]
    source = OpcodeSource(database, Scheduler(clock), worker.run)
    monkeypatch.setattr(OpcodeWatcher, "poll", noted)
    source.start()
    with OpcodeStore(database, who="test") as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 158)
    clock.advance(1)
    clock.advance(1)  # nobody is asked twice at a time
    await until(
        lambda: source.tables().for_version(546).number("OP_KeymapLoadMsg") == 158, "the tables"
    )
    assert threads == ["emu-opcodes"]
    await source.stop()
    await worker.stop()


async def test_whoever_asks_for_a_look_is_reported_what_came_of_it(database: Path) -> None:
    worker = StoreWorker(reactor, nullcontext, name="emu-opcodes")  # type: ignore[arg-type]
    source = OpcodeSource(database, Scheduler(Clock()), worker.run)
    assert await source.reread() == "nothing was edited"
    with OpcodeStore(database, who="test") as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 158)
    assert await source.reread() == "new sessions use the edited tables"
    assert source.tables().for_version(546).number("OP_KeymapLoadMsg") == 158
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE opcodes SET last_version = 10 WHERE first_version = 540")
        connection.commit()
    with pytest.raises(StoreError):
        await source.reread()
    assert source.tables().for_version(546).number("OP_KeymapLoadMsg") == 158
    await source.stop()
    await worker.stop()


def test_the_last_changes_are_edits_and_looking_changes_nothing(database: Path) -> None:
    assert last_changes(database) == []
    with OpcodeStore(database, who="alice") as store:
        store.set(VersionRange(540, 546), "OP_KeymapLoadMsg", 158)
    (found,) = last_changes(database)
    assert (found["who"], found["what"]) == ("alice", "set OP_KeymapLoadMsg of 540-546")
    with pytest.raises(StoreError):
        last_changes(database.with_name("none.sqlite"))
    assert not database.with_name("none.sqlite").exists()
