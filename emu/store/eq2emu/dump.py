"""Running an import: which table's rows are read when, tried on a copy, then stored in portions.

A dump has its tables in the order of the alphabet, colors before the characters they belong to. So
it is read several times, each time for the tables whose owners are known by then; going past other
tables' rows costs little.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable

from emu.errors import CommandError
from emu.sqldump import InsertRow
from emu.sqldump.report import ImportReport, Tally
from emu.store.eq2emu.characters import Characters
from emu.store.eq2emu.ids import Ids
from emu.store.eq2emu.logins import Logins, Rules
from emu.store.store import Store
from emu.times import Moment

PASSES = (
    ("account", "login_worldservers", "login_bannedips", "login_config", "appearances"),
    ("login_characters", "ls_world_zones"),
    ("login_char_colors", "login_equipment"),
)
"""Tables by the pass in which they are read: owners before what they own."""
TABLES = tuple(table for tables in PASSES for table in tables)

PORTION = 2000
"""Rows stored in one transaction; a running server cannot write meanwhile."""
LONGEST_HOLD = 0.25
"""Seconds of portions one after the other, before others get their turn."""
PAUSE = 0.12
"""Seconds of such a turn: whoever waits for SQLite's lock looks every tenth of a second."""

Read = Callable[[Collection[str]], Iterable[InsertRow]]
"""Reads the rows of some tables from the dump's beginning."""
Progress = Callable[[str, int], None]
"""Told what is being done, and how many rows were taken so far."""


def import_dump(
    store: Store,
    read: Read,
    *,
    clean_name: Callable[[str], str],
    moment: Moment,
    renumber: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda _doing, _rows: None,
) -> ImportReport:
    """Take the rows of `TABLES` into the store and tell what became of them.

    `read` reads the dump from its beginning, each time it is called. The whole of it is tried on a
    copy first: what cannot be read or is in the way leaves the store as it was, and with `dry_run`
    that is all. Then it is stored in portions, so that a running server can write between them; if
    that is interrupted, a second import goes on with it. `clean_name` returns an account name as it
    is to be stored, or raises `ValueError`. An id that belongs to another name here is a
    `CommandError`, unless `renumber` lets such rows have a new one. Raises `FileFormatError` from
    `read`.
    """
    rules = Rules(clean_name, moment, renumber)
    with store.copy() as trial:
        work = _Import(trial, rules, "Nothing was imported")
        work.run(read, lambda rows: progress("trying", rows), pause=False)
    if dry_run:
        return work.report
    work = _Import(store, rules, "What came before them in the dump was imported")
    work.run(read, lambda rows: progress("storing", rows), pause=True)
    return work.report


class _Import:
    """One import under way."""

    def __init__(self, store: Store, rules: Rules, refused: str) -> None:
        self.report = ImportReport({table: Tally() for table in TABLES})
        ids = Ids(store.login)
        self._store = store
        self._refused = refused
        """What an operator is told when ids are in the way."""
        self._logins = Logins(ids, self.report, rules)
        self._takes = {**self._logins.takes, **Characters(ids).takes}
        self._held = 0.0

    def run(self, read: Read, progress: Callable[[int], None], *, pause: bool) -> None:
        """Take all rows, a portion at a time; with `pause` others may write now and then."""
        count = 0
        for tables in PASSES:
            left = iter(read(tables))
            while portion := list(itertools.islice(left, PORTION)):
                self._store_portion(portion)
                count += len(portion)
                progress(count)
                if pause and self._held >= LONGEST_HOLD:
                    time.sleep(PAUSE)
                    self._held = 0.0

    def _store_portion(self, portion: list[InsertRow]) -> None:
        began = time.monotonic()
        with self._store.transaction():
            for row in portion:
                self._take(row)
            self._refuse_conflicts()
        self._held += time.monotonic() - began

    def _take(self, row: InsertRow) -> None:
        table = row.table.lower()
        added = self.report.take(row, self._takes[table])
        if added is not None:
            self.report.tables[table].added += added
            self.report.tables[table].present += not added

    def _refuse_conflicts(self) -> None:
        """Raise `CommandError` when ids are in the way; the caller undoes the portion."""
        conflicts = self._logins.conflicts
        if not conflicts:
            return
        shown = "; ".join(conflicts[:5])
        more = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
        raise CommandError(
            f"ids are taken: {shown}{more}. Worlds know accounts by id: remove what is in the way,"
            f" or use --renumber to give these rows new ids. {self._refused}"
        )
