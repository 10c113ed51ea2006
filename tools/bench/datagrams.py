"""Datagrams through one endpoint process, and through a bare Twisted UDP echo.

Each of many clients sends one small encrypted Packet and gets an Ack; the echo gets the same bytes
and returns them. The same loop in this process drives both and keeps a window of datagrams in
flight. Figures are datagrams per second of *server CPU*, so the driver's own cost does not count.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

from emu.session import Role, Session, SessionConfig
from emu.times import Monotonic
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child, child

CLIENTS = 64
TURNS = 300
SERVER = "tools.bench.echo_server"
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
        while session.key is None or session.statistics().packets_in_flight:
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
    """Drive all lanes for `TURNS` turns, one datagram under way in each."""
    before, wall = server.cpu_seconds(), 0.0
    for _ in range(TURNS):
        packets = [lane.packet() if talk else MESSAGE + bytes(8) for lane in lanes]
        start = time.perf_counter()
        for lane, data in zip(lanes, packets, strict=True):
            lane.socket.send(data)
        # The last one first: when it is there, so are the others. Waited for one by one, nearly
        # each answer would wake this process, and who sends it pays a datagram's time for that.
        answers = [lane.socket.recv(2048) for lane in reversed(lanes)]
        wall += time.perf_counter() - start
        if talk:
            for lane, data in zip(reversed(lanes), answers, strict=True):
                lane.answered(data)
    cpu = server.cpu_seconds() - before
    total = TURNS * len(lanes)
    return Rate(total / wall, total / cpu if cpu else float("inf"))


def report(rounds: int) -> list[Figure]:
    """Drive both kinds of server in turn, round by round."""
    with child(SERVER, "echo") as echo, child(SERVER, "session") as ours:
        plain = [Lane(echo.port, number) for number in range(CLIENTS)]
        keyed = [Lane(ours.port, number) for number in range(CLIENTS)]
        for lane in keyed:
            lane.open()
        pairs = [(run(ours, keyed, talk=True), run(echo, plain, talk=False)) for _ in range(rounds)]
        for lane in plain + keyed:
            lane.socket.close()
    return [
        Figure(
            "endpoint (check, RC4, Ack), by CPU",
            "a second",
            "echo",
            [Round(rate.cpu, bare.cpu) for rate, bare in pairs],
            "0.65; compiled 1.0",
            more_is_better=True,
        ),
        Figure(
            "the same, by the clock",
            "a second",
            "echo",
            [Round(rate.wall, bare.wall) for rate, bare in pairs],
            more_is_better=True,
        ),
    ]
