"""Checks of a database on a PostgreSQL server: reach, delay, clock, tables, rights, connections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.cli.options import passing, present
from emu.cluster.ports import CLOCK_TOLERANCE
from emu.database import ServerUrl
from emu.database.engines import read_server
from emu.errors import StoreError
from emu.store.repository import schemas

DATABASE: Final = "database"
SLOW: Final = 0.02
"""Seconds of a round trip from which logins become slow."""
SKEW: Final = 1.0
"""Seconds between two clocks from which bans and times are wrong."""
FREE_CONNECTIONS: Final = 10
"""Connections that should be left: a server of ours takes four."""


def check_server_database(
    where: ServerUrl,
    moment: Callable[[], float] = present,
    steady: Callable[[], float] = passing,
) -> Iterator[Finding]:
    """Check the database without changing it."""
    try:
        report = read_server(where, schemas(), moment, steady)
    except StoreError as error:
        yield fail(DATABASE, str(error), "start the server of the database, or set [database] url")
        return
    yield ok(DATABASE, f"{where} is reached: PostgreSQL {report.version}")
    yield judge_delay(report.delay)
    yield judge_skew(report.skew)
    yield judge_tables(report.schema, report.newest, report.compatible)
    yield judge_rights(report.missing_rights)
    yield judge_connections(report.connections, report.most_connections)


def judge_delay(seconds: float) -> Finding:
    """Judge the time of a round trip."""
    text = f"a statement takes {seconds * 1000:.1f} ms"
    if seconds < SLOW:
        return ok(DATABASE, text)
    return warn(DATABASE, text, "run server and database in one place: a login takes four of them")


def judge_skew(seconds: float) -> Finding:
    """Judge the difference of the clocks."""
    text = f"its clock differs by {abs(seconds):.1f} s from this machine's"
    if abs(seconds) < SKEW:
        return ok(DATABASE, text)
    if abs(seconds) <= CLOCK_TOLERANCE:
        return warn(DATABASE, text, "set both clocks by NTP: bans and mutes end by them")
    return fail(DATABASE, f"{text}; a node here takes no zones", "set both clocks by NTP")


def judge_tables(present: int, newest: int, compatible: int) -> Finding:
    """Judge the version of the tables."""
    if present == newest:
        return ok(DATABASE, f"its schema is {present}, this program's")
    if not present:
        return warn(DATABASE, "it has no tables yet", "start a server, or emu database upgrade")
    if present < newest:
        return fail(
            DATABASE, f"its schema is {present}, this program's {newest}", "emu database upgrade"
        )
    if newest >= compatible:
        return ok(DATABASE, f"its schema is {present}, newer than this program's and compatible")
    return fail(
        DATABASE, f"its schema {present} needs a program of {compatible}; this one is {newest}",
        "upgrade the program",
    )  # fmt: skip


def judge_rights(missing: list[str]) -> Finding:
    """Judge the tables that the role may not use."""
    if not missing:
        return ok(DATABASE, "the role may read and change every table")
    return fail(
        DATABASE, f"the role may not read and change: {', '.join(missing[:5])}",
        "let the role own the tables: ALTER TABLE ... OWNER TO",
    )  # fmt: skip


def judge_connections(used: int, most: int) -> Finding:
    """Judge the number of connections that are left."""
    text = f"{used} of {most} connections are used"
    if most - used >= FREE_CONNECTIONS:
        return ok(DATABASE, text)
    return warn(DATABASE, text, "raise max_connections; a server takes four")
