"""Commands by RCON, compared with a bare Twisted server that sends every line back.

Figures are commands per second of *server CPU*, one at a time and ten at once, and how long the
slowest of ten callers waits for an answer beside 990 silent connections.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from emu.admin.rcon import PacketType, RconPacket
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child, child
from tools.bench.rcon_server import PASSWORD

SERVER = "tools.bench.rcon_server"
LINE_ECHO = "line echo"
WORD = b"alpha"
TURNS = 2000
SILENT = 990
CALLERS = 10
COMMAND = RconPacket(7, PacketType.EXECCOMMAND, b"echo " + WORD).encode()
ANSWER = RconPacket(7, PacketType.RESPONSE_VALUE, WORD).encode()
LINE = WORD + b"\r\n"


class Caller:
    """A connection on which the same question is asked again and again."""

    def __init__(self, port: int, asked: bytes, answer: bytes) -> None:
        self.asked = asked
        self._answer = answer
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, times: int = 1) -> None:
        """Ask so many times at once."""
        self._socket.sendall(self.asked * times)

    def heard(self, times: int = 1) -> None:
        """Wait for so many answers."""
        left = len(self._answer) * times
        while left:
            received = self._socket.recv(left)
            if not received:
                raise SystemExit("the server closed a connection")
            left -= len(received)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def rcon_caller(port: int) -> Caller:
    """Log in."""
    caller = Caller(port, RconPacket(1, PacketType.AUTH, PASSWORD.encode()).encode(), b"." * 14)
    caller.ask()
    caller.heard()
    caller.asked, caller._answer = COMMAND, ANSWER  # noqa: SLF001  # from now on
    return caller


def line_caller(port: int) -> Caller:
    """Connect to the echo."""
    return Caller(port, LINE, LINE)


def rate(server: Child, caller: Caller, at_once: int) -> float:
    """Return commands a second of the server's CPU."""
    before = server.cpu_seconds()
    for _ in range(TURNS // at_once):
        caller.ask(at_once)
        caller.heard(at_once)
    return TURNS / (server.cpu_seconds() - before)


def slowest(callers: list[Caller]) -> float:
    """Return the seconds after which the last of all who ask at once has its answer."""
    waits = []
    for _ in range(20):
        begun = time.perf_counter()
        for caller in callers:
            caller.ask()
        for caller in callers:
            caller.heard()
        waits.append(time.perf_counter() - begun)
    return max(waits)


@contextmanager
def crowded(port: int, call: Callable[[int], Caller]) -> Iterator[list[Caller]]:
    """Yield callers beside connections that say nothing."""
    silent = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(SILENT)]
    callers = [call(port) for _ in range(CALLERS)]
    try:
        yield callers
    finally:
        for one in silent:
            one.close()
        for caller in callers:
            caller.close()


def report(rounds: int) -> list[Figure]:
    """Ask RCON and the echo in turn."""
    figures = []
    with child(SERVER, "rcon") as server, child(SERVER, "lines") as echo:
        caller, plain = rcon_caller(server.port), line_caller(echo.port)
        for what, at_once in (("commands, one at a time", 1), ("commands, ten at once", 10)):
            found = [
                Round(rate(server, caller, at_once), rate(echo, plain, at_once))
                for _ in range(rounds)
            ]
            figures.append(Figure(what, "a second", LINE_ECHO, found, more_is_better=True))
        with crowded(server.port, rcon_caller) as ours, crowded(echo.port, line_caller) as theirs:
            found = [Round(slowest(ours) * 1e3, slowest(theirs) * 1e3) for _ in range(rounds)]
        what = f"slowest answer to {CALLERS} callers beside {SILENT} silent connections"
        figures.append(Figure(what, "ms", LINE_ECHO, found, "under 100 ms"))
    return figures
