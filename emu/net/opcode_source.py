"""The opcode tables in force: from the database, and again whenever an operator has edited them.

Has `emu.opcodes.watch` asked once a second, in a worker thread, whether anything was
committed. Sessions keep the table they have; a broken edit is refused, with the reason in the log,
and the tables before it stay in force.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.errors import StoreError
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.opcodes import OpcodeStore, OpcodeTables
from emu.opcodes.watch import OpcodeWatcher

INTERVAL = 1.0
MOST_CHANGES = 50
"""The most edits that a page shows."""

Run = Callable[[Callable[[], Any]], Deferred[Any]]
"""Carries calls out in one other thread, in the order they came."""

_log = logger("opcodes")


class OpcodeSource:
    """Holds the present tables; `start` begins to look for edits."""

    def __init__(self, path: Path, scheduler: Scheduler, run: Run) -> None:
        """Load the tables, the shipped ones first into a database that has none.

        `run` carries a call out in a thread, one after the other, and answers in the reactor's.
        Raises `StoreError` when the database cannot be used.
        """
        OpcodeStore.ensure(path).close()
        self._watcher = OpcodeWatcher(path, follows=False)
        tables = self._watcher.poll()
        if tables is None:
            self._watcher.close()
            raise StoreError(
                f"{path}: the opcode tables cannot be used: {self._watcher.problem}; "
                "see `emu opcodes check`"
            )
        self._tables = tables
        self._logged: str | None = None
        self._run = run
        self._asked = False
        self._is_lost = False
        self._scheduler = scheduler
        self._looking: DelayedCall | None = None

    def lose(self) -> None:
        """Look no more: another file may have the database's name. In any thread."""
        self._is_lost = True

    def tables(self) -> OpcodeTables:
        """Return the tables that new sessions use."""
        return self._tables

    def start(self) -> None:
        """Look for edits from now on."""
        self._looking = self._scheduler.every(INTERVAL, self.look)

    async def stop(self) -> None:
        """Look no more and let go of the file."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        await self._run(self._watcher.close)

    def look(self) -> None:
        """Look for edits now; what is found counts a moment later."""
        if not self._asked and not self._is_lost:  # the last read may take longer than a second
            self._asked = True
            self._run(self._watcher.poll).addCallbacks(self._seen, self._not_seen)

    async def reread(self) -> str:
        """Look for edits and say what came of it. Raises `StoreError` when one is refused."""
        fresh = await self._run(self._watcher.poll)
        self._take(fresh)
        if self._watcher.problem is not None:
            raise StoreError(self._watcher.problem)
        return "nothing was edited" if fresh is None else "new sessions use the edited tables"

    def _seen(self, fresh: OpcodeTables | None) -> None:
        self._asked = False
        self._take(fresh)

    def _not_seen(self, failure: Failure) -> None:
        """Note that a read failed; the next one is made all the same."""
        self._asked = False
        _log.failure("looking for edits of the opcode tables failed", failure)

    def _take(self, fresh: OpcodeTables | None) -> None:
        if fresh is not None:
            self._tables = fresh
            _log.info("the opcode tables were edited; new sessions use them")
        problem = self._watcher.problem
        if problem != self._logged:
            self._logged = problem
            if problem is not None:
                _log.error("an edit of the opcode tables is refused: {reason}", reason=problem)


def last_changes(path: Path) -> list[dict[str, Any]]:
    """Return the newest edits of the tables, for a page; those that came with the program are none.

    Raises `StoreError`.
    """
    with OpcodeStore.open_to_read(path) as store:
        return [
            {
                "time": entry.at,
                "who": entry.who,
                "action": entry.action,
                "what": f"{entry.action} {entry.row.name} of {entry.row.range}",
            }
            for entry in store.history(limit=MOST_CHANGES)
            if entry.action != "shipped"
        ]
