"""The whole server for measuring, with the time of its longest turn.

Run as `tools.bench.login_server`. At SIGUSR2 it prints one line of JSON, the longest turn since the
last SIGUSR2 in seconds of the wall clock and of the CPU, and begins anew. Empty zones end after
`EMPTY` seconds.
"""

from __future__ import annotations

import json
import signal
from time import perf_counter, thread_time
from typing import Any, Final

from emu.world.zones.directory import Zones
from tools.bench import login_server

EMPTY: Final = 3.0


class Turns:
    """Stands before the reactor's poller, and measures what happens between two polls."""

    def __init__(self, poller: Any) -> None:
        self._poller = poller
        self._began: tuple[float, float] | None = None
        self.wall = self.cpu = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._poller, name)

    def poll(self, *values: Any) -> Any:
        """End a turn, wait, and begin the next one."""
        if self._began is not None:
            self.wall = max(self.wall, perf_counter() - self._began[0])
            self.cpu = max(self.cpu, thread_time() - self._began[1])
        self._began = None  # also if a signal ends the wait
        found = self._poller.poll(*values)
        self._began = perf_counter(), thread_time()
        return found

    def print(self, *_: object) -> None:
        """Print the longest turn, and begin anew."""
        print(json.dumps({"wall": self.wall, "cpu": self.cpu}), flush=True)
        self.wall = self.cpu = 0.0


def main() -> None:
    """Serve until terminated."""
    inner = vars(login_server.reactor)
    inner["_poller"] = turns = Turns(inner["_poller"])
    signal.signal(signal.SIGUSR2, turns.print)
    setattr(Zones, "_lingers", lambda _zones, _zone: EMPTY)  # noqa: B010  # five minutes are long
    login_server.main()


if __name__ == "__main__":
    main()
