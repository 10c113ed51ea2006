"""Fixtures: a store with an account and a world."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.model import RegisteredWorld
from emu.store import Store


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[Store]:
    """A store with nothing in it."""
    with Store.create(tmp_path / "emu.sqlite") as store:
        yield store


@pytest.fixture
def store(empty_store: Store) -> Store:
    """A store with account 1 and world 1."""
    empty_store.login.accounts.add("Alice", "hash", 1.0)
    empty_store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", "f" * 128))
    return empty_store
