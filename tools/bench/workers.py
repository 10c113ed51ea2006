"""Logins served by two workers on one port: CPU of a login, compared with one worker.

The one worker runs beside a busy loop: a core of most machines is slower while others are busy, and
this is no cost of the workers. The database is PostgreSQL; ``EMU_POSTGRESQL`` names a server other
than that of the tests. The server's own CPU is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from emu.config import load
from emu.net.parameters import account_config
from tests.support.database.engines import empty_database, server
from tools.bench.figures import Figure, Round
from tools.bench.login_child import CHEAP, OFTEN, make_accounts
from tools.bench.login_players import LoginPlayers
from tools.bench.logins import at_once
from tools.bench.processes import Child, child, children_of, cpu_seconds_of

PLAYERS = (100, 400)
AIM = "1.15"


class Family(Child):
    """A supervisor with its workers."""

    def cpu_seconds(self) -> float:
        """CPU of the supervisor and of all workers."""
        numbers = [self.process.pid, *children_of(self.process.pid)]
        return sum(map(cpu_seconds_of, numbers))


@contextmanager
def workers(count: int, url: str) -> Iterator[Family]:
    """Run a supervisor with some workers."""
    with tempfile.TemporaryDirectory(prefix="emu-bench-") as folder:
        command = ("tools.bench.worker_server", str(count), folder, url, *OFTEN, *CHEAP)
        with child(*command) as found:
            yield Family(found.process, found.port)


@contextmanager
def busy_loop() -> Iterator[None]:
    """Keep one more core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def cpu_of_a_login(served: Family, count: int) -> float:
    """Return the milliseconds of CPU of one login, of many in the same instant."""
    group = LoginPlayers(served.port)
    players = group.add(range(count))
    before = served.cpu_seconds()
    at_once(group, players)
    spent = served.cpu_seconds() - before
    failed = sum(player.seconds is None for player in players)
    group.settle()
    group.leave()
    if failed:
        raise SystemExit(f"{failed} of {count} logins failed")
    return spent / count * 1000


def report(rounds: int) -> list[Figure]:
    """Compare two workers with one, round by round."""
    where, reason = server()
    if where is None:
        raise SystemExit(reason)
    found: dict[int, list[Round]] = {count: [] for count in PLAYERS}
    with empty_database() as made:
        url = str(made)
        make_accounts(made, max(PLAYERS), account_config(load(None, list(CHEAP))).passwords, 0)
        with workers(1, url) as one, workers(2, url) as two:
            for count in PLAYERS:
                # Once before, so that each has connections and code in memory.
                cpu_of_a_login(one, count)
                cpu_of_a_login(two, count)
                for _ in range(rounds):
                    with busy_loop():
                        alone = cpu_of_a_login(one, count)
                    found[count].append(Round(cpu_of_a_login(two, count), alone))
    return [
        Figure(f"two workers, {count} in the same instant: CPU", "ms",
               "one worker beside a busy loop", measured, AIM)
        for count, measured in found.items()
    ]  # fmt: skip
