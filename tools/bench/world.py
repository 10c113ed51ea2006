"""What a world costs: players who walk, who stand, who come in; and how soon a step is seen."""

from __future__ import annotations

import time

from tools.bench.figures import Figure, Round
from tools.bench.processes import Child
from tools.bench.world_child import Placed, crowded, movers, spread, world_child
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

SECONDS = 4.0
"""How long the server is watched for one round."""
SETTLE = 2.0
TICK = "tick of 100 ms"
WATCHERS = 5
FEW = 5
KILOBYTES_OF_A_PLAYER = 60


def report(rounds: int) -> list[Figure]:
    """Let players walk and stand in worlds of their own."""
    walking, seen_early, seen_late, entered = walked(50, rounds)
    many, _, _, _ = walked(200, rounds)
    wide, _, _, _ = walked(500, rounds, spread(500, 30))
    idle, wire = stood(50, rounds)
    memory, more = [remembered(50)], [remembered(200)]
    return [
        Figure("a second of 50 movers in sight of each other", "us", RC4_KILOBYTE, walking,
               "150,000 us"),
        Figure("a second of 200 movers in sight of each other", "us", RC4_KILOBYTE, many),
        Figure("a second of 500 movers, 30 in sight of each", "us", RC4_KILOBYTE, wide,
               "1,000,000 us"),
        Figure("a second of 50 idle players", "us", RC4_KILOBYTE, idle, "5,000 us"),
        Figure("bytes a second of an idle player, both ways", "bytes", "byte", wire),
        Figure("a step seen by another, p50", "ms", TICK, seen_early, "80 ms"),
        Figure("a step seen by another, p99", "ms", TICK, seen_late, "200 ms"),
        Figure("from the login's first datagram to standing, p50", "ms", "RC4 kB x 100", entered),
        Figure("memory of each of 50 movers", "kB", "aim", memory, f"{KILOBYTES_OF_A_PLAYER} kB"),
        Figure("memory of each of 200 movers", "kB", "aim", more),
    ]  # fmt: skip


def walked(
    count: int, rounds: int, placed: Placed = crowded
) -> tuple[list[Round], list[Round], list[Round], list[Round]]:
    """Return the server's CPU of a second in each round; and of the whole, sights and entering."""
    with world_child(count, placed) as server, movers(server, count, WATCHERS) as players:
        time.sleep(SETTLE)
        spent = [watched(server) for _ in range(rounds)]
        told = players.end()
    wall = rc4_loop().wall * 1e8
    return (
        spent,
        [Round(told["sight_ms_p50"], 100.0)],
        [Round(told["sight_ms_p99"], 100.0)],
        [Round(told["login_ms_p50"], wall)],
    )


def stood(count: int, rounds: int) -> tuple[list[Round], list[Round]]:
    """Return CPU of a second with players who do nothing, and the bytes of each in a second."""
    with world_child(count) as server, movers(server, count, 0, "stand") as players:
        time.sleep(SETTLE)
        spent = [watched(server) for _ in range(rounds)]
        told = players.end()
    return spent, [Round(told["bytes_per_s"] / count, 1.0)]


def remembered(count: int) -> Round:
    """Return the memory of each of so many players who see each other."""
    with world_child(count) as server:
        with movers(server, FEW, 0) as players:
            players.end()  # what is made once and stays: layouts, tables, the zone
        time.sleep(SETTLE)
        before = server.resident_bytes()
        with movers(server, count, 0) as players:
            time.sleep(2 * SETTLE)
            memory = (server.resident_bytes() - before) / (count - FEW) / 1000
            players.end()
    return Round(memory, float(KILOBYTES_OF_A_PLAYER))


def watched(server: Child) -> Round:
    """Return the microseconds of CPU that a server spends in a second, beside the loop."""
    before, start = server.cpu_seconds(), time.monotonic()
    time.sleep(SECONDS)
    spent = (server.cpu_seconds() - before) / (time.monotonic() - start)
    return Round(spent * 1e6, rc4_loop().cpu * 1e9)
