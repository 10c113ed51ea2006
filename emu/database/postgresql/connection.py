"""One connection to PostgreSQL, made when it is first needed and made anew when it was lost.

A thread that waits for a stopped server waits for ever: the kernel of that machine still answers,
so neither keepalives nor timeouts of TCP, of the server or of libpq end the wait. Only the end of
the connection's socket does. So another thread may call `shut_down` at any time.

The statements of a transaction are sent without waiting for each other's answers (libpq's pipeline
mode): with a database far away, each wait costs a player as much as the way there and back. The
wait comes when a result is first read, or with the end of the transaction.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from threading import Lock
from typing import Any, Final

import psycopg
from psycopg import RawCursor, pq
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrBinaryDumper

from emu.database.postgresql.errors import away
from emu.database.postgresql.statements import Statement
from emu.database.where import ServerUrl
from emu.errors import StoreError

CONNECT: Final = {
    # Seconds for one address; the smallest number that libpq takes.
    "connect_timeout": 2,
    # A cut wire is noticed within 3 seconds, whether or not something was sent.
    "tcp_user_timeout": 3000, "keepalives": 1, "keepalives_idle": 2, "keepalives_interval": 1,
    "keepalives_count": 3,
    "client_encoding": "UTF8",
    "application_name": "emu",
}  # fmt: skip
LEAST_VERSION: Final = 130000
"""The oldest version of the server that is supported, as libpq numbers them."""
_LOCK_TIMEOUT: Final = "SET lock_timeout = '2s'"
"""How long a statement waits for another program's lock."""


class _Text(StrBinaryDumper):
    """Texts with U+FFFD in place of NUL, which PostgreSQL's texts cannot have."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


_TYPES: Final = ((int, Int8BinaryDumper), (str, _Text))
"""One size for whole numbers, so that a statement is prepared once and not once for each size."""


def parameters(where: ServerUrl) -> dict[str, Any]:
    """Return the parameters of libpq for a connection."""
    given = {
        "host": where.host, "port": where.port, "user": where.user,
        "password": where.password, "dbname": where.database,
    }  # fmt: skip
    texts = {name: text for name, text in given.items() if text}
    return CONNECT | texts | dict(where.options)


class _Cursor(RawCursor[Any]):
    """The result of a statement; its number of rows waits for the answer, as its rows do."""

    pipeline: psycopg.Pipeline | None = None
    """The pipeline that the statement was sent in, if any."""

    @property
    def rowcount(self) -> int:
        if self.pipeline is not None and self.pgresult is None:
            self.pipeline.sync()
        return super().rowcount


class ServerConnection:
    """A connection for one thread at a time; only `shut_down` may be called from another one."""

    def __init__(self, where: ServerUrl, settings: Sequence[str] = ()) -> None:
        """`settings` are ``SET`` statements for each connection that is made."""
        self.where = where
        self._settings = "; ".join([_LOCK_TIMEOUT, *settings])
        self._statements: dict[str, Statement] = {}
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = Lock()
        """Held while the socket is exchanged, so that `shut_down` never meets another's number."""
        self.is_inside = False
        """Inside a transaction: a lost connection then fails, because its changes are lost."""
        self._is_changing = self._has_changed = False
        self._pipelining: AbstractContextManager[psycopg.Pipeline] | None = None
        """Ends the pipeline mode of the connection; None outside of it."""
        self._pipeline: psycopg.Pipeline | None = None
        self._may_connect = True
        self._was_shut_down = False
        self._is_stale = False
        """A migration changed the columns of a statement that this connection has prepared."""

    @property
    def is_changing(self) -> bool:
        """The next statement is a transaction by itself, which is never repeated."""
        return self._is_changing

    @is_changing.setter
    def is_changing(self, value: bool) -> None:
        self._is_changing, self._has_changed = value, False

    @property
    def is_cut(self) -> bool:
        """There is no usable connection now."""
        connection = self._connection
        return connection is None or connection.closed or self._was_shut_down

    @property
    def in_transaction(self) -> bool:
        """The server has an open transaction, failed or not; not for a pipeline that goes on."""
        connection = self._connection
        return connection is not None and connection.info.transaction_status in (
            pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR,
        )  # fmt: skip

    def execute(self, sql: str, values: Any = (), /) -> Any:
        """Carry out one statement. Raises `psycopg.Error`, and `StoreError` without a server."""
        statement = self._statements.get(sql)
        if statement is None:
            # Never cleared: the texts are those of the program.
            statement = self._statements[sql] = Statement(sql)
        given = statement.values(values)
        if self.is_inside:
            return self._run(self._used(), statement, given)
        if self.is_changing:
            if self._has_changed:
                raise StoreError("a change of one statement has a second one")
            self._has_changed = True
            self._leave_stale()
            return self._run(self._used(), statement, given)
        return self.again(lambda connection: self._run(connection, statement, given))

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Carry out one statement for each of these rows."""
        statement = Statement(sql)
        cursor = RawCursor(self._used())
        cursor.executemany(statement.sql, [statement.values(row) for row in rows])

    def command(self, sql: str) -> None:
        """Carry out statements without parameters and rows, in one message."""

        def send(connection: psycopg.Connection[Any]) -> None:
            RawCursor(connection).execute(sql.encode(), prepare=False)

        if self.is_inside:
            send(self._used())
        else:
            self.again(send)

    def again(self, call: Any) -> Any:
        """Carry out a call on the connection; on a new one if the old one turns out to be lost.

        For calls outside of a transaction, which change nothing: a server that was restarted since
        the last call has cut the connection.
        """
        was_open = not self.is_cut
        try:
            return call(self._used())
        except psycopg.OperationalError:
            # After `shut_down` the server does not answer, and the caller has waited long enough.
            if self._was_shut_down or not (was_open and self.is_cut):
                raise
        except psycopg.errors.FeatureNotSupported:
            # A migration changed the columns of a prepared statement.
            if self.is_cut or self.in_transaction:
                raise
            self.drop()
        return call(self._used())

    def begin(self, sql: bytes = b"") -> None:
        """Begin a group of statements, whose answers are not waited for; `sql` is its first one."""
        self._leave_stale()
        try:
            self._begin(sql)
        except psycopg.OperationalError:
            # Nothing was changed yet, so another connection may do it.
            if self._was_shut_down or not self.is_cut:
                raise
            self._begin(sql)

    def _begin(self, sql: bytes) -> None:
        connection = self._used()
        self.is_inside = True
        try:
            if psycopg.Pipeline.is_supported():
                self._pipelining = connection.pipeline()
                self._pipeline = self._pipelining.__enter__()
            if sql:
                self.send(sql)
        except BaseException:
            with suppress(psycopg.Error):
                self.end_pipeline()
            self.is_inside = False
            raise

    def send(self, *statements: bytes) -> psycopg.Cursor[Any]:
        """Send statements without parameters and rows; return the last one's cursor."""
        connection = self._used()
        for sql in statements:
            cursor = RawCursor(connection)
            cursor.execute(sql, prepare=False)
        return cursor

    def answers(self) -> None:
        """Wait for the answers of everything that was sent. Raises the first error."""
        if self._pipeline is not None:
            self._pipeline.sync()

    def end_pipeline(self) -> None:
        """Wait for all answers, and end the pipeline mode. Raises the first error."""
        pipelining, self._pipelining, self._pipeline = self._pipelining, None, None
        if pipelining is not None:
            pipelining.__exit__(None, None, None)

    def note(self, error: Exception) -> None:
        """Note an error: after some, the connection is made anew."""
        if isinstance(error, psycopg.errors.FeatureNotSupported):
            self._is_stale = True
            if not self.is_inside:
                self.drop()

    def outside(self) -> None:
        """Note the end of a transaction."""
        self.is_inside = False
        if self._is_stale:
            self.drop()

    def _leave_stale(self) -> None:
        """Close a connection that its server has ended since the last call.

        Changes are not repeated on another connection, so this is found out before.
        """
        if self.is_cut:
            return
        libpq = self._used().pgconn
        try:
            # The first call may find the server's last words, and only the second one its end.
            libpq.consume_input()
            libpq.consume_input()
        except psycopg.OperationalError:
            self.drop()

    def drop(self) -> None:
        """Close the connection; the next call makes a new one."""
        self._is_stale = False
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def close(self) -> None:
        """Close the connection for good."""
        self._may_connect = False
        self.drop()

    def shut_down(self) -> None:
        """End the connection's socket: a thread that waits for the server fails. Any thread."""
        with self._lock:
            connection = self._connection
            if connection is None or connection.closed:
                return
            self._was_shut_down = True
            # A copy of the descriptor: the driver closes the original.
            with (
                suppress(OSError, psycopg.Error),
                socket.socket(fileno=os.dup(connection.fileno())) as copy,
            ):
                copy.shutdown(socket.SHUT_RDWR)

    def information(self) -> psycopg.ConnectionInfo:
        """Return the driver's information about the connection, which is made if necessary."""
        return self._used().info

    def _run(self, connection: psycopg.Connection[Any], statement: Statement, values: Any) -> Any:
        cursor = _Cursor(connection, row_factory=statement.rows)
        cursor.pipeline = self._pipeline
        return cursor.execute(statement.sql, values)

    def _used(self) -> psycopg.Connection[Any]:
        """Return the connection. Raises `StoreAway` if there is none and none can be made."""
        connection = self._connection
        if connection is not None and not connection.closed and not self._was_shut_down:
            return connection
        if self.is_inside:
            raise away(self.where, "the connection was lost in a group of changes")
        self.drop()
        return self._connect()

    def _connect(self) -> psycopg.Connection[Any]:
        where = self.where
        if not self._may_connect:
            raise StoreError(f"{where}: is closed")
        try:
            made = psycopg.Connection.connect(autocommit=True, **parameters(where))
        except psycopg.Error as error:
            detail = where.hide(" ".join(str(error).split()))
            raise away(where, detail) from None
        if made.info.server_version < LEAST_VERSION:
            version = made.info.server_version // 10000
            made.close()
            raise StoreError(f"{where}: PostgreSQL {version} is too old; use 13 or newer")
        for kind, dumper in _TYPES:
            made.adapters.register_dumper(kind, dumper)
        with self._lock:
            self._connection = made
            self._was_shut_down = False
        made.execute(self._settings.encode())
        return made
