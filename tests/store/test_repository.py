"""The decorators of repository methods: how each kind uses the database."""

import sqlite3
from contextlib import closing

import pytest

from emu.errors import StoreError
from emu.store import Store
from emu.store.repository import Repository, changes, reads, views


class Names(Repository):
    @changes
    def swap(self, first: str, second: str) -> None:
        """Give two accounts each other's name."""
        self._run("UPDATE accounts SET name_key = name_key || '?' WHERE name = ?", (first,))
        self._run("UPDATE accounts SET name_key = 'c' WHERE name = ?", (second,))
        if first == second:
            raise ZeroDivisionError

    @views
    def twice(self, other: sqlite3.Connection) -> tuple[int, int]:
        first = self._run("SELECT count(*) FROM accounts").fetchone()[0]
        other.execute("DELETE FROM accounts")
        return first, self._run("SELECT count(*) FROM accounts").fetchone()[0]

    @reads
    def wrong(self) -> None:
        self._run("SELECT * FROM nowhere")


def keys(store: Store) -> list[str]:
    rows = store.database.connection.execute("SELECT name_key FROM accounts ORDER BY id")
    return [row["name_key"] for row in rows]


def test_a_change_is_a_transaction_and_inside_another_one_a_savepoint(store: Store) -> None:
    names = Names(store.database)
    with pytest.raises(ZeroDivisionError):
        names.swap("Alice", "Alice")
    assert keys(store) == ["alice"]
    with store.transaction():
        names.swap("Alice", "nobody")
        with pytest.raises(ZeroDivisionError):
            names.swap("Alice", "Alice")
    assert keys(store) == ["alice?"]


def test_a_view_sees_one_state(sqlite_store: Store) -> None:
    with closing(sqlite3.connect(sqlite_store.path, isolation_level=None)) as other:
        assert Names(sqlite_store.database).twice(other) == (1, 1)
    assert keys(sqlite_store) == []


def test_a_failing_read_names_the_file(sqlite_store: Store) -> None:
    with pytest.raises(StoreError, match=rf"^{sqlite_store.path}: no such table"):
        Names(sqlite_store.database).wrong()


def test_methods_keep_their_names_and_words() -> None:
    assert Names.swap.__name__ == "swap"
    assert Names.swap.__doc__ == "Give two accounts each other's name."
