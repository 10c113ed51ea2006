"""A change is stored completely or not at all: alone, in a group, with other programs, killed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from emu.errors import DuplicateName, StoreError
from emu.store import Store
from emu.worlds import RegisteredWorld
from tests.support.database.store_crasher import Promises
from tests.support.database.stores import character

ROOT = Path(__file__).parents[2]
ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "5"))


def test_a_savepoint_fails_alone(store: Store) -> None:
    with store.transaction():
        store.login.accounts.add("Bob", "hash", 1.0)
        with pytest.raises(DuplicateName):
            store.login.accounts.add("BOB", "hash", 1.0)
        with pytest.raises(StoreError, match=r"(?i)foreign key"):
            store.login.characters.add(character(account_id=99))
        store.login.accounts.add("Carol", "hash", 1.0)
    assert [account.name for account in store.login.accounts.every()] == ["Alice", "Bob", "Carol"]


def test_two_programs_work_on_one_database(store: Store) -> None:
    with Store.open(store.where) as other:
        store.login.accounts.add("Bob", "hash", 1.0)
        other.login.accounts.add("Carol", "hash", 1.0)
        with pytest.raises(DuplicateName):
            other.login.accounts.add("bob", "hash", 1.0)
    assert [account.name for account in store.login.accounts.every()] == ["Alice", "Bob", "Carol"]


def test_a_lock_that_does_not_end_is_one_line(sqlite_store: Store) -> None:
    store = sqlite_store
    with (
        Store.open(store.path, wait=0.05) as other,
        store.transaction(),
        pytest.raises(StoreError, match="locked by another program"),
    ):
        other.login.accounts.add("Bob", "hash", 1.0)


def test_a_list_is_read_in_one_view(sqlite_store: Store) -> None:
    store = sqlite_store
    store.login.characters.add(character())
    with closing(sqlite3.connect(store.path)) as other, store.reading() as connection:
        before = connection.execute("SELECT sum(level) FROM characters").fetchone()[0]
        with other:
            other.execute("UPDATE characters SET level = 2, appearance = '{}'")
        assert connection.execute("SELECT sum(level) FROM characters").fetchone()[0] == before
        assert len(store.login.characters.of_account(1)[0].colors) == 2
    assert store.login.characters.of_account(1)[0].colors == {}


def test_opening_does_not_make_a_database_and_creating_does(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "emu.sqlite"
    with pytest.raises(StoreError, match="no such database"):
        Store.open(path)
    with Store.create(path) as store:
        store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", ""))
    with Store.create(path) as store:
        assert store.login.worlds.find("Norrath") is not None


@pytest.mark.slow
def test_kill_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed while they make the database and while they change it. EMU_CRASH_ROUNDS for more."""
    path = tmp_path / "emu.sqlite"
    promises = Promises()
    moments = random.Random(7)
    answered = 0
    for seed in range(ROUNDS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.database.store_crasher", str(path), str(seed)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        first = process.stdout.readline() if seed % 3 else b""  # else die while starting, perhaps
        time.sleep(moments.uniform(0.02, 0.3))
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
        process.stdout.close()
        process.wait()
        answered += promises.read(first + rest)
        with Store.create(path) as store:
            promises.check(store)
    assert answered > 10 * ROUNDS
