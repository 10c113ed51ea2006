"""Presence with 50,000 players: microseconds of a question, of a change, and of a page.

The yardstick is a thousand bytes of RC4 in plain Python, which is the same kind of work.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, islice
from timeit import Timer
from typing import NoReturn

from emu.model import Present
from emu.processes.bus import LocalBus
from emu.processes.ports import CAME, GONE
from emu.processes.presence import SharedPresence
from emu.processes.tables import PAGE, run_now
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

PLAYERS = 50_000
NODES = 100
HERE = "node0"
HEADS = tuple(first + second for first in "ABCDEFGHKLMNOPRSTV" for second in "aeiorlu")
"""How names begin."""
SECONDS_A_ROUND = 0.05


def _failed(error: Exception) -> NoReturn:
    raise error


def _player(number: int) -> Present:
    return Present(
        number // 2,
        number,
        number % 400,
        name=f"{HEADS[number % len(HEADS)]}player{number}",
        level=20,
    )


def cluster() -> tuple[LocalBus, dict[str, SharedPresence]]:
    """Return a bus and two nodes of 100: one with its own 500 players, one with all the others."""
    bus = LocalBus(_failed)
    made = {name: SharedPresence(bus, name, spawn=run_now) for name in (HERE, "others")}
    for number in range(1, PLAYERS + 1):
        name = HERE if number % NODES == 0 else "others"
        made[name].entered(_player(number), lambda: None)
    return bus, made


def report(rounds: int) -> list[Figure]:
    """Do each work beside the loop."""
    bus, made = cluster()
    here, others = made[HERE], made["others"]
    numbers = count()

    def come_back() -> None:
        bus.publish(GONE, {"process": HERE})
        bus.publish(CAME, {"process": HERE})

    works: dict[str, Callable[[], object]] = {
        "is_playing": lambda: here.is_playing(300),
        "players_besides": lambda: here.players_besides(300),
        "who all, cut to 100": lambda: list(islice(here.starting_with(""), 100)),
        "who NAME": lambda: list(here.starting_with("Baplayer4")),
        "players of a zone, counted": lambda: len(here.in_zone(100)),
        "a change, published and heard": lambda: others.seen(1, away=bool(next(numbers) % 2)),
        "a digest, published and heard": others.tick,
        "500 players of a node that returns": come_back,
        f"a page of {PAGE}, made": lambda: others._table.own.page(20_000),  # noqa: SLF001
    }
    return [Figure(what, "us", RC4_KILOBYTE, _rounds(work, rounds)) for what, work in works.items()]


def _rounds(work: Callable[[], object], rounds: int) -> list[Round]:
    timer = Timer(work)
    number, seconds = timer.autorange()
    number = max(1, int(number * SECONDS_A_ROUND / seconds))
    found = []
    for _ in range(rounds):
        seconds = timer.timeit(number) / number
        found.append(Round(seconds * 1e6, rc4_loop().cpu * 1e9))
    return found
