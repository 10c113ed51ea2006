"""Fixtures: a store on each engine with an account and a world."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.store import Store
from emu.worlds import RegisteredWorld
from tests.support.database.engines import postgresql_store


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with nothing in it, on each engine that is there."""
    made = Store.create(tmp_path / "emu.sqlite") if request.param == "sqlite" else None
    with made or postgresql_store() as store:
        yield store


@pytest.fixture
def store(empty_store: Store) -> Store:
    """A store with account 1 and world 1."""
    return _filled(empty_store)


@pytest.fixture
def empty_sqlite_store(tmp_path: Path) -> Iterator[Store]:
    """A store with nothing in it, for tests of what only SQLite files can do."""
    with Store.create(tmp_path / "emu.sqlite") as store:
        yield store


@pytest.fixture
def sqlite_store(empty_sqlite_store: Store) -> Store:
    """The same with account 1 and world 1."""
    return _filled(empty_sqlite_store)


def _filled(store: Store) -> Store:
    store.login.accounts.add("Alice", "hash", 1.0)
    store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", "f" * 128))
    return store
