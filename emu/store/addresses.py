"""Rows of banned addresses; what a ban covers is `emu.limits.bans`."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class BannedAddress:
    """One ban. `until` is the unix time at which it ends, None for never."""

    prefix: str
    """As `emu.limits.bans.normalize_prefix` spells it."""
    reason: str = ""
    added: Moment = UNKNOWN
    until: Moment | None = None


def ban(connection: sqlite3.Connection, entry: BannedAddress) -> bool:
    """Store a ban; one for the same prefix is replaced. True when it is new."""
    known = is_stored(connection, entry.prefix)
    connection.execute(
        "INSERT OR REPLACE INTO banned_addresses (prefix, reason, added, until)"
        " VALUES (?, ?, ?, ?)",
        (entry.prefix, entry.reason, entry.added, entry.until),
    )
    return not known


def is_stored(connection: sqlite3.Connection, prefix: str) -> bool:
    """Say whether there is a ban of exactly this prefix, ended or not."""
    found = connection.execute("SELECT 1 FROM banned_addresses WHERE prefix = ?", (prefix,))
    return found.fetchone() is not None


def lift(connection: sqlite3.Connection, prefix: str) -> bool:
    """Remove a ban; True when there was one."""
    gone = connection.execute("DELETE FROM banned_addresses WHERE prefix = ?", (prefix,))
    return gone.rowcount == 1


def every(connection: sqlite3.Connection) -> list[BannedAddress]:
    """Return all bans, ended ones too."""
    rows = connection.execute(
        "SELECT prefix, reason, added, until FROM banned_addresses ORDER BY prefix"
    )
    return [BannedAddress(**dict(row)) for row in rows]
