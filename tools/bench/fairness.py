"""The cost to the others when one player floods the server: their wait for `/loc`, and the CPU.

A real server over UDP on loopback has some players in view of each other. Four ask `/loc` again and
again, and one sends 950 messages at once and then 95 per second. The section shows how long the
four wait before and during the flood, and how much more CPU the server uses.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tools.bench.fairness_players import KINDS
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child
from tools.bench.world_child import movers, world_child

PLAYERS = 200
"""How many stand there; ``--players`` says otherwise."""
ASKERS = 4
SECONDS = 8.0
"""How long one kind of flood is watched."""
QUIET = 8.0
"""How long it is watched without a flood."""
SETTLE = 3.0
RECOVER = 6.0
"""Between two floods: what waits of one is not counted as the next one's."""
WAIT_AIM = "20 ms more"
SHARE_AIM = "5 %"
HABIT = "stand"
"""``walk`` has 200 of them take most of a core, and then the wait says little of the flood."""


class Crew:
    """Players in a process of their own who do what they are asked to; see `fairness_players`."""

    def __init__(self, port: int, first: int, count: int) -> None:
        command = [sys.executable, "-m", "tools.bench.fairness_players"]
        self._process = subprocess.Popen(
            [*command, str(port), str(first), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        if self._read() != "ready 0\n":
            raise SystemExit("the players did not come in")

    def begin(self, **asked: object) -> None:
        """Ask for something."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """Wait until it is done."""
        return json.loads(self._read() or "null")

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def crew(port: int, first: int, count: int) -> Iterator[Crew]:
    """Let players in, and end them."""
    players = Crew(port, first, count)
    try:
        yield players
    finally:
        players.end()


def quantile(waits: Sequence[float], part: float) -> float:
    """Return the wait that a part of all stayed under."""
    ordered = sorted(waits)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def watched(server: Child, askers: Crew, seconds: float) -> tuple[float, list[float]]:
    """Return the server's CPU as a part of one core, and the waits, of some seconds."""
    before, began = server.cpu_seconds(), time.monotonic()
    askers.begin(ask=seconds)
    waits: list[float] = askers.answer()
    return (server.cpu_seconds() - before) / (time.monotonic() - began), waits


def report(_rounds: int) -> list[Figure]:
    """Let one player flood the server in every way, one after the other."""
    figures = []
    with (
        world_child(PLAYERS + ASKERS + 1) as server,
        movers(server, PLAYERS, 0, HABIT),
        crew(server.port, PLAYERS, ASKERS) as askers,
        crew(server.port, PLAYERS + ASKERS, 1) as attacker,
    ):
        time.sleep(SETTLE)
        for name in WANTED or KINDS:
            figures += flooded(server, askers, attacker, name)
    return figures


WANTED: list[str] = []
"""Floods to be measured; empty for all."""


def flooded(server: Child, askers: Crew, attacker: Crew, name: str) -> list[Figure]:
    """Measure one kind of flood."""
    usual, before = watched(server, askers, QUIET)
    attacker.begin(attack=name, seconds=SECONDS)
    time.sleep(0.05)
    spent, during = watched(server, askers, SECONDS)
    answer = attacker.answer()
    time.sleep(RECOVER)
    ended = "" if answer["lasted"] else ", whose session ended"
    if "refused" in answer:
        ended = f" ({answer['sent']} times, refused {answer['refused']} times)"
    return [
        Figure(
            f"/loc of others while one sends {name}{ended}: {label}", "ms", "before",
            [Round(quantile(during, part), quantile(before, part))], WAIT_AIM,
        )
        for label, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    ] + [
        Figure(
            f"CPU of who sends {name}", "% of a core", "aim",
            [Round((spent - usual) * 100, 5.0)], SHARE_AIM,
        )
    ]  # fmt: skip
