"""The database of accounts and characters: PostgreSQL compared with a SQLite file.

Two servers run beside each other, one with each engine, and players log in at both in turn: CPU of
the server for one login, without characters and with three. And what the database's engine spends
for a saved row, many rows in a statement. ``EMU_POSTGRESQL`` names a server other than that of the
tests. The server of the database counts only in the last figure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from emu.database import Where
from emu.store import Store
from emu.times import Moment
from tests.support.database.engines import empty_database, run, server
from tools.bench.figures import Figure, Round
from tools.bench.login_child import CHEAP, login_child
from tools.bench.logins import at_once, make_known, measured
from tools.bench.processes import Child, cpu_seconds_of

PLAYERS = 100
BATCHES = 20
"""Groups of players for one round: a single one is too short to measure."""
ROWS = 512
"""Rows in one statement, as in a batch of deferred writes."""
AIM = "1.5"


@contextmanager
def served(characters: int, where: Where | None) -> Iterator[Child]:
    """Run a server whose players have logged in once."""
    with login_child(PLAYERS, *CHEAP, characters=characters, where=where) as child:
        make_known(child, PLAYERS)
        yield child


def cpu_of_a_login(child: Child) -> float:
    """Return the milliseconds of a server's CPU for one login."""
    runs = [measured(child, range(PLAYERS), at_once) for _ in range(BATCHES)]
    return sum(one.cpu for one in runs) / BATCHES


def rows_saved(store: Store, accounts: list[int]) -> tuple[float, float]:
    """Save the moments of many logins; return microseconds of CPU for a row: ours, the engine's."""
    connection = store.database.connection
    (process,) = connection.execute("SELECT pg_backend_pid()").fetchone()
    rows = [(one, "192.0.2.7", 546, Moment(9.0)) for one in accounts]
    begun, engine = time.process_time(), cpu_seconds_of(process)
    for _ in range(BATCHES):
        store.login.accounts.record_logins(rows)
    count = BATCHES * len(rows)
    ours, theirs = time.process_time() - begun, cpu_seconds_of(process) - engine
    return ours / count * 1e6, theirs / count * 1e6


def report(rounds: int) -> list[Figure]:
    """Compare the engines, round by round."""
    where, reason = server()
    if where is None:
        raise SystemExit(reason)
    found = []
    for characters in (0, 3):
        with ExitStack() as stack:
            made = stack.enter_context(empty_database())
            file, remote = (
                stack.enter_context(served(characters, place)) for place in (None, made)
            )
            measures = [Round(cpu_of_a_login(remote), cpu_of_a_login(file)) for _ in range(rounds)]
        what = f"a login on PostgreSQL, {characters} characters: CPU"
        found.append(Figure(what, "ms", "the same on SQLite", measures, AIM))
    with empty_database() as made, Store.create(made) as store:
        accounts = [store.login.accounts.add(f"p{one}", "", Moment(1.0)).id for one in range(ROWS)]
        run(made, "ANALYZE")
        rows_saved(store, accounts)
        saved = [rows_saved(store, accounts) for _ in range(rounds)]
    rounds_saved = [Round(theirs, ours) for ours, theirs in saved]
    what = f"a row of {ROWS} in one statement: CPU of PostgreSQL (at most 25)"
    return [*found, Figure(what, "us", "the server's own", rounds_saved)]
