"""CPU of a server whose players have all logged in and do nothing but keep alive."""

from __future__ import annotations

import time

from tools.bench.crowd import CROWD, crowd, gather

SECONDS = 20.0
PEER = "EQ2Emulator, 5,000 idle sessions, measured elsewhere"


def report() -> list[tuple[str, str]]:
    """Measure and return rows of (what, figure)."""
    with crowd() as (server, fleet):
        before, start = server.cpu_seconds(), time.monotonic()
        fleet.run(lambda: False, SECONDS)
        nobody = (server.cpu_seconds() - before) / (time.monotonic() - start)
        came = gather(fleet)
        before, start = server.cpu_seconds(), time.monotonic()
        fleet.run(lambda: False, SECONDS)
        idle = (server.cpu_seconds() - before) / (time.monotonic() - start)
        left = sum(not player.ended for player in fleet.players)
        fleet.leave(30.0)
    return [
        ("CPU without sessions, of a core", f"{nobody:.2%}"),
        (f"CPU with {came:,} idle sessions (of {CROWD:,}; aim 2 %)", f"{idle:.2%}"),
        ("of those still there at the end", f"{left:,}"),
        (PEER, "27 %"),
    ]
