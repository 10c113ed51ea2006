"""Whether the server of the database answers: deadlines of calls, and probes while it does not.

No timeout of TCP, of libpq or of the server ends a call to a server whose process is stopped, so
the reactor keeps the deadlines and ends the connection's socket.

A call that found no server may have lost its connection alone. A probe runs at once, and calls go
on until its answer: who asks again under the same identity must not be refused. From a probe that
fails, and from a call that is late, every call fails at once until a probe succeeds. Probes run
every second then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from twisted.python.failure import Failure

from emu.errors import StoreAway
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store_worker import StoreWorker
from emu.times import Monotonic

DEADLINE: Final = 5.0
"""Seconds that a call to the database may take."""
CHECK: Final = 0.25
"""Seconds between two looks at the calls that wait."""
PROBE: Final = 1.0
"""Seconds between two probes."""

_log = logger("database")


class Reach:
    """Whether the database can be reached, for all threads of one process.

    Implements `emu.net.store_worker.Reachability`. `watch` sets the threads.
    """

    def __init__(self, where: object, scheduler: Scheduler, *, deadline: float = DEADLINE) -> None:
        """`where` is the database's URL without its password."""
        self._where = where
        self._scheduler = scheduler
        self._deadline = deadline
        self._workers: Sequence[StoreWorker] = ()
        self._probe_call: Callable[[], object] = lambda: None
        self.problem: StoreAway | None = None
        """Why the database cannot be used; None while it can."""
        self._suspected: StoreAway | None = None
        """What a call found before the probe that runs now, while calls go on."""
        self._since = Monotonic(0.0)
        self._checking: DelayedCall | None = None
        self._probing: DelayedCall | None = None
        self._is_probing = self._is_closed = False
        self.times_away = 0
        """How many times the database was away."""

    def watch(self, workers: Sequence[StoreWorker], probe: Callable[[], object]) -> None:
        """Watch these threads; `probe` is a small call for the first of them."""
        self._workers = workers
        self._probe_call = probe

    def asked(self) -> None:
        """Note that a call waits: from now on its time is checked."""
        if self._checking is None:
            self._checking = self._scheduler.later(CHECK, self._check)

    def lost(self, error: StoreAway) -> None:
        """Note that a call found no server; a probe finds out whether there is one."""
        if self.problem is None and self._suspected is None and not self._is_closed:
            self._suspected = error
            self._probe()

    def _refuse(self, error: StoreAway) -> None:
        """Let every call fail from now on."""
        if self.problem is None and not self._is_closed:
            self.problem = error
            self.times_away += 1
            self._since = self._scheduler.now()
            _log.error("{error}; play goes on, and what is to be saved waits", error=str(error))

    def close(self) -> None:
        """End checks and probes, after the threads have ended."""
        self._is_closed = True
        for call in (self._checking, self._probing):
            if call is not None:
                call.cancel()

    def _check(self) -> None:
        waits = False
        for worker in self._workers:
            waits = waits or worker.waiting > 0
            if worker.is_overdue(self._deadline):
                worker.interrupt()
                self._refuse(
                    StoreAway(
                        f"{self._where}: the database does not answer: a call took"
                        f" {self._deadline:g} seconds"
                    )
                )
                self._probe()
        self._checking = self._scheduler.later(CHECK, self._check) if waits else None

    def _probe(self) -> None:
        """Ask the server, unless it is being asked or has answered."""
        is_wanted = self.problem is not None or self._suspected is not None
        if is_wanted and not self._is_probing and not self._is_closed:
            self._is_probing = True
            if self._probing is not None:
                self._probing.cancel()
            done = self._workers[0].probe(self._probe_call)
            done.addCallbacks(self._found, self._still_lost)

    def _found(self, _result: object) -> None:
        self._is_probing, suspected = False, self._suspected
        self._suspected = None
        if self.problem is not None:
            seconds = self._scheduler.now() - self._since
            self.problem = None
            _log.warn("the database is back after {seconds:.1f} seconds", seconds=seconds)
        elif suspected is not None:
            _log.warn("{error}; the database answers again", error=str(suspected))

    def _still_lost(self, _failure: Failure) -> None:
        self._is_probing, suspected = False, self._suspected
        self._suspected = None
        if suspected is not None:
            self._refuse(suspected)
        # The other connections were made before: what they send would be lost as well, and each
        # would wait for its own deadline.
        for worker in self._workers:
            worker.interrupt()
        self._probing = self._scheduler.later(PROBE, self._probe)
