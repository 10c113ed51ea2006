"""Datagrams through one endpoint process, beside a bare Twisted UDP echo on the same machine.

Each of many clients sends one small encrypted Packet and gets an Ack; the echo gets the same
bytes and returns them. Both are driven by the same loop in this process, a window of datagrams
under way at any time, and both are told in datagrams a second of *server CPU*, so that the
driver's own cost does not count.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

from emu.session import Role, Session, SessionConfig
from emu.times import Monotonic
from tools.bench.processes import Child, child

CLIENTS = 64
ROUNDS = 600
MESSAGE = bytes(range(24))


@dataclass(frozen=True)
class Rate:
    """What one run showed."""

    wall: float
    """Datagrams a second by the clock on the wall."""
    cpu: float
    """Datagrams a second of server CPU."""


class Lane:
    """One client: a socket and a session that has its key."""

    def __init__(self, port: int, number: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(2)
        self.session = Session(
            SessionConfig(), role=Role.CLIENT, session_id=number + 1, key_block=os.urandom(60)
        )

    def open(self) -> None:
        """Set the session up, key and all."""
        session = self.session
        session.connect(Monotonic(time.monotonic()))
        while session.key is None or session.statistics().packets_under_way:
            for data in session.datagrams_to_send(Monotonic(time.monotonic())):
                self.socket.send(data)
            session.receive_datagram(self.socket.recv(2048), Monotonic(time.monotonic()))

    def packet(self) -> bytes:
        """Return one datagram with one small encrypted message."""
        self.session.send(50, MESSAGE)
        (data,) = self.session.datagrams_to_send(Monotonic(time.monotonic()))
        return data

    def answered(self, data: bytes) -> None:
        """Take the server's answer in."""
        self.session.receive_datagram(data, Monotonic(time.monotonic()))


def run(server: Child, lanes: list[Lane], *, talk: bool) -> Rate:
    """Drive all lanes for `ROUNDS` rounds, one datagram under way in each."""
    ready = [[lane.packet() if talk else MESSAGE + bytes(8) for lane in lanes]]
    before, start, spent = server.cpu_seconds(), time.perf_counter(), 0.0
    for _ in range(ROUNDS):
        for lane, data in zip(lanes, ready.pop(), strict=True):
            lane.socket.send(data)
        answers = [lane.socket.recv(2048) for lane in lanes]
        pause = time.perf_counter()
        if talk:
            for lane, data in zip(lanes, answers, strict=True):
                lane.answered(data)
            ready.append([lane.packet() for lane in lanes])
        else:
            ready.append([MESSAGE + bytes(8)] * len(lanes))
        spent += time.perf_counter() - pause
    wall = time.perf_counter() - start - spent
    cpu = server.cpu_seconds() - before
    total = ROUNDS * len(lanes)
    return Rate(total / wall, total / cpu if cpu else float("inf"))


def measure(kind: str) -> Rate:
    """Measure one kind of server: ``echo`` or ``session``."""
    with child("tools.bench.echo_server", kind) as server:
        lanes = [Lane(server.port, number) for number in range(CLIENTS)]
        if kind == "session":
            for lane in lanes:
                lane.open()
        rate = run(server, lanes, talk=kind == "session")
        for lane in lanes:
            lane.socket.close()
    return rate


def report() -> list[tuple[str, str]]:
    """Measure both, twice in turn, and return rows of (what, figure)."""
    echo, house = measure("echo"), measure("session")
    again, house_again = measure("echo"), measure("session")
    echo_cpu, house_cpu = max(echo.cpu, again.cpu), max(house.cpu, house_again.cpu)
    echo_wall, house_wall = max(echo.wall, again.wall), max(house.wall, house_again.wall)
    return [
        ("bare echo, datagrams per second of CPU", f"{echo_cpu:,.0f}"),
        ("endpoint (check, RC4, Ack), the same", f"{house_cpu:,.0f}"),
        ("ratio by CPU (aim 0.5)", f"{house_cpu / echo_cpu:.2f}"),
        ("ratio by wall clock", f"{house_wall / echo_wall:.2f}"),
    ]
