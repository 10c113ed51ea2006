"""The database file of a running server: checkpoints, and whether it is still the server's.

A `Keeper` does the work in a thread of its own, which the reactor never waits for. A loss is
reported once: the log has the error, and `problem` says that the server cannot serve. From then on
every call to the database is refused, so that nothing is written into a file that is not the
server's any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.config import DatabaseConfig
from emu.database.commits import CommitWatch
from emu.database.keeper import Keeper
from emu.database.served import Loss, loss_text
from emu.errors import EmuError
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store import StoreWorker
from emu.store.server_lock import ServerLock

_log = logger("database")


class Upkeep:
    """Keeps one database as long as a server runs. `start`, then `stop`."""

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
        """Open and mark the database; `lost` is called, in another thread, when it is not ours.

        Its argument is the line for the operator. `commits` counts the server's own commits.
        Raises `StoreError`.
        """
        self._config = config
        self._lock = lock
        self._scheduler = scheduler
        self._lost = lost
        self._keeper = Keeper(config.path)
        self._keeper.watch = commits
        self._worker = StoreWorker(reactor, nullcontext, name="emu-store-keep")
        self._lock.serve(self._keeper.begin())
        self._turns: list[DelayedCall] = []
        self._waiting: set[Callable[[], list[str]]] = set()
        self._troubles: dict[Callable[[], list[str]], str] = {}
        """What went wrong the last time, by what was to be done."""
        self.problem = ""
        """Why the server cannot use its database any more; empty while it can."""

    @property
    def checkpoints(self) -> int:
        """How many times the main file got all that was committed."""
        return self._keeper.checkpoints

    def start(self) -> None:
        """Look at the file and write it out from now on."""
        config = self._config
        self._turns = [
            self._scheduler.every(config.watch_seconds, lambda: self._ask(self._watch)),
            self._scheduler.every(config.checkpoint_seconds, lambda: self._ask(self._write_out)),
        ]

    async def stop(self) -> None:
        """Write out a last time what was committed, and close the file.

        Whoever closes the file last, this or another connection, writes out its log.
        """
        for turn in self._turns:
            turn.cancel()
        self._report(await self._worker.run(self._end))
        await self._worker.stop()

    def _ask(self, work: Callable[[], list[str]]) -> None:
        """Have something done in the thread, unless the last time is not done yet."""
        if self.problem or work in self._waiting:
            return
        self._waiting.add(work)
        done: Deferred[list[str]] = self._worker.run(work)
        done.addCallbacks(self._done, self._failed, callbackArgs=(work,), errbackArgs=(work,))

    def _done(self, errors: list[str], work: Callable[[], list[str]]) -> None:
        self._waiting.discard(work)
        self._troubles.pop(work, None)
        self._report(errors)

    def _failed(self, failure: Failure, work: Callable[[], list[str]]) -> None:
        """Report what goes wrong with the disk once, as long as it is the same; try again."""
        self._waiting.discard(work)
        trouble = failure.getErrorMessage()
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
        """Look at the file, and at the record of the server; return what the log is to say."""
        loss = self._keeper.check()
        if loss is None and not self._lock.renew():
            # Another server took the lock in a moment in which its file was away.
            loss = Loss.REPLACED
        return self._judge(loss)

    def _write_out(self) -> list[str]:
        return self._judge(self._keeper.checkpoint())

    def _end(self) -> list[str]:
        try:
            return [] if self.problem else self._write_out()
        except (EmuError, OSError) as error:
            return [str(error)]
        finally:
            self._keeper.close()

    def _judge(self, loss: Loss | None) -> list[str]:
        """Stop all work on a file that is not ours, and save what can be saved."""
        if loss is None or self.problem:
            return []
        self.problem = loss_text(self._config.path, loss, os.getpid())
        self._lost(self.problem)
        self._lock.renew()
        self._lock.lose(loss)
        lines = [f"{self.problem}; nothing is read from it or stored in it any more"]
        if loss is not Loss.OVERWRITTEN:
            lines.append(self._rescue())
        self._keeper.abandon()
        return lines

    def _rescue(self) -> str:
        path = self._config.path
        moment = datetime.fromtimestamp(self._scheduler.moment(), UTC)
        copy = path.with_name(f"{path.name}.{moment:%Y%m%d-%H%M%S}.rescued")
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            self._keeper.rescue(copy)
        except (EmuError, OSError) as error:
            return f"what the server had stored cannot be saved: {error}"
        return f"what the server had stored is saved in {copy}"
