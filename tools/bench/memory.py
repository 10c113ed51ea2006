"""Resident memory of the server for each session: half open, and logged in and idle."""

from __future__ import annotations

import time

from tools.bench.crowd import crowd, gather, knock

KNOCKS = 4000
_UNPROVEN_LIFETIME = 5.0
PEER = "EQ2Emulator, logged in, measured elsewhere"


def logged_in(characters: int) -> tuple[float, int]:
    """Return the bytes of one session of players with so many characters, and how many came."""
    with crowd(characters=characters) as (server, fleet):
        gather(fleet, 50)  # what is made once and stays: layouts, tables, threads
        fleet.leave()
        time.sleep(_UNPROVEN_LIFETIME)
        before = server.resident_bytes()
        came = gather(fleet)
        full = server.resident_bytes() - before
        fleet.leave(30.0)
    return full / came, came


def report() -> list[tuple[str, str]]:
    """Measure and return rows of (what, figure)."""
    with crowd("network.half_open_sessions=100000") as (server, _fleet):
        at_start = server.resident_bytes()
        knocked = knock(server.port, KNOCKS)
        half_open = server.resident_bytes() - at_start
    empty, came = logged_in(0)
    listed, _ = logged_in(2)
    return [
        ("server without sessions", f"{at_start / 2**20:.0f} MB"),
        (f"one half-open session, of {knocked:,}", f"{half_open / knocked / 1024:.1f} KiB"),
        (f"one session logged in, of {came:,} (aim 40 KiB)", f"{empty / 1024:.1f} KiB"),
        ("the same right after a compressed list of two characters", f"{listed / 1024:.1f} KiB"),
        (PEER, "164 KB"),
    ]
