"""The return to a backup: the backup replaces the database, and the present database is kept.

The server must be stopped: `emu.store.server_lock` keeps it from starting meanwhile. The backup is
checked and written beside the database under a temporary name first, so a failure or a kill at any
moment leaves a complete database. The restored one has an identity of its own, so unsaved players
of the database before are never applied to it (`emu.store.identity`).
"""

from __future__ import annotations

import glob
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from emu.database.sqlite.files import (
    back_up,
    check_version,
    connect_database,
    copy_into,
    readable_errors,
)
from emu.database.sqlite.served import log_files
from emu.errors import StoreError, StoreLocked
from emu.files import partial_file, take_name
from emu.store.identity import renew_identity
from emu.store.repository import schema
from emu.store.server_lock import ServerLock
from emu.store.spool import spool_path
from emu.system import flush
from emu.times import Moment


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of `restore`: what was kept, and what the database has now."""

    kept: Path | None
    """The database before, None if there was none."""
    unsaved: Path | None
    """The file of unsaved players that belonged to it, under its new name; None without one."""
    accounts: int
    characters: int


def restore(backup: Path, database: Path, moment: Moment) -> Restored:
    """Replace a database by a backup of it; keep the present one beside it.

    Raises `StoreError` if the backup is damaged, of another program or of a newer version, if a
    server runs, or if another program uses the database. Then nothing is changed.
    """
    # A restore from itself would read the file that it replaces.
    if backup.exists() and database.exists() and backup.samefile(database):
        raise StoreError(f"{backup}: is the database itself; name a backup")
    if not backup.is_file():
        raise StoreError(f"{backup}: there is no such backup")
    date = f"{datetime.fromtimestamp(moment, UTC):%Y%m%d-%H%M%S}"
    # `anew`: an earlier server may have lost the database that is restored here.
    with ServerLock(database, anew=True):
        # Programs up to 0.1 left these, with password hashes, when they were killed.
        for left in database.parent.glob(f".{glob.escape(database.name)}.*.restoring"):
            left.unlink(missing_ok=True)
        with readable_errors(database), partial_file(database) as fresh:
            accounts, characters = _copy(backup, fresh)
            # Before the replacement: until the new file has the name, the old one is complete.
            kept = _keep(database, database.with_name(f"{database.name}.{date}.before-restore.bak"))
            # `replace` is one step of the file system, so the name always stands for a complete
            # database.
            fresh.replace(database)
            # The unsaved players belong to the old database. A start after a kill at this moment
            # sees that by their identity.
            unsaved = _set_aside(spool_path(database), f".{date}.before-restore")
            flush(database.parent)
    return Restored(kept, unsaved, accounts, characters)


def _copy(backup: Path, fresh: Path) -> tuple[int, int]:
    """Check a backup and copy it; return the numbers of its accounts and characters."""
    with closing(connect_database(backup)) as connection, readable_errors(backup):
        check_version(backup, connection, schema())
        if not schema().version(connection):
            raise StoreError(f"{backup}: is no backup: it has no accounts and characters")
        # The whole check, slower than that of a start: a restore is the last moment to notice
        # damage.
        verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if verdict != "ok":
            reason = " ".join(verdict.split())
            raise StoreError(f"{backup}: is damaged ({reason}); restore another backup")
        copy_into(connection, fresh, backup, renew_identity)
        return _count(connection, "accounts"), _count(connection, "characters")


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def _keep(database: Path, kept: Path) -> Path | None:
    """Copy the present database, and remove its logs; move a damaged one with its logs."""
    if not database.exists():
        # Logs without a database would be read with the restored one.
        for log in log_files(database):
            _set_aside(log, ".before-restore")
        return None
    if _is_intact(database):
        with closing(connect_database(database)) as connection, readable_errors(database):
            back_up(connection, kept)
            # Other programs must have closed the file, or its log would damage the new one.
            try:
                _leave_log(connection, database)
            except BaseException:
                # Nothing was restored, so the copy would only confuse the operator.
                kept.unlink()
                raise
    else:
        with readable_errors(database):
            # A damaged database is moved with its logs: some tool may still rescue its rows.
            for log in log_files(database):
                _set_aside(log, "", kept.with_name(log.name.replace(database.name, kept.name)))
            # A second name: a kill before the restored file has the first one must not leave none.
            if not take_name(database, kept):
                database.replace(kept)
    return kept


def _leave_log(connection: sqlite3.Connection, database: Path) -> None:
    """Remove the log of a database: with another main file it would damage that one."""
    if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
        raise StoreError(f"{database}: another program uses it; end that program first")


def _is_intact(database: Path) -> bool:
    """Return whether a database is intact. Raises `StoreError` if another program has locked it."""
    try:
        with closing(connect_database(database)) as connection, readable_errors(database):
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except StoreLocked:
        # A lock says nothing about damage. The operator has to end the other program first.
        raise
    except StoreError:
        return False


def _set_aside(path: Path, suffix: str, target: Path | None = None) -> Path | None:
    """Rename a file that belongs to the database before; return its new name, None without one."""
    if not path.exists():
        return None
    return path.replace(target or path.with_name(f"{path.name}{suffix}"))
