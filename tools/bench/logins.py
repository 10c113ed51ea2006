"""Complete logins: from the session request to the character list, by the clock and in CPU.

Without Argon2 means that the server remembers the password as verified, as it does of a player who
returns; with it, that the account has not logged in since the server started. Players come one
after the other, many in the same instant, or spread over a second as a crowd does.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tools.bench.fleet import Fleet, Player
from tools.bench.login_child import CHEAP, login_child
from tools.bench.processes import Child

PEER = "EQ2Emulator, measured elsewhere"


@dataclass(frozen=True)
class Run:
    """What a number of logins took; seconds."""

    walls: Sequence[float]
    whole: float
    """From the first datagram to the last character list."""
    server: float
    """CPU of the server."""
    driver: float
    """CPU of all players."""
    failed: int

    def text(self) -> str:
        """Return the figures of the run as one line."""
        walls = sorted(self.walls)
        count = len(walls)
        if not count:
            return f"all {self.failed} failed"
        p50, p99 = statistics.median(walls), walls[min(count - 1, count * 99 // 100)]
        line = (
            f"p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, "
            f"server CPU {self.server / count * 1000:.2f} ms, {count / self.whole:,.0f} logins/s"
            f" (players' own CPU {self.driver / count * 1000:.2f} ms)"
        )
        return f"{line}, {self.failed} FAILED" if self.failed else line


class Measurement:
    """Counts clock and CPU around some logins of players of one fleet."""

    def __init__(self, server: Child, players: Sequence[Player]) -> None:
        self._server = server
        self._players = players
        self._cpu = server.cpu_seconds()
        self._own = time.process_time()
        self._start = time.monotonic()

    def end(self) -> Run:
        """Return what it took until now."""
        whole = time.monotonic() - self._start
        own = time.process_time() - self._own
        server = self._server.cpu_seconds() - self._cpu
        walls = [player.seconds for player in self._players if player.seconds is not None]
        return Run(walls, whole, server, own, len(self._players) - len(walls))


def in_sequence(server: Child, numbers: range) -> Run:
    """Log players in one after the other; each leaves only after the last has come."""
    fleet = Fleet(server.port)
    players = fleet.add(numbers)
    measurement = Measurement(server, players)
    for player in players:
        fleet.log_in([player])
    return finish(fleet, measurement)


def at_once(server: Child, numbers: range) -> Run:
    """Log players in who all come in the same instant."""
    fleet = Fleet(server.port)
    players = fleet.add(numbers)
    measurement = Measurement(server, players)
    fleet.log_in(players)
    return finish(fleet, measurement)


def within_a_second(server: Child, numbers: range) -> Run:
    """Log players in who come at random moments of one second."""
    fleet = Fleet(server.port)
    players = fleet.add(numbers)
    chance = random.Random(len(players))
    moments = sorted(chance.random() for _ in players)
    measurement = Measurement(server, players)
    start = time.monotonic()
    for player, moment in zip(players, moments, strict=True):
        fleet.run(lambda: False, start + moment - time.monotonic())
        fleet.begin([player])
    fleet.run(lambda: all(player.is_done for player in players), 30.0)
    return finish(fleet, measurement)


def make_known(server: Child, count: int) -> None:
    """Let everybody log in once, so that the server remembers their passwords.

    Not all at the same time: it lets only some hundred wait for their first check.
    """
    for first in range(0, count, 200):
        run = at_once(server, range(first, min(first + 200, count)))
        if run.failed:
            raise SystemExit(f"{run.failed} players could not log in at all")


def finish(fleet: Fleet, measurement: Measurement) -> Run:
    """Take the figures, then let everybody leave."""
    run = measurement.end()
    fleet.settle()
    fleet.leave()
    return run


def report() -> list[tuple[str, str]]:
    """Measure all of it and return rows of (what, figure)."""
    rows = []
    with login_child(1000, *CHEAP) as server:
        make_known(server, 1000)
        rows += [
            ("one after the other (aim p50 5 ms, CPU 0.4 ms)", in_sequence(server, range(300))),
            ("100 in the same instant (aim p50 10 ms)", at_once(server, range(100))),
            ("100 within a second", within_a_second(server, range(100))),
            ("1000 in the same instant", at_once(server, range(1000))),
            ("1000 within a second", within_a_second(server, range(1000))),
        ]
    with login_child(200) as server:
        rows += [
            ("with Argon2, one after the other", in_sequence(server, range(20))),
            ("with Argon2, 100 in the same instant", at_once(server, range(20, 120))),
        ]
    return [
        *((name, run.text()) for name, run in rows),
        (PEER, "p50 262 ms, server CPU 0.3 ms; 1000 at once: p99 6.3 s, 1,280 logins/s"),
    ]
