"""PostgreSQL's errors are one line with the database, the fault and the cure."""

import psycopg
import pytest
from psycopg import errors

from emu.database import ServerUrl
from emu.database.postgresql.errors import explained
from emu.errors import DuplicateName, StoreAway, StoreError, StoreLocked

WHERE = ServerUrl.parse("postgresql://emu:secret@db/emu")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (errors.UniqueViolation("key\n  detail"), DuplicateName, "is taken (key detail)"),
        (errors.ForeignKeyViolation("no account"), StoreError, "refused a change"),
        (errors.LockNotAvailable("lock timeout"), StoreLocked, "holds a lock"),
        (errors.DeadlockDetected("deadlock"), StoreLocked, "try again"),
        (errors.InsufficientPrivilege("denied"), StoreError, "GRANT it"),
        (errors.DiskFull("no space"), StoreError, "disk or memory is full"),
        (errors.UndefinedTable("no table"), StoreError, "emu database check"),
        (errors.NumericValueOutOfRange("too large"), StoreError, "cannot be stored"),
        (OverflowError("too large"), StoreError, "cannot be stored"),
        (errors.AdminShutdown("stops"), StoreAway, "database is away"),
        (errors.TooManyConnections("too many clients"), StoreAway, "database is away"),
        (errors.ReadOnlySqlTransaction("a standby"), StoreAway, "database is away"),
        (OSError(32, "broken pipe"), StoreAway, "database is away"),
        (psycopg.ProgrammingError("wrong with secret"), StoreError, "wrong with ***"),
    ],
)
def test_an_error_is_one_line(error: Exception, kind: type[StoreError], words: str) -> None:
    found = explained(WHERE, error)
    assert type(found) is kind
    assert str(found).startswith("postgresql://emu@db/emu: ")
    assert words in str(found)
    assert "secret" not in str(found)


def test_whatever_happens_on_a_cut_connection_means_that_the_database_is_away() -> None:
    assert type(explained(WHERE, psycopg.OperationalError("x"), is_cut=True)) is StoreAway
    assert type(explained(WHERE, psycopg.OperationalError("x"))) is StoreError
