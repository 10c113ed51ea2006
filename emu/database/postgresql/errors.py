"""PostgreSQL's errors as `StoreError`: one line with the database, the fault and the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg import errors

from emu.database.where import ServerUrl
from emu.errors import DuplicateName, StoreAway, StoreError, StoreLocked

EXPLAINED: Final = (psycopg.Error, UnicodeError, OverflowError, OSError)
"""Errors that `explained` turns into a `StoreError`."""
_AWAY: Final = (
    # The server stops, starts, recovers, is a standby, or has no connection left.
    errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleSessionTimeout,
    errors.ReadOnlySqlTransaction, errors.TooManyConnections,
)  # fmt: skip
_TEXTS: Final[Sequence[tuple[Any, type[StoreError], str]]] = (
    (errors.UniqueViolation, DuplicateName, "that name or number is taken ({})"),
    (
        (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure),
        StoreLocked,
        "another program holds a lock; try again ({})",
    ),
    # The next try prepares the statement anew.
    (errors.FeatureNotSupported, StoreLocked, "its tables were changed ({}); try again"),
    (
        errors.InsufficientPrivilege,
        StoreError,
        "the role may not do that ({}); let it own the tables, or GRANT it its rights on them",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        StoreError,
        "the server's disk or memory is full ({}); free some",
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn),
        StoreError,
        "the tables are not those of this program ({}); see `emu database check`",
    ),
    (errors.IntegrityError, StoreError, "refused a change ({})"),
    (
        (errors.DataError, UnicodeError, OverflowError),
        StoreError,
        "a value cannot be stored ({})",
    ),
)
"""Kinds of errors, what they become, and the fault and the cure with a place for the detail."""


def explained(where: ServerUrl, error: Exception, *, is_cut: bool = False) -> StoreError:
    """Return the `StoreError` for one of the `EXPLAINED`.

    `is_cut`: the connection does not exist any more, so the server may not have got the statement.
    """
    detail = where.hide(" ".join(str(error).split()))
    if is_cut or isinstance(error, (*_AWAY, OSError)):
        return away(where, detail)
    for kinds, error_class, text in _TEXTS:
        if isinstance(error, kinds):
            return error_class(f"{where}: {text.format(detail)}")
    return StoreError(f"{where}: {detail}")


def away(where: ServerUrl, detail: str) -> StoreAway:
    """Return the error for a server that cannot be reached, or does not answer."""
    return StoreAway(
        f"{where}: the database is away ({detail}); check the server and [database] url"
    )
