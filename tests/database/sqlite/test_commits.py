"""Commits of other programs are distinguished from our own, without a call to SQLite."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from emu.database.sqlite.commits import CommitCounter, CommitWatch
from emu.database.sqlite.keeper import Keeper
from emu.errors import DuplicateName, StoreError
from emu.store import Store
from emu.times import UNKNOWN

FOREIGN = (
    "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])"
)

CHANGE = "UPDATE accounts SET last_login = coalesce(last_login, 0) + 1"
"""A change of nothing is no commit."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "emu.sqlite") as made:
        made.login.accounts.add("alice", "", UNKNOWN)
        yield made


@pytest.fixture
def watch(store: Store) -> Iterator[CommitWatch]:
    found = store.sqlite.watch_commits()
    assert found is not None
    yield found
    store.close()
    found.close()
    found.close()


def foreign(store: Store, statement: str = CHANGE) -> None:
    """Have another process change the database."""
    subprocess.run([sys.executable, "-c", FOREIGN, store.path, statement], check=True)


def test_every_commit_of_another_program_is_seen_once(store: Store, watch: CommitWatch) -> None:
    before = watch.epoch()
    for number in range(3):
        foreign(store)
        assert watch.epoch() == before + number + 1
        assert watch.epoch() == before + number + 1


def test_our_own_commits_do_not_change_the_epoch(store: Store, watch: CommitWatch) -> None:
    before = watch.epoch()
    for number in range(5):
        store.login.accounts.add(f"account{number}", "", UNKNOWN)
        assert watch.epoch() == before
    store.login.accounts.set_enabled(999, enabled=False)  # there is none: nothing changes
    store.login.accounts.find("alice")
    with store.transaction():
        store.login.accounts.add("bob", "", UNKNOWN)
        store.login.accounts.set_enabled(1, enabled=False)
    assert watch.epoch() == before
    foreign(store)
    store.login.accounts.add("carol", "", UNKNOWN)
    assert watch.epoch() == before + 1


def test_a_commit_while_ours_changes_nothing_is_anothers(store: Store, watch: CommitWatch) -> None:
    before = watch.epoch()
    begun = watch.begun()
    foreign(store)  # as if it had come between our COMMIT and our look
    watch.ended(begun, has_changed=False)
    assert watch.epoch() == before + 1


def test_two_commits_in_place_of_ours_are_seen(store: Store, watch: CommitWatch) -> None:
    before = watch.epoch()
    begun = watch.begun()
    foreign(store)
    foreign(store)
    watch.ended(begun, has_changed=True)
    assert watch.epoch() == before + 1


def test_an_uncertain_commit_counts_as_another_programs(store: Store, watch: CommitWatch) -> None:
    before = watch.epoch()
    with store.transaction():
        store.login.accounts.add("bob", "", UNKNOWN)
        with suppress(DuplicateName):
            store.login.accounts.add("bob", "", UNKNOWN)
    assert watch.epoch() == before + 1
    with suppress(StoreError), store.transaction():
        store.login.accounts.add("carol", "", UNKNOWN)
        raise StoreError("taken back")
    assert watch.epoch() == before + 1, "nothing was committed"


@pytest.mark.parametrize(
    "statement", ["PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint(RESTART)", "SELECT 1"]
)
def test_what_commits_nothing_is_no_commit(
    store: Store, watch: CommitWatch, statement: str
) -> None:
    before = watch.epoch()
    foreign(store, statement)
    assert watch.epoch() == before
    foreign(store)
    assert watch.epoch() == before + 1


@pytest.mark.parametrize("statement", ["CREATE TABLE other (a)", "VACUUM"])
def test_changes_of_the_tables_themselves_are_seen(
    store: Store, watch: CommitWatch, statement: str
) -> None:
    before = watch.epoch()
    foreign(store, statement)
    assert watch.epoch() > before


def test_without_a_wal_index_no_commit_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "plain.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE t (a)")
    with pytest.raises(OSError, match="plain"):
        CommitCounter(path)
    for content in (b"", b"\0" * 48, b"\1" * 200):
        path.with_name("plain.sqlite-shm").write_bytes(content)
        with pytest.raises(ValueError, match=r"."):
            CommitCounter(path)


def test_the_mark_of_a_servers_keeper_is_one_of_its_own_commits(
    store: Store, watch: CommitWatch
) -> None:
    keeper = Keeper(store.path)
    keeper.watch = watch
    keeper.begin()
    before = watch.epoch()
    for number in range(3):
        store.login.accounts.add(f"account{number}", "", UNKNOWN)
        assert keeper.checkpoint() is None
    assert keeper.checkpoints >= 3
    assert watch.epoch() == before
    foreign(store)
    assert keeper.checkpoint() is None
    assert watch.epoch() == before + 1
    keeper.close()
