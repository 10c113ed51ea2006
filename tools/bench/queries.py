"""Queries of server lists through one query port, compared with a bare Twisted UDP echo.

Many clients at once, each with its own challenge if the protocol has one, ask for the line in a
server list; the echo gets the same queries and returns them. Figures are answers per second of
*server CPU*; for GGMP received messages, since queries and answers are acknowledged.
"""

from __future__ import annotations

import socket

from emu.admin.a2s.client import A2sQuestion
from emu.admin.a2s.messages import A2sQuery
from emu.admin.ggmp.acting import GgmpAction
from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import GgmpAct, GgmpMessage, GgmpMessageType, push_message
from emu.admin.ogp.client import OgpQuestion
from emu.admin.ogp.fields import SERVER, V91, all_flags
from emu.admin.ogp.messages import DefaultQuery
from emu.admin.ssq.packets import SsqQuestion
from emu.cli.query import Question
from emu.times import Monotonic
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child, child

ASKERS = 64
NOW = Monotonic(0.0)
TURNS = 300
ECHO = "tools.bench.echo_server"
SERVER_OF_QUERIES = "tools.bench.query_server"
TITLES = {"ogp": "OGP, server information", "a2s": "A2S, INFO", "ssq": "SSQ, SP info"}


def question_of(protocol: str, number: int) -> Question:
    """Return what a list asks for its line of a server."""
    if protocol == "ogp":
        return OgpQuestion(number + 1, V91, DefaultQuery(SERVER, server=all_flags(V91.server)))
    if protocol == "a2s":
        return A2sQuestion(A2sQuery.INFO)
    return SsqQuestion(number, "SP info")


class Asker:
    """One socket with its question, as it is asked once the challenge is known."""

    def __init__(self, server: Child, question: Question) -> None:
        self.socket = open_socket(server)
        while not question.is_answered:
            self.data = question.datagram()
            self.socket.send(self.data)
            question.receive(self.socket.recv(2048))


def open_socket(server: Child) -> socket.socket:
    """Return a socket that speaks to a server."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.connect(("127.0.0.1", server.port))
    made.settimeout(2)
    return made


def rate(server: Child, sockets: list[socket.socket], questions: list[bytes]) -> float:
    """Ask all at once, turn by turn; return answers a second of the server's CPU."""
    before = server.cpu_seconds()
    for _ in range(TURNS):
        for one, data in zip(sockets, questions, strict=True):
            one.send(data)
        for one in sockets:
            one.recv(2048)
    cpu = server.cpu_seconds() - before
    return TURNS * len(sockets) / cpu if cpu else float("inf")


def rounds_of(protocol: str, rounds: int) -> list[Round]:
    """Ask a server of one protocol and the echo in turn."""
    with child(ECHO, "echo") as echo, child(SERVER_OF_QUERIES, protocol) as server:
        askers = [Asker(server, question_of(protocol, number)) for number in range(ASKERS)]
        plain = [open_socket(echo) for _ in askers]
        asked = [asker.data for asker in askers]
        sockets = [asker.socket for asker in askers]
        found = [
            Round(rate(server, sockets, asked), rate(echo, plain, asked)) for _ in range(rounds)
        ]
        for one in sockets + plain:
            one.close()
    return found


class GgmpAsker:
    """One client of those whom the server knows; asks where an actor stands."""

    def __init__(self, server: Child, number: int) -> None:
        self.socket = open_socket(server)
        self._client = GgmpClient(number=number)

    def ask(self) -> None:
        """Send a question."""
        self._client.query(1, NOW)
        self.send()

    def finish(self) -> int:
        """Take the answer and acknowledge it; return how many messages the server has taken."""
        while self._client.next_delivery() is None:
            self.take()
        self.send()
        return 2

    def take(self) -> None:
        """Take one datagram."""
        self._client.receive(self.socket.recv(2048), NOW)

    def send(self) -> None:
        """Send what is to be sent."""
        for data in self._client.data_to_send():
            self.socket.send(data)


def ggmp_rate(server: Child, askers: list[GgmpAsker]) -> float:
    """Ask all at once, turn by turn; return messages taken a second of the server's CPU."""
    before, taken = server.cpu_seconds(), 0
    for _ in range(TURNS):
        for asker in askers:
            asker.ask()
        taken += sum(asker.finish() for asker in askers)
    cpu = server.cpu_seconds() - before
    return taken / cpu if cpu else float("inf")


def ggmp_rounds(rounds: int) -> list[Round]:
    """Ask a server of GGMP and the echo in turn."""
    with child(ECHO, "echo") as echo, child(SERVER_OF_QUERIES, "ggmp") as server:
        askers = [GgmpAsker(server, number + 1) for number in range(ASKERS)]
        plain = [open_socket(echo) for _ in askers]
        act = push_message(
            GgmpMessage(GgmpMessageType.ACTION, 1, 1, act=GgmpAct(1, GgmpAction.QUERY))
        )
        found = [
            Round(ggmp_rate(server, askers), rate(echo, plain, [act] * len(plain)))
            for _ in range(rounds)
        ]
        for one in [*(asker.socket for asker in askers), *plain]:
            one.close()
    return found


def report(rounds: int) -> list[Figure]:
    """Measure each protocol."""
    measured = {title: rounds_of(protocol, rounds) for protocol, title in TITLES.items()}
    measured["GGMP, query and Ack"] = ggmp_rounds(rounds)
    return [
        Figure(title, "a second", "echo", found, "0.4", more_is_better=True)
        for title, found in measured.items()
    ]
