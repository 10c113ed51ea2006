"""The database file of a running server: checkpoints, and a check that it is still the same file.

A `Keeper` does the work in its own thread; the reactor never waits for it. A lost file is reported
once, in the log and by `problem`. From then on every call to the database is refused, so that
nothing is written into a file that no longer belongs to the server.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.config import DatabaseConfig
from emu.database.sqlite.commits import CommitWatch
from emu.database.sqlite.keeper import Keeper
from emu.database.sqlite.served import Loss, file_key, loss_text
from emu.errors import EmuError
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store_worker import StoreWorker
from emu.store.server_lock import ServerLock

_log = logger("database")


class Upkeep:
    """Maintains the database of a running server. `start`, then `stop`."""

    def __init__(
        self,
        config: DatabaseConfig,
        lock: ServerLock,
        reactor: Any,
        scheduler: Scheduler,
        lost: Callable[[str], object],
        *,
        commits: CommitWatch | None = None,
    ) -> None:
        """Make the upkeep; `open` opens the database.

        `lost` is called in another thread, with a line for the operator, when the file no longer
        belongs to the server. `commits` counts the server's own commits.
        """
        self._config = config
        self._lock = lock
        self._scheduler = scheduler
        self._lost = lost
        self._keeper = Keeper(config.path)
        self._keeper.watch = commits
        # A thread of its own: a checkpoint may wait for the disk while players are saved.
        self._worker = StoreWorker(reactor, nullcontext, name="emu-store-keep")
        self._is_open = False
        self._timers: list[DelayedCall] = []
        self._waiting: set[Callable[[], list[str]]] = set()
        self._troubles: dict[Callable[[], list[str]], str] = {}
        """The last error of each kind of work."""
        self.problem = ""
        """Why the server cannot use its database; empty while it can."""

    @property
    def checkpoints(self) -> int:
        """The number of complete checkpoints."""
        return self._keeper.checkpoints

    def open(self) -> None:
        """Open and mark the database. Raises `StoreError`."""
        self._lock.serve(self._keeper.begin())
        self._is_open = True

    def start(self) -> None:
        """Start the timers of checks and checkpoints."""
        config = self._config
        self._timers = [
            self._scheduler.every(config.watch_seconds, lambda: self._start_work(self._watch)),
            self._scheduler.every(
                config.checkpoint_seconds, lambda: self._start_work(self._write_out)
            ),
        ]

    async def stop(self) -> None:
        """Make a last checkpoint, and close the file.

        The last connection to close the file, this one or another, checkpoints its log.
        """
        for timer in self._timers:
            timer.cancel()
        # In the same thread, so after the work that still runs there.
        self._report(await self._worker.run(self._end))
        await self._worker.stop()

    def _start_work(self, work: Callable[[], list[str]]) -> None:
        """Start work in the thread, unless the same work still runs."""
        if self.problem or work in self._waiting:
            return
        self._waiting.add(work)
        done: Deferred[list[str]] = self._worker.run(work)
        done.addCallbacks(self._done, self._failed, callbackArgs=(work,), errbackArgs=(work,))

    def _done(self, errors: list[str], work: Callable[[], list[str]]) -> None:
        self._waiting.discard(work)
        # The next error of this work is logged again, even if it is the same.
        self._troubles.pop(work, None)
        self._report(errors)

    def _failed(self, failure: Failure, work: Callable[[], list[str]]) -> None:
        """Report a disk error once until it changes; the next timer tries again."""
        self._waiting.discard(work)
        trouble = failure.getErrorMessage()
        # Any other exception is a fault of this program and needs a traceback.
        if not failure.check(EmuError, OSError):  # type: ignore[no-untyped-call]
            _log.failure("the upkeep of the database failed", failure=failure)
        elif trouble != self._troubles.get(work):
            _log.error("{trouble}", trouble=trouble)
        self._troubles[work] = trouble

    @staticmethod
    def _report(errors: list[str]) -> None:
        for line in errors:
            _log.error("{line}", line=line)

    # -- in the thread --------------------------------------------------------------------------

    def _watch(self) -> list[str]:
        """Check the file and the server's record in it; return lines for the log."""
        loss = self._keeper.check()
        if loss is None and not self._lock.renew():
            # Another server took the lock while the lock file was missing.
            loss = Loss.REPLACED
        return self._judge(loss)

    def _write_out(self) -> list[str]:
        return self._judge(self._keeper.checkpoint())

    def _end(self) -> list[str]:
        try:
            return self._write_out() if self._is_open and not self.problem else []
        except (EmuError, OSError) as error:
            return [str(error)]
        finally:
            self._keeper.close()

    def _judge(self, loss: Loss | None) -> list[str]:
        """Stop all work on a lost file, and save a copy of its data if possible."""
        if loss is None or self.problem:
            return []
        self.problem = loss_text(self._config.path, loss, os.getpid())
        self._lost(self.problem)
        # The lock file may be gone with the database; `lose` writes its record into it.
        self._lock.renew()
        self._lock.lose(loss)
        lines = [f"{self.problem}; the server neither reads nor writes it any more"]
        # An overwritten file has no data of this server any more.
        if loss is not Loss.OVERWRITTEN:
            lines.append(self._rescue())
        self._keeper.abandon()
        return lines

    def _rescue(self) -> str:
        path = self._config.path
        moment = datetime.fromtimestamp(self._scheduler.moment(), UTC)
        copy = path.with_name(f"{path.name}.{moment:%Y%m%d-%H%M%S}.rescued")
        try:
            # The folder may have been removed together with the file.
            copy.parent.mkdir(parents=True, exist_ok=True)
            self._keeper.rescue(copy)
        except (EmuError, OSError) as error:
            return f"the stored data cannot be saved: {error}"
        return f"a copy of the stored data is saved in {copy}"


class ServerUpkeep:
    """What a database on a server needs: nothing but the record of this process beside its file."""

    problem = ""
    """A server that is away is no reason to refuse commands; see `emu.net.store_reach`."""

    def __init__(self, config: DatabaseConfig, lock: ServerLock) -> None:
        self._path = config.path
        self._lock = lock

    def open(self) -> None:
        """Record the process's own file."""
        self._lock.serve(file_key(self._path) or (0, 0))

    def start(self) -> None:
        """Do nothing: the server of the database makes its checkpoints."""

    async def stop(self) -> None:
        """Do nothing: the server of the database makes its checkpoints."""


def make_upkeep(
    config: DatabaseConfig,
    lock: ServerLock,
    reactor: Any,
    scheduler: Scheduler,
    lost: Callable[[str], object],
    *,
    commits: CommitWatch | None,
) -> Upkeep | ServerUpkeep:
    """Return what keeps the configured database in order; see `Upkeep`."""
    if isinstance(config.url, Path):
        return Upkeep(config, lock, reactor, scheduler, lost, commits=commits)
    return ServerUpkeep(config, lock)
