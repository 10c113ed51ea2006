"""Complete logins, from the session request to the character list: wall-clock time and CPU.

"Without Argon2" means that the server remembers the verified password, as for a player who returns.
"With Argon2" means that the account has not logged in since the server started. Players log in one
after the other, many in the same instant, or spread over a second.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.bench.figures import Figure, Round
from tools.bench.login_child import CHEAP, login_child
from tools.bench.login_players import LoginPlayers, Player
from tools.bench.processes import Child
from tools.bench.yardsticks import RC4_KILOBYTE, Loop, rc4_loop


@dataclass(frozen=True)
class Run:
    """What a number of logins took; seconds."""

    walls: Sequence[float]
    server: float
    """CPU of the server."""
    failed: int

    def quantile(self, percent: int) -> float:
        """Return the time that so many in a hundred stayed under, in milliseconds."""
        walls = sorted(self.walls)
        return walls[min(len(walls) - 1, len(walls) * percent // 100)] * 1000

    @property
    def cpu(self) -> float:
        """Milliseconds of the server's CPU for one login."""
        return self.server / len(self.walls) * 1000


Way = Callable[[LoginPlayers, Sequence[Player]], None]
"""Logs players in; returns when the last one is in or has failed."""


def in_sequence(group: LoginPlayers, players: Sequence[Player]) -> None:
    """Log players in one after the other; each leaves only after the last has come."""
    for player in players:
        group.log_in([player])


def at_once(group: LoginPlayers, players: Sequence[Player]) -> None:
    """Log players in who all come in the same instant."""
    group.log_in(players)


def within_a_second(group: LoginPlayers, players: Sequence[Player]) -> None:
    """Log players in who come at random moments of one second."""
    chance = random.Random(len(players))
    moments = sorted(chance.random() for _ in players)
    start = time.monotonic()
    for player, moment in zip(players, moments, strict=True):
        group.run(lambda: False, start + moment - time.monotonic())
        group.begin([player])
    group.run(lambda: all(player.is_done for player in players), 30.0)


def measured(server: Child, numbers: range, come: Way) -> Run:
    """Let players come, count clock and CPU, and let them leave."""
    group = LoginPlayers(server.port)
    players = group.add(numbers)
    before = server.cpu_seconds()
    come(group, players)
    cpu = server.cpu_seconds() - before
    walls = [player.seconds for player in players if player.seconds is not None]
    group.settle()
    group.leave()
    return Run(walls, cpu, len(players) - len(walls))


def make_known(server: Child, count: int) -> None:
    """Let everybody log in once, so that the server remembers their passwords.

    Not all at the same time: it lets only some hundred wait for their first check.
    """
    for first in range(0, count, 200):
        run = measured(server, range(first, min(first + 200, count)), at_once)
        if run.failed:
            raise SystemExit(f"{run.failed} players could not log in at all")


@dataclass(frozen=True)
class Scene:
    """A way for players to come, and what it should cost."""

    what: str
    come: Way
    players: int
    p50: str = ""
    p99: str = ""
    cpu: str = ""

    def rounds(self, server: Child, rounds: int, *, anew: bool = False) -> list[tuple[Run, Loop]]:
        """Play it several times, each beside the loop; with other players each time when `anew`."""
        return [
            (self._played(server, number * self.players if anew else 0), rc4_loop())
            for number in range(rounds)
        ]

    def _played(self, server: Child, first: int) -> Run:
        run = measured(server, range(first, first + self.players), self.come)
        if run.failed:
            raise SystemExit(f"{self.what}: {run.failed} of {self.players} logins failed")
        return run

    def figures(self, runs: Sequence[tuple[Run, Loop]]) -> list[Figure]:
        """Return the median, the slowest in a hundred, and the CPU of a login."""

        def walls(percent: int) -> list[Round]:
            return [Round(run.quantile(percent), loop.wall * 1e6) for run, loop in runs]

        spent = [Round(run.cpu, loop.cpu * 1e6) for run, loop in runs]
        return [
            Figure(f"{self.what}: p50", "ms", RC4_KILOBYTE, walls(50), self.p50),
            Figure(f"{self.what}: p99", "ms", RC4_KILOBYTE, walls(99), self.p99),
            Figure(f"{self.what}: CPU", "ms", RC4_KILOBYTE, spent, self.cpu),
        ]


CROWD_CPU = "0.3 ms; compiled 0.2"
KNOWN = (
    Scene("one after the other", in_sequence, 60, p50="5 ms"),
    Scene("100 in the same instant", at_once, 100, p50="25 ms", cpu=CROWD_CPU),
    Scene("100 within a second", within_a_second, 100),
    Scene("1000 in the same instant", at_once, 1000, p99="300 ms", cpu=CROWD_CPU),
    Scene("1000 within a second", within_a_second, 1000),
)
ARGON2 = Scene("with Argon2, 20 in the same instant", at_once, 20)


def report(rounds: int) -> list[Figure]:
    """Play every scene with players whose password is known, and one with others."""
    found = []
    with login_child(1000, *CHEAP) as server:
        make_known(server, 1000)
        for scene in KNOWN:
            found += scene.figures(scene.rounds(server, rounds))
    with login_child(rounds * ARGON2.players) as server:
        found += ARGON2.figures(ARGON2.rounds(server, rounds, anew=True))
    return found
