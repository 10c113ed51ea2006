"""Commands of one connection: a turn later, in order, and a fault is answered."""

from __future__ import annotations

import json

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from emu.admin.console import ConsoleSession
from emu.commands import Call, Caller, Command, Registry
from emu.limits.connections import StreamLimits
from emu.metrics import EndpointUses
from emu.net.admin.commands import CommandStream
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks


class Transport(StringTransport):
    def abortConnection(self) -> None: ...


class Bench:
    def __init__(self) -> None:
        self.clock = Clock()
        self.heard: list[object] = []
        registry = Registry()

        async def echo(call: Call) -> str:
            return str(call.now)

        async def fault(_call: Call) -> None:
            raise ZeroDivisionError

        registry.extend([Command("when", "x", echo), Command("fault", "x", fault)])
        tasks = Tasks(logger("test"))
        self.uses = EndpointUses()
        self.stream = CommandStream(
            registry, tasks, Scheduler(self.clock), StreamLimits(), self.uses
        )
        self.transport = Transport()
        self.stream.transport = self.transport  # type: ignore[assignment]
        self.stream.start(ConsoleSession(Caller("root", 1000, "console")))

    def replies(self) -> list[list[str]]:
        return [json.loads(line)["lines"] for line in self.transport.value().splitlines()]


def test_a_command_is_run_a_turn_after_it_came() -> None:
    bench = Bench()
    bench.stream.dataReceived(b"when\nwhen\n")
    assert bench.replies() == []
    bench.clock.advance(3)
    assert bench.replies() == [["3.0"], ["3.0"]]


def test_a_crowd_of_commands_is_left_on_the_peers_side() -> None:
    bench = Bench()
    bench.stream.dataReceived(b"when\n" * 100)
    assert bench.transport.producerState == "paused"
    for _ in range(60):
        bench.clock.advance(0)
    assert bench.transport.producerState == "producing"


def test_a_fault_is_answered_and_the_connection_goes_on(logged_failures) -> None:
    bench = Bench()
    bench.stream.dataReceived(b"fault\nwhen\n")
    for _ in range(3):
        bench.clock.advance(0)
    assert bench.replies() == [["the command failed; see the server's log"], ["0.0"]]
    assert len(logged_failures.flush(ZeroDivisionError)) == 1
    assert bench.uses.requests == {"failed": 1, "done": 1}


def test_commands_are_counted_by_what_came_of_them_and_ends_by_their_reason() -> None:
    bench = Bench()
    bench.stream.dataReceived(b"when\nnonsense\nwhen\n")
    for _ in range(3):
        bench.clock.advance(0)
    assert bench.uses.requests == {"done": 2, "refused": 1}
    bench.stream.connectionLost()
    assert bench.uses.ended == {"connection lost": 1}


def test_an_answer_to_somebody_who_is_gone_goes_nowhere() -> None:
    bench = Bench()
    bench.stream.dataReceived(b"when\n")
    bench.stream.connectionLost()
    bench.clock.advance(0)
    assert bench.transport.value() == b""
    assert bench.uses.ended == {"connection lost": 1}


def test_a_peer_that_reads_no_answers_is_not_read_from_and_runs_no_command() -> None:
    bench = Bench()
    bench.stream.dataReceived(b"when\n" * 3)
    bench.stream.pauseProducing()
    assert bench.transport.producerState == "paused"
    for _ in range(5):
        bench.clock.advance(0)
    assert bench.uses.requests == {"done": 1}, "the one that had begun"
    bench.stream.resumeProducing()
    assert bench.transport.producerState == "producing"
    for _ in range(5):
        bench.clock.advance(0)
    assert len(bench.replies()) == 3


def test_a_command_that_waits_for_a_peer_is_not_run_when_the_peer_goes() -> None:
    bench = Bench()
    bench.stream.pauseProducing()
    bench.stream.dataReceived(b"when\n")
    bench.clock.advance(StreamLimits().stall_timeout)
    bench.stream.connectionLost()
    bench.stream.resumeProducing()
    bench.clock.advance(1)
    assert bench.uses.requests == {}
    assert bench.uses.ended == {"peer does not read": 1}
