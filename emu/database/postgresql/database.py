"""`PostgresqlDatabase`: transactions on one connection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Self, TypeVar

from psycopg.types.numeric import Int8

from emu.database.catalog import CatalogTable
from emu.database.database import Database
from emu.database.dialect import Connection, Kind, SqlDialect
from emu.database.postgresql.catalog import read_tables
from emu.database.postgresql.connection import ServerConnection
from emu.database.postgresql.errors import EXPLAINED, explained
from emu.database.postgresql.migrations import check_schema, migrate, read_version
from emu.database.steps import Migration
from emu.database.where import ServerUrl
from emu.errors import StoreAway, StoreError
from emu.model import Durability

T = TypeVar("T")

_ARRAYS: Mapping[Kind, str] = {
    Kind.INTEGER: "bigint", Kind.REAL: "double precision", Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
}  # fmt: skip


def _array(values: Iterable[Any]) -> list[Any]:
    """Return values as the driver sends them in an array."""
    # The driver chooses the size of whole numbers by the values, and may send an array under the
    # size of the one before.
    return [Int8(value) if type(value) is int else value for value in values]


class PostgresqlDialect(SqlDialect):
    """The statements of PostgreSQL."""

    json_rows = "json_agg"
    json_row = "json_build_array"
    # The weakest lock of a row that changes: other rows may still refer to it.
    lock_rows = " FOR NO KEY UPDATE"
    # Not now(), which is the beginning of the transaction.
    clock = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"

    def among(self, column: str, values: Any) -> tuple[str, Any]:
        """Return the condition and its parameter; see `SqlDialect`."""
        return f"{column} = ANY(?)", _array(values)

    def update_many(
        self,
        connection: Connection,
        table: str,
        match: Mapping[str, Kind],
        columns: Mapping[str, Kind],
        rows: Sequence[tuple[Any, ...]],
        *,
        growing: str = "",
    ) -> list[Any]:
        """Change many rows in one statement; see `SqlDialect`."""
        every = {**match, **columns}
        arrays = ", ".join(f"?::{_ARRAYS[kind]}[]" for kind in every.values())
        pairs = ", ".join(f"{name} = given.{name}" for name in columns)
        chosen = " AND ".join(f"changed.{name} = given.{name}" for name in match)
        if growing:
            chosen += f" AND changed.{growing} < given.{growing}"
        first = next(iter(match))
        sql = (
            f"UPDATE {table} AS changed SET {pairs} FROM unnest({arrays})"  # noqa: S608
            f" AS given ({', '.join(every)}) WHERE {chosen} RETURNING given.{first}"
        )
        values = [_array(column) for column in zip(*rows, strict=True)]
        return [found for (found,) in connection.execute(sql, values).fetchall()]

    def after_given_id(self, connection: Connection, table: str, row_id: int) -> None:
        """Continue the table's sequence after an id; see `SqlDialect`."""
        sequence = f"{table}_id_seq"
        connection.execute(
            f"SELECT setval('{sequence}', greatest(last_value, ?)) FROM {sequence}",  # noqa: S608
            (row_id,),
        )

    def last_id(self, connection: Connection, table: str) -> int:
        """Return the greatest id that a table has assigned; see `SqlDialect`."""
        row = connection.execute(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END"  # noqa: S608  # our own names
            f" FROM {table}_id_seq"
        ).fetchone()
        return int(row[0])

    def continue_ids(self, connection: Connection, table: str, row_id: int) -> None:
        """Assign no id up to this one any more; see `SqlDialect`."""
        if row_id:
            self.after_given_id(connection, table, row_id)


class PostgresqlDatabase(Database):
    """A database on a PostgreSQL server, for one thread at a time.

    The connection is made at the first use and again after it was lost. While the server cannot be
    reached, every call raises `StoreAway`.
    """

    __slots__ = ("_depth", "_is_lasting", "_is_safe", "server", "where")

    dialect = PostgresqlDialect()
    is_shared = True
    errors: ClassVar[tuple[type[Exception], ...]] = EXPLAINED

    def __init__(self, where: ServerUrl, *, is_for_reading: bool = False) -> None:
        settings = ["SET default_transaction_read_only = on"] if is_for_reading else []
        self.server = ServerConnection(where, settings)
        super().__init__(where, self.server)
        self.where: ServerUrl = where
        self._depth = 0
        self._is_lasting = False
        self._is_safe = False

    @classmethod
    def open(
        cls,
        where: ServerUrl,
        steps: Sequence[Migration],
        *,
        wait: float = 0.0,  # noqa: ARG003  # a writer here blocks nobody
        is_for_reading: bool = False,
    ) -> Self:
        """Open a database with tables that this program can use. Raises `StoreError`."""
        opened = cls(where, is_for_reading=is_for_reading)
        try:
            with opened.explaining():
                check_schema(opened.server, where, steps)
        except BaseException:
            opened.close()
            raise
        return opened

    @classmethod
    def create(cls, where: ServerUrl, steps: Sequence[Migration], *, wait: float = 0.0) -> Self:
        """Open a database; make its tables if it has none."""
        opened = cls(where)
        try:
            with opened.explaining():
                migrate(opened.server, where, steps, only_if_empty=True)
        finally:
            opened.close()
        return cls.open(where, steps, wait=wait)

    @classmethod
    def check(cls, where: ServerUrl, steps: Sequence[Migration]) -> None:
        """Raise `StoreError` unless a server can start with the database, with tables or none."""
        with cls(where) as opened, opened.explaining():
            if read_version(opened.server).number:
                check_schema(opened.server, where, steps)

    @classmethod
    def upgrade(cls, where: ServerUrl, steps: Sequence[Migration]) -> list[int]:
        """Apply all missing migrations, and return their numbers. Raises `StoreError`."""
        with cls(where) as opened, opened.explaining():
            return migrate(opened.server, where, steps)

    def begin(self, *, is_lasting: bool = True) -> bool:
        """Begin a transaction or a savepoint; see `Database`."""
        if self.lost:
            raise StoreError(self.lost)
        is_savepoint = self._depth > 0
        if is_savepoint:
            self.server.send(b"SAVEPOINT inner_one")
            self._is_lasting = self._is_lasting or is_lasting
        else:
            self.server.begin(b"BEGIN")
            self._is_lasting = is_lasting
        self._depth += 1
        return is_savepoint

    def commit(self, *, is_savepoint: bool) -> None:
        """Store the changes since `begin`; if it raises, call `undo`."""
        if is_savepoint:
            self.server.send(b"RELEASE SAVEPOINT inner_one")
            # Waited for: an error belongs to this group, and not to the one around it.
            self.server.answers()
        elif self._is_lasting or self._is_safe:
            self._end(b"COMMIT")
        else:
            self._end(b"SET LOCAL synchronous_commit = off", b"COMMIT")
        self._depth -= 1

    def undo(self, *, is_savepoint: bool) -> None:
        """Undo the changes since `begin`."""
        self._depth -= 1
        server = self.server
        # A server that is gone has undone them by itself.
        with suppress(*EXPLAINED, StoreAway):
            if is_savepoint:
                # After a failed statement the server ignores everything up to here.
                with suppress(*EXPLAINED):
                    server.answers()
                server.send(b"ROLLBACK TO SAVEPOINT inner_one", b"RELEASE SAVEPOINT inner_one")
            else:
                with suppress(*EXPLAINED):
                    server.end_pipeline()
                if server.in_transaction:
                    server.send(b"ROLLBACK")
        if not is_savepoint:
            server.outside()

    def change_once(self, change: Callable[[], T]) -> T:
        """Carry out a change of one statement; see `Database`."""
        if self._depth:
            return super().change_once(change)
        self.check_lost()
        self.server.is_changing = True
        try:
            return change()
        finally:
            self.server.is_changing = False

    def after(self, rows: Any) -> Iterable[Any]:
        """Return the rows of a statement, which has no answer yet; see `Database`."""
        return rows  # type: ignore[no-any-return]

    def _end(self, *statements: bytes) -> None:
        server = self.server
        if server.is_cut:
            raise StoreAway(f"{self.where}: the connection was lost in a group of changes")
        ended = server.send(*statements)
        server.end_pipeline()
        if ended.statusmessage != "COMMIT":
            raise StoreError(f"{self.where}: a change failed, and nothing of its group is stored")
        server.outside()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read from one snapshot of the database, while other programs may write."""
        with self._reading(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """Read several times without waiting in between; see `Database`."""
        with self._reading() as connection:
            yield connection

    @contextmanager
    def _reading(self, begin: bytes = b"") -> Iterator[Connection]:
        self.check_lost()
        with self.explaining():
            if self._depth:
                yield self.connection
                return
            self.server.begin(begin)
            self._depth = 1
            try:
                yield self.connection
                if begin:
                    self.server.send(b"COMMIT")
                self.server.end_pipeline()
            finally:
                self.undo(is_savepoint=False)

    def read_texts(self, read: Callable[[], T], bad_text: str) -> T:  # noqa: ARG002
        """Read rows: the server stores only valid UTF-8."""
        return read()

    def explained(self, error: Exception) -> StoreError:
        """Return the `StoreError` for one of `errors`."""
        self.server.note(error)
        return explained(self.where, error, is_cut=self.server.is_cut)

    @contextmanager
    def trial(self) -> Iterator[Database]:
        """Try changes in a transaction that is undone in the end."""
        with self.explaining():
            is_savepoint = self.begin()
            try:
                yield self
            finally:
                self.undo(is_savepoint=is_savepoint)

    def tables_of(self) -> list[CatalogTable]:
        """Return the tables of the database."""
        with self.explaining():
            return read_tables(self.server)

    def set_durability(self, durability: Durability) -> None:
        """Set whether every commit waits for the server's disk."""
        self._is_safe = durability is Durability.SAFE

    def interrupt(self) -> None:
        """End the connection's socket, so that another thread's wait fails. Any thread."""
        self.server.shut_down()

    def close(self) -> None:
        """Close the connection; the database contains every acknowledged change."""
        self.server.close()
