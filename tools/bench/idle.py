"""CPU of a server whose players have all logged in and do nothing but keep alive."""

from __future__ import annotations

import time

from tools.bench.crowd import crowd, gather
from tools.bench.figures import Figure, Round
from tools.bench.login_players import LoginPlayers
from tools.bench.processes import Child
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

SECONDS = 5.0


def report(rounds: int) -> list[Figure]:
    """Watch a server without sessions, then with a crowd that does nothing."""
    with crowd() as (server, group):
        nobody = [watched(server, group) for _ in range(rounds)]
        came = gather(group)
        idle = [watched(server, group) for _ in range(rounds)]
        left = sum(not player.ended for player in group.players)
        group.leave(30.0)
    if left < came:
        raise SystemExit(f"{came - left} of {came} idle sessions did not last")
    return [
        Figure("a second without sessions", "us", RC4_KILOBYTE, nobody),
        Figure(f"a second of {came:,} idle sessions", "us", RC4_KILOBYTE, idle, "20,000 us"),
    ]


def watched(server: Child, group: LoginPlayers) -> Round:
    """Return the microseconds of CPU that a server spends in a second, beside the loop."""
    before, start = server.cpu_seconds(), time.monotonic()
    group.run(lambda: False, SECONDS)
    spent = (server.cpu_seconds() - before) / (time.monotonic() - start)
    return Round(spent * 1e6, rc4_loop().cpu * 1e9)
