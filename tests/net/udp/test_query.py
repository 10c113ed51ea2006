"""A port without sessions, over real UDP and under a flood."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from emu.limits.answer_bytes import AnswerBytes
from emu.limits.rates import AnswerRules
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Outbox
from emu.net.udp.query import QueryShell, listen_query
from tests.support.admin.answering import Asker
from tests.support.running.whole_server import HOST, reactor, until


class Echo:
    """Answers with what it was sent; nothing for nothing, a fault for an ``!``."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def validates(self, data: bytes, address: tuple[str, int], now: float) -> bool:
        return data.startswith(b"proof")

    def answer(self, data: bytes, address: tuple[str, int], now: float) -> Sequence[bytes]:
        self.asked.append(address)
        if data == b"!":
            raise RuntimeError("a bug")
        return [data] if data else []


class Wire:
    """A transport that keeps count."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes, Any]] = []

    def write(self, data: bytes, addr: Any) -> None:
        if addr[0] == "203.0.113.9":
            raise OSError(101, "Network is unreachable")
        self.sent.append((data, addr))


def shell(rules: AnswerRules | None = None) -> tuple[QueryShell, Wire]:
    made, wire = QueryShell(Echo(), Scheduler(reactor), logger("test"), rules), Wire()
    made.outbox = Outbox(None, wire.write)
    return made, wire


def test_all_unproven_senders_of_all_ports_share_one_budget_of_bytes() -> None:
    budget = AnswerBytes(1000.0, Scheduler(reactor).now())
    shells = [QueryShell(Echo(), Scheduler(reactor), logger("test"), budget=budget) for _ in "ab"]
    wires = [Wire(), Wire()]
    for made, wire in zip(shells, wires, strict=True):
        made.outbox = Outbox(None, wire.write)
    for number in range(10):
        for made in shells:
            made.datagramReceived(bytes(100), (f"192.0.2.{number}", 5000))
    sent = sum(len(data) for wire in wires for data, _ in wire.sent)
    assert 1000 <= sent <= 1100  # some time may have passed
    assert sum(made.counters["over budget"] for made in shells) == 20 - sent // 100
    assert budget.sent == sent
    # A sender with a proof is answered, now and for a while.
    for data in (b"proof", b"x" * 100):
        shells[0].datagramReceived(data, ("192.0.2.200", 5000))
    assert [data for data, _ in wires[0].sent[-2:]] == [b"proof", b"x" * 100]


async def test_a_question_is_answered_over_udp(logged_failures) -> None:
    made = QueryShell(Echo(), Scheduler(reactor), logger("test"))
    port = listen_query(reactor, HOST, 0, made)
    asker = Asker()
    own = reactor.listenUDP(0, asker, interface=HOST)
    where: Any = port.getHost()
    try:
        for data in (b"", b"!", b"status", bytes(4_000)):
            asker.transport.write(data, (HOST, where.port))  # type: ignore[union-attr]
        await until(lambda: len(asker.heard) == 2, "two answers")
        assert asker.heard == [b"status", bytes(4_000)]
        assert made.counters == {"silent": 1, "failed": 1, "answered": 2}
        assert len(logged_failures.flush(RuntimeError)) == 1
    finally:
        await port.stopListening()
        await own.stopListening()


def test_a_mapped_address_is_the_plain_one() -> None:
    made, wire = shell()
    made.datagramReceived(b"x", ("::ffff:192.0.2.7", 5000))
    assert made.core.asked == [("192.0.2.7", 5000)]  # type: ignore[attr-defined]
    assert wire.sent == [(b"x", ("::ffff:192.0.2.7", 5000))]


def test_port_zero_and_unreachable_askers_are_only_counted() -> None:
    made, wire = shell()
    made.datagramReceived(b"x", ("192.0.2.7", 0))
    made.datagramReceived(b"x", ("203.0.113.9", 5000))
    assert wire.sent == []
    assert made.counters == {"limited": 1, "answered": 1, "unsendable": 1}


@pytest.mark.slow
def test_a_flood_of_invented_addresses_draws_so_much_and_no_more() -> None:
    made, wire = shell(AnswerRules(share_burst=100, share_rate=50, most_addresses=1000))
    tracemalloc.start()
    try:
        for number in range(50_000):
            host = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
            made.datagramReceived(b"x", (host, 5000))
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 100 <= len(wire.sent) < 5000
    assert grown < 4_000_000


def test_who_proves_its_address_is_answered_in_a_flood() -> None:
    made, wire = shell(AnswerRules(share_burst=10, share_rate=1))
    for number in range(100):
        made.datagramReceived(b"x", (f"10.0.0.{number}", 5000))
    made.datagramReceived(b"proof", ("192.0.2.7", 5000))
    assert wire.sent[10:] == [(b"proof", ("192.0.2.7", 5000))]
