"""A report on the server of a database, for operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from emu.database.postgresql.connection import ServerConnection
from emu.database.postgresql.database import PostgresqlDatabase
from emu.database.postgresql.migrations import read_version
from emu.database.steps import Migration
from emu.database.where import ServerUrl


@dataclass(slots=True)
class ServerReport:
    """The state of a server and of one of its databases."""

    version: str
    """That of PostgreSQL."""
    delay: float
    """Seconds of one round trip, the least of some."""
    skew: float
    """Seconds by which the server's clock is ahead of this machine's."""
    schema: int
    compatible: int
    newest: int
    """The version of the tables that this program has."""
    connections: int
    most_connections: int
    missing_rights: list[str] = field(default_factory=list)
    """Tables that the role may not read and change."""


def read_report(
    where: ServerUrl,
    steps: Sequence[Migration],
    moment: Callable[[], float],
    steady: Callable[[], float],
) -> ServerReport:
    """Connect, and return the report; `moment` and `steady` read clocks. Raises `StoreError`."""
    with PostgresqlDatabase(where) as database, database.explaining():
        server = database.server
        delay, skew = _times(server, moment, steady)
        version = read_version(server)
        used, most, name = server.execute(
            "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
            " current_setting('max_connections')::bigint, current_setting('server_version')"
        ).fetchone()
        tables = server.execute(
            # A list of rights in one call would mean any of them.
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND EXISTS"
            " (SELECT 1 FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed (one)"
            " WHERE NOT has_table_privilege(quote_ident(schemaname) || '.' ||"
            " quote_ident(tablename), needed.one)) ORDER BY tablename"
        )
        return ServerReport(
            name, delay, skew, version.number, version.compatible, steps[-1].number, used, most,
            [table for (table,) in tables],
        )  # fmt: skip


def _times(
    server: ServerConnection, moment: Callable[[], float], steady: Callable[[], float]
) -> tuple[float, float]:
    """Return the least time of a round trip, and how far the server's clock is ahead."""
    server.execute("SELECT 1")
    found = []
    for _ in range(5):
        begun, here = steady(), moment()
        (there,) = server.execute(
            "SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
        ).fetchone()
        took = steady() - begun
        # The server read its clock about in the middle.
        found.append((took, there - here - took / 2))
    return min(found)
