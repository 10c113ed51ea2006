"""A model of a database on a server, behind the interface that the store uses of PostgreSQL.

The rows are in one SQLite database in memory. Each transaction is carried out as a whole, which is
what serializable transactions look like to their clients. The model adds what a network and a
server do: delay, a server that is away, a connection that breaks before a transaction, and an
answer that is lost after the commit. It does not show two transactions in progress at once.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from emu.database.database import Database
from emu.database.dialect import SqliteDialect
from emu.database.sqlite.database import SqliteDatabase
from emu.database.sqlite.files import EXPLAINED
from emu.database.sqlite.migrations import migrate
from emu.database.steps import Migration
from emu.database.where import ServerUrl
from emu.errors import StoreAway, StoreError
from emu.model import Durability
from emu.store.repository import schema
from tests.simulation.virtual_time import SimulatedProcess, Timeline


class _ModelDialect(SqliteDialect):
    """SQLite's statements, with the virtual clock."""

    clock = "simulated_clock()"


@cache
def empty_database() -> bytes:
    """Return an empty database with all tables."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, schema())
    data = connection.serialize()
    connection.close()
    return data


class ModelServer:
    """The server of one database."""

    present: ClassVar[ModelServer | None] = None
    """The server of the running simulation."""

    def __init__(self, timeline: Timeline, chance: random.Random) -> None:
        self.timeline = timeline
        self.chance = chance
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=256
        )
        self.connection.deserialize(empty_database())
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("PRAGMA foreign_keys = ON")
        # Deterministic in each statement: SQLite then asks it once, and not for each row.
        self.connection.create_function("simulated_clock", 0, self.clock, deterministic=True)
        self.is_away = False
        self.breaks = 0.0
        """Probability that a connection breaks before a transaction."""
        self.loses = 0.0
        """Probability that the answer to a commit is lost."""
        self.cut_off: set[str] = set()
        """Processes that do not reach the server."""
        self.opening: SimulatedProcess | None = None
        """The process that opens databases now."""
        self.lost_answers = 0

    def clock(self) -> float:
        """Return the server's clock: seconds since 1970."""
        return 1_700_000_000.0 + self.timeline.passed

    def close(self) -> None:
        """End the server."""
        self.connection.close()


class ModelDatabase(SqliteDatabase):
    """One connection of a process to the `ModelServer`."""

    __slots__ = ("process", "server")

    dialect = _ModelDialect()
    is_shared = True
    errors: ClassVar[tuple[type[Exception], ...]] = EXPLAINED

    def __init__(self, where: ServerUrl, server: ModelServer, *, is_for_reading: bool) -> None:
        super().__init__(Path("model"), _Checked(server.connection, self.check))  # type: ignore[arg-type]
        self.where = where  # type: ignore[assignment]
        self.server = server
        self.process = server.opening
        del is_for_reading

    @classmethod
    def open(  # type: ignore[override]
        cls, where: ServerUrl, _steps: Sequence[Migration], *, wait: float = 0.0,
        is_for_reading: bool = False,
    ) -> Self:  # fmt: skip
        del wait
        assert ModelServer.present is not None
        opened = cls(where, ModelServer.present, is_for_reading=is_for_reading)
        opened.check()
        return opened

    @classmethod
    def create(  # type: ignore[override]
        cls, where: ServerUrl, steps: Sequence[Migration], *, wait: float = 0.0
    ) -> Self:
        return cls.open(where, steps, wait=wait)

    def check(self) -> None:
        """Raise `StoreAway` if the server cannot be reached."""
        process = self.process
        if process is not None and process.is_dead:
            raise StoreAway("the process is dead")
        if self.server.is_away or (process is not None and process.name in self.server.cut_off):
            raise StoreAway(f"{self.where}: the server does not answer")

    def _break(self) -> None:
        self.check()
        server = self.server
        if server.breaks and server.chance.random() < server.breaks:
            raise StoreAway(f"{self.where}: the connection was lost")

    def begin(self, *, is_lasting: bool = True) -> bool:
        if not self._depth:
            self._break()
        return super().begin(is_lasting=is_lasting)

    def commit(self, *, is_savepoint: bool) -> None:
        super().commit(is_savepoint=is_savepoint)
        server = self.server
        if not is_savepoint and server.loses and server.chance.random() < server.loses:
            server.lost_answers += 1
            # The caller undoes what it believes is still open.
            self._depth += 1
            raise StoreAway(f"{self.where}: the connection was lost during a commit")

    @contextmanager
    def reading(self) -> Iterator[Any]:
        self._break()
        with super().reading() as connection:
            yield connection

    @contextmanager
    def trial(self) -> Iterator[Database]:  # type: ignore[override]
        raise StoreError("the model makes no copies")
        yield self

    def set_durability(self, durability: Durability) -> None:
        """Do nothing: the model loses nothing that it has committed."""

    def close(self) -> None:
        """Do nothing: the connection is the server's."""


class _Checked:
    """A connection that is asked only while the server is reached."""

    def __init__(self, connection: sqlite3.Connection, check: Callable[[], None]) -> None:
        self._connection = connection
        self._check = check

    def execute(self, sql: str, values: Any = (), /) -> Any:
        if not self._connection.in_transaction:
            self._check()
        return self._connection.execute(sql, values)

    def executemany(self, sql: str, rows: Any, /) -> Any:
        if not self._connection.in_transaction:
            self._check()
        return self._connection.executemany(sql, rows)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes
