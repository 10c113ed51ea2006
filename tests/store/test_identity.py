"""The identity of a database: made once, kept, and new for a restored copy."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from emu.store import Store
from emu.store.identity import identity, made_identity, renew_identity


def test_it_is_made_once_and_a_copy_gets_another(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with Store.create(path) as store:
        assert identity(store) == ""
        first = made_identity(store)
        assert len(bytes.fromhex(first)) == 16
        assert made_identity(store) == identity(store) == first
    with closing(sqlite3.connect(path)) as copy:
        renew_identity(copy)
    with Store.open_for_reading(path) as store:
        assert identity(store) not in {"", first}


def test_a_schema_without_settings_stays_as_it_is() -> None:
    with closing(sqlite3.connect(":memory:")) as old:
        renew_identity(old)
        assert old.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
