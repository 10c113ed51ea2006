"""The identity of a database: a random text that a restored backup gets anew.

Files beside a database that belong to its content name it, so that they are never applied to
another content under the same name (`emu.store.spool`).
"""

from __future__ import annotations

import secrets
import sqlite3
from typing import Final

from emu.store.store import Store

SOURCE: Final = "database"
NAME: Final = "identity"
_RENEW: Final = (
    "INSERT INTO settings (source, name, value) VALUES (?, ?, ?)"
    " ON CONFLICT (source, name) DO UPDATE SET value = excluded.value"
)


def identity(store: Store) -> str:
    """Return the identity of a database; empty if it has none yet. Raises `StoreError`."""
    return store.login.settings.of_source(SOURCE).get(NAME, "")


def made_identity(store: Store) -> str:
    """Return the identity of a database; make it if there is none. Raises `StoreError`."""
    if not identity(store):
        store.login.settings.put(SOURCE, NAME, secrets.token_hex(16))
    return identity(store)


def renew_identity(connection: sqlite3.Connection) -> None:
    """Give a copy of a database an identity of its own, if its version has a table for it."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone():
        with connection:
            connection.execute(_RENEW, (SOURCE, NAME, secrets.token_hex(16)))
