"""What notes and questions of other processes came to here: told with its traceback, then counted.

A process that is known is still another program: it may be of another version, or out of its mind,
and send the same nonsense a thousand times a second.
"""

from __future__ import annotations

from typing import Final

from twisted.python.failure import Failure

from emu.net.logs import logger
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler

_log = logger("processes")
WHO: Final = "another process"


class Faults:
    """Is called with what a subscriber or an answerer raised. `start`, then `stop`."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._refusals = RefusalLog(_log, scheduler)

    def start(self) -> None:
        """Sum up from now on."""
        self._refusals.start()

    def stop(self) -> None:
        """Write what was counted last."""
        self._refusals.stop()

    def __call__(self, error: Exception) -> None:
        """Take a fault."""
        reason = f"{type(error).__name__}: {error}"
        if self._refusals.is_news("faults", "", WHO, reason):
            _log.failure(
                "what another process told or asked came to grief",
                failure=Failure(error),  # type: ignore[no-untyped-call]
            )
