"""Connections that are closed at once because the process may open no more files: said and counted.

Twisted closes them, and tells only those who look for faults in it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from zope.interface import implementer

from emu.limits.addresses import plain_host
from emu.net.logs import logger
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch

_log = logger("server")
_TOLD: Final = "EMFILE recovery: Closed socket from {address}"
REASON: Final = "no file is free"


@implementer(ILogObserver)
class OpenFiles:
    """Hears what Twisted says of connections without a file. `start`, then `stop`."""

    def __init__(self, scheduler: Scheduler, watch: Watch) -> None:
        self._refusals = RefusalLog(_log, scheduler)
        self.counters: Counter[str] = Counter()
        watch.reasons(
            "connections_cut", "TCP connections closed as they came.", lambda: self.counters
        )

    def start(self) -> None:
        """Begin to listen."""
        globalLogPublisher.addObserver(self)
        self._refusals.start()

    def stop(self) -> None:
        """Listen no more; what was counted last is written."""
        globalLogPublisher.removeObserver(self)
        self._refusals.stop()

    def __call__(self, event: LogEvent) -> None:
        """Take an event of the log; called by Twisted."""
        if event.get("log_format") != _TOLD:
            return
        self.counters[REASON] += 1
        address = plain_host(str(event["address"][0]))
        if self._refusals.is_news("connections cut", "", "", REASON):
            _log.warn(
                "a connection from {address} was closed: the server may open no more files;"
                " raise LimitNOFILE or ulimit -n, or lower max_connections",
                address=address,
            )
