"""A battle in a whole server: 50 players strike creatures, and others wait for an answer.

100 creatures that attack everybody stand among the players, and nobody dies. The players are in
processes of their own; their clients acknowledge each datagram. Four further players ask `/loc`
again and again: their wait is the time from a command to its message. Counted is the CPU of all
threads of the server, by the kernel.
"""

from __future__ import annotations

import json
import math
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tools.bench.fairness import crew, quantile, watched
from tools.bench.figures import Figure, Round
from tools.bench.login_child import CHEAP
from tools.bench.processes import Child, child
from tools.bench.world_child import CENTER, boundless_zone, crowded, make_characters, movers
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

PLAYERS: Final = 50
CREATURES: Final = 100
ASKERS: Final = 4
ROUND: Final = 10.0
"""Seconds for which the server is watched for one round."""
SETTLE: Final = 8.0
AROUND: Final = 4.0
"""How far from the players the creatures stand."""
CREATURE: Final = """
[[spawn]]
kind = "npc"
name = "a reef crab {number}"
place = [{x:.2f}, {y:.2f}, {z:.2f}]
model = 211
level = 1
attackable = true
faction = 1
"""
WAIT: Final = 150.0
TURN: Final = 20.0
SHARE: Final = 350_000


@contextmanager
def battle() -> Iterator[Child]:
    """Run a server with characters for all players, and creatures around them."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        make_characters(folder / "emu.sqlite", PLAYERS + ASKERS, crowded)
        zones = boundless_zone(folder)
        path = zones / "antonica.toml"
        rows = [path.read_text(encoding="utf-8")]
        for number in range(CREATURES):
            angle = 2 * math.pi * number / CREATURES
            x, y, z = CENTER
            at = {"x": x + AROUND * math.cos(angle), "y": y, "z": z + AROUND * math.sin(angle)}
            rows.append(CREATURE.format(number=number, **at))
        path.write_text("".join(rows), encoding="utf-8")
        with child("tools.bench.battle_server", name, *CHEAP, f"world.zones={zones}") as server:
            yield server


def longest_turn(server: Child) -> float:
    """Return the milliseconds of CPU of the longest turn since the last call."""
    server.process.send_signal(signal.SIGUSR2)
    assert server.process.stdout is not None
    found: float = json.loads(server.process.stdout.readline())["cpu"] * 1000
    return found


def report(rounds: int) -> list[Figure]:
    """Let them fight."""
    spent, waits, turns = [], [], []
    with (
        battle() as server,
        movers(server, PLAYERS, 0, "fight"),
        crew(server.port, PLAYERS, ASKERS) as askers,
    ):
        time.sleep(SETTLE)
        longest_turn(server)
        for _ in range(rounds):
            share, found = watched(server, askers, ROUND)
            spent.append(Round(share * 1e6, rc4_loop().cpu * 1e9))
            waits.append(Round(quantile(found, 0.99), WAIT))
            turns.append(Round(longest_turn(server), TURN))
    who = f"{CREATURES} creatures that fight {PLAYERS} players in sight of each other"
    return [
        Figure(f"a second of {who}, with acknowledgements", "us", RC4_KILOBYTE, spent,
               f"at most {SHARE:,} us"),
        Figure(f"from a command to its message beside {who}: p99", "ms", "aim", waits,
               f"{WAIT:.0f} ms"),
        Figure(f"the longest turn of {who}, CPU", "ms", "aim", turns, f"{TURN:.0f} ms"),
    ]  # fmt: skip
