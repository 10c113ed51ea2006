"""Resident memory of the server for each session: half open, and logged in and idle.

The yardstick is the resident memory of a bare Twisted echo. Memory does not depend on the
machine's load, but on its interpreter and libraries.
"""

from __future__ import annotations

import time

from tools.bench.crowd import crowd, gather, knock
from tools.bench.figures import Figure, Round
from tools.bench.processes import child

KNOCKS = 4000
CAME = 1000
ECHO = "echo"
_UNVALIDATED_LIFETIME = 5.0


def logged_in(characters: int) -> float:
    """Return the bytes of a thousand sessions of players with so many characters."""
    with crowd(characters=characters) as (server, group):
        gather(group, 50)  # what is made once and stays: layouts, tables, threads
        group.leave()
        time.sleep(_UNVALIDATED_LIFETIME)
        before = server.resident_bytes()
        came = gather(group, CAME)
        full = server.resident_bytes() - before
        group.leave(30.0)
    return full / came * 1000


def half_open() -> tuple[float, float]:
    """Return the bytes of a server without sessions, and of a thousand half-open ones."""
    with crowd("network.half_open_sessions=100000") as (server, _players):
        before = server.resident_bytes()
        knocked = knock(server.port, KNOCKS)
        return before, (server.resident_bytes() - before) / knocked * 1000


def echo() -> float:
    """Return the bytes of a process that only echoes."""
    with child("tools.bench.echo_server", "echo") as server:
        return server.resident_bytes()


def report(rounds: int) -> list[Figure]:
    """Start a server anew for every round of every figure."""
    bare, empty, known, listed = [], [], [], []
    for _ in range(rounds):
        beside = echo() / 2**20
        server, asked = half_open()
        bare.append(Round(server / 2**20, beside))
        empty.append(Round(asked / 2**20, beside))
        known.append(Round(logged_in(0) / 2**20, beside))
        listed.append(Round(logged_in(2) / 2**20, beside))
    return [
        Figure("server without sessions", "MiB", ECHO, bare),
        Figure("1,000 half-open sessions", "MiB", ECHO, empty),
        Figure("1,000 sessions logged in", "MiB", ECHO, known, "39 MiB"),
        Figure("1,000 right after a list of two characters", "MiB", ECHO, listed, "39 MiB"),
    ]
