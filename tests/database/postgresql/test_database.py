"""Transactions on PostgreSQL: complete or not at all, and never repeated on a new connection."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from emu.database.postgresql import PostgresqlDatabase
from emu.errors import DuplicateName, StoreAway, StoreError, StoreLocked
from emu.model import Durability
from emu.store import Store
from tests.support.database.engines import postgresql_store, run


@pytest.fixture
def store() -> Iterator[Store]:
    with postgresql_store() as opened:
        yield opened


@pytest.fixture
def database(store: Store) -> PostgresqlDatabase:
    assert isinstance(store.database, PostgresqlDatabase)
    return store.database


def add(database: PostgresqlDatabase, name: str) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO models VALUES (?, 1)", (name,))


def names(database: PostgresqlDatabase) -> list[str]:
    return [
        name for (name,) in database.connection.execute("SELECT path FROM models ORDER BY path")
    ]


def test_a_group_is_stored_whole_and_its_savepoints_fail_alone(
    database: PostgresqlDatabase,
) -> None:
    with database.transaction():
        add(database, "a")
        with pytest.raises(DuplicateName):
            add(database, "a")
        with pytest.raises(ZeroDivisionError), database.transaction():  # noqa: PT012
            add(database, "b")
            raise ZeroDivisionError
        add(database, "c")
    assert names(database) == ["a", "c"]
    with pytest.raises(ZeroDivisionError), database.transaction():  # noqa: PT012
        add(database, "d")
        raise ZeroDivisionError
    assert names(database) == ["a", "c"]


def test_a_view_stays_the_same_while_others_write(database: PostgresqlDatabase) -> None:
    add(database, "a")
    with closing(PostgresqlDatabase(database.where)) as other:
        with database.reading():
            assert names(database) == ["a"]
            add(other, "b")
            assert names(database) == ["a"]
            with database.reading():
                assert names(database) == ["a"], "a view within a view is the same view"
        assert names(database) == ["a", "b"]


def test_a_trial_leaves_nothing(database: PostgresqlDatabase) -> None:
    with database.trial() as tried:
        assert tried is database
        add(database, "a")
        assert names(database) == ["a"]
    assert names(database) == []


def test_a_connection_that_is_lost_in_a_group_undoes_all_of_it(
    database: PostgresqlDatabase,
) -> None:
    with pytest.raises(StoreAway), database.transaction():  # noqa: PT012
        add(database, "a")
        process = database.connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        run(database.where, f"SELECT pg_terminate_backend({process})")
        with pytest.raises(StoreAway):
            add(database, "b")
        add(database, "c")
    assert names(database) == []
    add(database, "d")
    assert names(database) == ["d"]


def test_a_lock_that_does_not_end_is_one_line(database: PostgresqlDatabase) -> None:
    with closing(PostgresqlDatabase(database.where)) as other, database.transaction() as connection:
        connection.execute("LOCK TABLE models")
        other.server.command("SET lock_timeout = '20ms'")
        with pytest.raises(StoreLocked, match="another program holds a lock"):
            add(other, "a")


@pytest.mark.parametrize(
    ("durability", "lasting", "expected"),
    [
        (Durability.FAST, [True], "on"),
        (Durability.FAST, [False], "off"),
        (Durability.FAST, [False, True], "on"),
        (Durability.SAFE, [False], "on"),
    ],
)
def test_only_saves_do_not_wait_for_the_disk(
    database: PostgresqlDatabase,
    monkeypatch: pytest.MonkeyPatch,
    durability: Durability,
    lasting: list[bool],
    expected: str,
) -> None:
    sent: list[tuple[bytes, ...]] = []
    usual = database.server.send

    def send(_server: object, *statements: bytes) -> object:
        sent.append(statements)
        return usual(*statements)

    monkeypatch.setattr(type(database.server), "send", send)
    database.set_durability(durability)
    depth = [database.begin(is_lasting=one) for one in lasting]
    for is_savepoint in reversed(depth):
        database.commit(is_savepoint=is_savepoint)
    assert (b"SET LOCAL synchronous_commit = off" in sent[-1]) == (expected == "off")


def test_a_reading_connection_changes_nothing(database: PostgresqlDatabase) -> None:
    with Store.open_for_reading(database.where) as seen:
        assert seen.login.accounts.every() == []
        with pytest.raises(StoreError):
            seen.login.accounts.add("Bob", "hash", 1.0)


def test_a_lost_database_is_not_used(database: PostgresqlDatabase) -> None:
    database.lost = "gone"
    for call in (database.begin, lambda: database.reading().__enter__()):
        with pytest.raises(StoreError, match="gone"):
            call()
    database.lost = ""


def test_the_first_of_a_name_wins_a_race(store: Store) -> None:
    with Store.open(store.where) as other:
        other.database.begin()
        other.login.accounts.add("Alice", "hash", 1.0)
        assert store.login.accounts.find("alice") is None, "not committed yet"
        other.database.commit(is_savepoint=False)
        with pytest.raises(DuplicateName):
            store.login.accounts.insert(replace(other.login.accounts.every()[0], id=0))
