"""Snapshots as a server sends them, for those who read and show them."""

from __future__ import annotations

import json
from typing import Any

from emu.admin.snapshot import Snapshot, snapshot_value
from emu.admin.status import ListedWorldStatus, OpenPort
from emu.metrics import MetricRegistry
from emu.times import Monotonic
from tests.support.admin.statuses import server_status

LISTENERS = (
    OpenPort("login.listen", "UDP", "127.0.0.1:9100", {}),
    OpenPort("rcon.listen", "TCP", "127.0.0.1:27015", {"connections": 1, "wrong password": 3}),
    OpenPort("console.path", "UNIX", "/var/lib/emu.console", {"connections": 0}),
)


class Measured:
    """The measures of a server whose numbers a test sets."""

    def __init__(self) -> None:
        self.sessions = 3
        self.measures = MetricRegistry()
        self.logins = self.measures.counter("logins", "Logins.", ["result"])
        self.refused = self.measures.counter("logins_refused", "Refused.", ["reason"])
        self.drops = self.measures.counter("session_drops", "Drops.", ["port", "reason"])
        self.measures.gauge(
            "sessions_now", "Now.", lambda: {("login",): self.sessions, ("world",): 2}, ["port"]
        )
        self.traffic = {
            name: self.measures.counter(f"session_{name}", name, ["port"])
            for name in ("datagrams_received", "datagrams_sent", "bytes_received", "bytes_sent",
                         "retransmissions")
        }  # fmt: skip
        self.measures.gauge("passwords_waiting", "Waiting.", lambda: {(): 4})
        self.ticks = self.measures.histogram("world_tick_seconds", "Ticks.")
        self.zone_ticks = self.measures.histogram("zone_tick_seconds", "T.", ["zone", "instance"])

    def value(self, taken: float = 1000.0, process: int = 7, **changes: Any) -> Any:
        """Return a snapshot as it comes over the socket; `changes` are of the status."""
        worlds = (ListedWorldStatus("Norrath", up=True, locked=False, players=2),)
        status = server_status(**{"worlds": worlds, **changes})
        value = snapshot_value(
            status, Monotonic(taken), self.measures.read_samples(), LISTENERS,
            lines=["2026-01-01T00:00:00Z info  server: ready"], process=process,
        )  # fmt: skip
        return json.loads(json.dumps(value))

    def snapshot(self, taken: float = 1000.0, process: int = 7, **changes: Any) -> Snapshot:
        """Return the same, read."""
        return Snapshot.of(self.value(taken, process, **changes))
