"""`Database`: what repositories need of an engine. Every failure is a `StoreError`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Self, TypeVar

from emu.database.catalog import CatalogTable
from emu.database.dialect import Connection, SqlDialect
from emu.database.where import Where
from emu.errors import StoreError
from emu.model import Durability

T = TypeVar("T")


class Database(ABC):
    """An open database, for one thread at a time.

    `begin`, `commit` and `undo` are `transaction` without the cost of a context manager. They and
    `connection` raise `errors`.
    """

    __slots__ = ("connection", "lost", "warn", "where")

    dialect: ClassVar[SqlDialect]
    is_shared: ClassVar[bool] = False
    """Several servers may change the rows, and nothing shows that."""
    errors: ClassVar[tuple[type[Exception], ...]]
    """The exceptions of the driver, which `explained` turns into a `StoreError`."""

    def __init__(self, where: Where, connection: Any) -> None:
        self.where = where
        self.connection: Connection = connection
        self.lost = ""
        """Why the database must not be used any more; empty while it may. See `check_lost`."""
        self.warn: Callable[[str], object] = _ignore
        """Receives a line for each stored value that is unusable, with its replacement."""

    @abstractmethod
    def begin(self, *, is_lasting: bool = True) -> bool:
        """Begin a transaction, or a savepoint in the open one; return whether it is a savepoint.

        Unless one of its changes `is_lasting`, a crash of the database server may lose a
        transaction of the last second.
        """

    @abstractmethod
    def commit(self, *, is_savepoint: bool) -> None:
        """Store the changes since `begin`; if it raises, call `undo`."""

    @abstractmethod
    def undo(self, *, is_savepoint: bool) -> None:
        """Undo the changes since `begin`."""

    def change_once(self, change: Callable[[], T]) -> T:
        """Carry out a call that changes the database with one statement, and return its result.

        An engine that needs no transaction for that makes none. Raises `errors`.
        """
        is_savepoint = self.begin()
        try:
            result = change()
            self.commit(is_savepoint=is_savepoint)
        # BaseException: an interrupt must not leave a transaction open.
        except BaseException:
            self.undo(is_savepoint=is_savepoint)
            raise
        return result

    def after(self, rows: Any) -> Iterable[Any]:
        """Return the rows of a statement in a form that can be read after `commit`."""
        return list(rows)

    def asking(self) -> AbstractContextManager[Connection]:
        """Read several times; an engine on a server is asked everything before it answers.

        Each statement sees the database at its own moment. Read the rows only after all statements.
        """
        return self.reading()

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Read from one snapshot of the database, while other programs may write."""

    @abstractmethod
    def read_texts(self, read: Callable[[], T], bad_text: str) -> T:
        """Read rows; decode texts that are not UTF-8 with the error handler `bad_text`."""

    @abstractmethod
    def explained(self, error: Exception) -> StoreError:
        """Return the `StoreError` for one of `errors`: one line with the cure."""

    @abstractmethod
    def trial(self) -> AbstractContextManager[Database]:
        """Open a database with the same content, to try changes; none of them stays."""

    @abstractmethod
    def tables_of(self) -> list[CatalogTable]:
        """Return the tables of the database."""

    @abstractmethod
    def set_durability(self, durability: Durability) -> None:
        """Set when commits are written to disk; a new connection has `Durability.FAST`."""

    @abstractmethod
    def interrupt(self) -> None:
        """End another thread's wait for the server, which then fails; a file has none."""

    def ping(self) -> None:
        """Ask the database for nothing. Raises `StoreError` if it does not answer."""
        with self.explaining():
            self.connection.execute("SELECT 1").fetchone()

    @abstractmethod
    def close(self) -> None:
        """Close the connection; the database contains every acknowledged change."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def check_lost(self) -> None:
        """Raise `StoreError` if the database must not be used any more."""
        if self.lost:
            raise StoreError(self.lost)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn the driver's errors into `StoreError`."""
        try:
            yield
        except self.errors as error:
            raise self.explained(error) from error

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Store all changes inside the block, or none.

        Inside another transaction it is a savepoint: it can fail without the rest.
        """
        with self.explaining():
            is_savepoint = self.begin()
            try:
                yield self.connection
                self.commit(is_savepoint=is_savepoint)
            # BaseException: an interrupt in the middle of a transaction must undo it, too.
            except BaseException:
                self.undo(is_savepoint=is_savepoint)
                raise


def _ignore(_line: str) -> None:
    """Drop a warning; the default of `Database.warn`."""
