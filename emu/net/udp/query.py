"""One UDP port without sessions: a question in, at most a few datagrams out.

The core says what is answered and what validates an address (`emu.limits.rates`, tokens); how
often anybody is answered is decided here, before the core is asked to answer. Nothing that a
stranger sends raises out of here, and what a flood does is counted, not written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from typing import Protocol as TypingProtocol

from twisted.internet.protocol import DatagramProtocol
from twisted.logger import Logger

from emu.limits.addresses import plain_host
from emu.limits.rates import AnswerLimits, AnswerRules
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Outbox
from emu.net.udp.session_port import HostPort
from emu.net.udp.sockets import open_port
from emu.times import Monotonic

LONGEST_QUESTION = 4096
"""Bytes of a datagram that a core is given; no protocol's question is as long."""
READ_AT_ONCE = 4 * LONGEST_QUESTION
"""Bytes of questions that are answered before players have their turn again."""


class QueryCore(TypingProtocol):
    """A protocol of questions and answers; knows no socket and no clock.

    `address` is the asker's host, as `plain_host` spells it, and port. Raises nothing for bad
    bytes.
    """

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram shows that its sender receives what is sent to its address.

        Asked of strangers before anything else, and so it costs little whatever they send.
        """

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]:
        """Return the datagrams that answer one; none for what is not worth an answer.

        Without a proof it returns no more than it was sent, as far as the protocol lets it.
        """


class QueryShell(DatagramProtocol):
    """Joins a `QueryCore` to a UDP port."""

    noisy = False

    def __init__(
        self, core: QueryCore, scheduler: Scheduler, log: Logger, rules: AnswerRules | None = None
    ) -> None:
        self.core = core
        self._scheduler = scheduler
        self._limits = AnswerLimits(rules or AnswerRules(), scheduler.now(), core.validates)
        self._log = log
        self.outbox = Outbox(None, _nowhere)
        self.counters: Counter[str] = Counter()
        """Datagrams by what became of them: answered, silent, limited, failed, unsendable."""

    def startProtocol(self) -> None:
        """Take the socket; called by Twisted."""
        transport: Any = self.transport
        handle = getattr(transport, "getHandle", lambda: None)()
        is_ipv6 = ":" in transport.getHost().host
        self.outbox = Outbox(handle, transport.write, is_ipv6=is_ipv6)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Answer one datagram, or not; called by Twisted where it reads one by one."""
        self.take([(datagram, addr)])

    def take(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Answer each of many datagrams, or not; called by `BatchPort`."""
        for datagram, address in datagrams:
            self._answer(datagram, address)
        self._flush()

    def _answer(self, datagram: bytes, address: HostPort) -> None:
        now = self._scheduler.now()
        asker = (plain_host(address[0]), address[1])
        counters = self.counters
        try:
            if not address[1] or not self._limits.take(datagram, asker, now):
                counters["limited"] += 1
                return
            answers = self.core.answer(datagram, asker, now)
        except Exception:  # noqa: BLE001  # the port must go on whatever one stranger finds
            counters["failed"] += 1
            if counters["failed"] == 1:
                self._log.failure("answering a query failed; further ones are only counted")
            return
        counters["answered" if answers else "silent"] += 1
        for answer in answers:
            self.outbox.put(answer, address)

    def _flush(self) -> None:
        self.outbox.flush()
        if self.outbox.lost:  # no route, a forged address, a full buffer
            self.counters["unsendable"] = self.outbox.lost

    def send(self, datagram: bytes, address: tuple[str, int]) -> None:
        """Send what nobody asked for just now; `address` is one that the core was told."""
        self.outbox.put(datagram, address)
        self._flush()

    def connectionRefused(self) -> None:
        """An earlier answer found nobody; that is the asker's business."""


def listen_query(reactor: Any, host: str, port: int, shell: QueryShell) -> Any:
    """Open the port and return it; 0 lets the system choose. Raises `CannotListenError`."""
    return open_port(reactor, host, port, shell, longest=LONGEST_QUESTION, at_once=READ_AT_ONCE)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
