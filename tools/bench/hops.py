"""How many calls, in how many files, one login and one datagram take: counted, not timed.

Calls are those of Python functions below ``emu/`` in all threads of the server, from the session
request until everything is acknowledged and stored, of a player whose password is known. How
datagrams fall together and what the server does by its own clock make the spread. Run as ``python
-m tools.bench.hops`` it prints them by file and function.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tools.bench.figures import Figure, Round
from tools.bench.fleet import PLAIN_MESSAGE, Fleet
from tools.bench.login_child import CHEAP, login_child
from tools.bench.processes import Child

Hops = dict[str, dict[str, int]]
"""Calls by file and function."""
LOGIN = "connect and login"
DATAGRAM = "message in, ack out"


def counted(server: Child, act: Callable[[], object]) -> Hops:
    """Return what a server calls while something is done."""
    _tell(server)
    act()
    return _tell(server)


def _tell(server: Child) -> Hops:
    assert server.process.stdout is not None
    server.process.send_signal(signal.SIGUSR2)
    hops: Hops = json.loads(server.process.stdout.readline())
    return hops


@contextmanager
def hops_server() -> Iterator[Child]:
    """Run a server that counts, and knows one player's password."""
    with login_child(1, *CHEAP, module="tools.bench.hops_server") as server:
        one_round(server)
        yield server


def one_round(server: Child) -> dict[str, Hops]:
    """Let the player come, say something that needs no answer, and leave."""
    fleet = Fleet(server.port)
    players = fleet.add([0])

    def log_in() -> None:
        fleet.log_in(players)
        fleet.settle()

    def say() -> None:
        fleet.say(players, *PLAIN_MESSAGE)
        fleet.settle()

    hops = {LOGIN: counted(server, log_in), DATAGRAM: counted(server, say)}
    if players[0].seconds is None:
        raise SystemExit(f"the player could not log in: {players[0].trouble}")
    fleet.leave()
    return hops


def report(rounds: int) -> list[Figure]:
    """Count some rounds; there is no yardstick, as time plays no part."""
    with hops_server() as server:
        found = [one_round(server) for _ in range(rounds)]

    def figure(what: str, unit: str, size: Callable[[Hops], int], aim: str) -> Figure:
        counts = [Round(size(hops[what]), 1) for hops in found]
        return Figure(f"{what}: {unit}", unit, "one", counts, aim)

    return [
        figure(LOGIN, "calls", calls, "900"),
        figure(LOGIN, "files", len, "30"),
        figure(DATAGRAM, "calls", calls, ""),
        figure(DATAGRAM, "files", len, ""),
    ]


def calls(hops: Hops) -> int:
    """Return how many calls there were."""
    return sum(sum(functions.values()) for functions in hops.values())


def main() -> None:
    """Print what one round calls, the most first."""
    with hops_server() as server:
        found = one_round(server)
    for what, hops in found.items():
        print(f"{what}: {calls(hops)} calls in {len(hops)} files")
        for file, functions in sorted(hops.items(), key=lambda one: -sum(one[1].values())):
            print(f"{sum(functions.values()):6} {file}")
            for name, number in sorted(functions.items(), key=lambda one: -one[1]):
                print(f"{number:12} {name}")


if __name__ == "__main__":
    main()
