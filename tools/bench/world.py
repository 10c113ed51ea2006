"""The cost of a world: players who walk, stand or enter; and the time until others see a step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from emu.versions import CLIENT_2006
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child
from tools.bench.world_child import Placed, crowded, movers, spread, world_child
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

SECONDS = 4.0
"""How long the server is watched for one round."""
SETTLE = 2.0
SETTLE_LONG = 7.0
"""Long enough for what the server does every five seconds: that costs memory once, too."""
TICK = "tick of 100 ms"
WATCHERS = 5
FEW = 20
GENTLY = 20
"""Players who come in within a second where memory is measured."""
MINUTE = 60.0
MEMORY_ROUNDS = 3
KILOBYTES_OF_A_PLAYER = 60
ENTERING_AIM = 20.0
WAITING = "waiting"


def report(rounds: int) -> list[Figure]:
    """Let players walk and stand in worlds of their own."""
    figures = []
    for count, placed, what, aim in CROWDS:
        spent, result = walked(count, rounds, placed)
        figures += [
            Figure(f"a second of {what}", "us", RC4_KILOBYTE, spent, aim),
            *seen(result, what),
        ]
        if count == CROWDS[0][0]:
            figures += [*entered(result), mixed(count, spent, rounds), shipped(count, rounds)]
    idle, wire, messages = stood(50, rounds)
    figures += [
        Figure("a second of 50 idle players", "us", RC4_KILOBYTE, idle, "5,000 us"),
        Figure("bytes a second of an idle player, both ways", "bytes", "byte", wire),
        Figure("messages to 50 idle players in a minute", "messages", "message", messages, "0"),
    ]
    return figures + [figure for count in (50, 200) for figure in remembered(count)]


CROWDS: tuple[tuple[int, Placed, str, str], ...] = (
    (50, crowded, "50 movers in sight of each other", "150,000 us"),
    (200, crowded, "200 movers in sight of each other", ""),
    (500, spread(500, 30), "500 movers, 30 in sight of each", "1,000,000 us"),
)


MIXED: Final = (546, 561, 1096, 1208, 60114)
"""Client versions of five different forms of ghosts."""


def walked(
    count: int,
    rounds: int,
    placed: Placed,
    versions: Sequence[int] = (CLIENT_2006,),
    *,
    shipped: bool = False,
) -> tuple[list[Round], dict[str, Any]]:
    """Return the server's CPU of a second in each round; and what players measured meanwhile.

    It is the CPU of all threads of the process by the kernel's account. Each player sends four
    steps a second, and acknowledges each datagram with one of its own.
    """
    with (
        world_child(count, placed, shipped=shipped) as server,
        movers(server, count, WATCHERS, versions=versions) as players,
    ):
        time.sleep(SETTLE)
        waited, began = server.waiting_seconds(), time.monotonic()
        spent = [watched(server) for _ in range(rounds)]
        waited = (server.waiting_seconds() - waited) / (time.monotonic() - began)
        return spent, players.end() | {WAITING: waited * 100}


def mixed(count: int, alone: list[Round], rounds: int) -> Figure:
    """Return the CPU of a second with five client versions, as a multiple of one version's."""
    spent, _ = walked(count, rounds, crowded, MIXED)
    return Figure(
        f"a second of {count} movers of five client versions in sight of each other", RC4_KILOBYTE,
        "the same with one version",
        [Round(one.ratio, other.ratio) for one, other in zip(spent, alone, strict=True)], "1.4 x",
    )  # fmt: skip


def shipped(count: int, rounds: int) -> Figure:
    """Return the CPU of a second in the shipped zone, with its own spawns and behaviors."""
    spent, _ = walked(count, rounds, crowded, shipped=True)
    what = f"a second of {count} movers in sight of each other in the shipped zone"
    return Figure(what, "us", RC4_KILOBYTE, spent, "100,000 us")


def seen(result: dict[str, Any], what: str) -> list[Figure]:
    """Return how long it took until a step was seen, and whether the machine was busy."""
    return [
        Figure(
            f"a step seen by another of {what}, {part}", "ms", TICK,
            [Round(result[f"sight_ms_{part}"], 100.0)], aim,
        )
        for part, aim in (("p50", "80 ms"), ("p99", "200 ms"))
    ] + [
        Figure(f"the server waits for a core, with {what}", "%", "%", [Round(result[WAITING], 1.0)])
    ]  # fmt: skip


def entered(result: dict[str, Any]) -> list[Figure]:
    """Return how long it took to come in where others are already."""
    wall = rc4_loop().wall * 1e8
    return [
        Figure("from the login's first datagram to standing, p50", "ms", "RC4 kB x 100",
               [Round(result["login_ms_p50"], wall)]),
        Figure("from the world's key to all that is near, p50", "ms", "aim",
               [Round(result["entering_ms_p50"], ENTERING_AIM)], f"{ENTERING_AIM:.0f} ms"),
    ]  # fmt: skip


def stood(count: int, rounds: int) -> tuple[list[Round], list[Round], list[Round]]:
    """Let players do nothing for a minute.

    Returns CPU of a second, bytes of each player in a second, and messages that came to them.
    """
    with world_child(count) as server, movers(server, count, 0, "stand") as players:
        began = time.monotonic()
        time.sleep(SETTLE)
        spent = [watched(server) for _ in range(rounds)]
        time.sleep(max(0.0, began + MINUTE - time.monotonic()))
        result = players.end()
    return spent, [Round(result["bytes_per_s"] / count, 1.0)], [Round(result["messages"], 1.0)]


def remembered(count: int) -> list[Figure]:
    """Return the memory of each of so many players who see each other, in use and resident."""
    used, resident = [], []
    for _ in range(MEMORY_ROUNDS):
        with world_child(count) as server:
            with movers(server, FEW, 0) as players:
                players.end()  # what is made once and stays: layouts, tables, the zone
            time.sleep(SETTLE_LONG)
            before = server.bytes_in_use()
            with movers(server, count, 0, rate=GENTLY) as players:
                time.sleep(SETTLE_LONG)
                most = server.resident_bytes() - before
                needed = server.bytes_in_use() - before
                players.end()
        resident.append(Round(most / count / 1000, float(KILOBYTES_OF_A_PLAYER)))
        used.append(Round(needed / count / 1000, float(KILOBYTES_OF_A_PLAYER)))
    what = f"memory of each of {count} movers in sight of each other"
    return [
        Figure(f"{what}, in use", "kB", "aim", used, f"{KILOBYTES_OF_A_PLAYER} kB"),
        Figure(f"{what}, resident", "kB", "aim", resident),
    ]


def watched(server: Child) -> Round:
    """Return the microseconds of CPU that a server spends in a second, beside the loop."""
    before, start = server.cpu_seconds(), time.monotonic()
    time.sleep(SECONDS)
    spent = (server.cpu_seconds() - before) / (time.monotonic() - start)
    return Round(spent * 1e6, rc4_loop().cpu * 1e9)
