"""One UDP port without sessions: a query in, a few datagrams out.

The protocol decides the answer and what validates an address (`emu.limits.rates`, tokens). This
module limits how often an address gets an answer, before the protocol sees the query. Datagrams
never raise out of here; a flood is counted, not logged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from typing import Protocol as TypingProtocol

from twisted.internet.protocol import DatagramProtocol
from twisted.logger import Logger

from emu.limits.addresses import plain_host
from emu.limits.answer_bytes import AnswerBytes
from emu.limits.rates import AnswerLimits, AnswerRules
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Outbox
from emu.net.udp.session_port import HostPort
from emu.net.udp.sockets import open_port
from emu.times import Monotonic

LONGEST_QUESTION = 4096
"""The most bytes of a query; every protocol's queries are shorter."""
READ_AT_ONCE = 4 * LONGEST_QUESTION
"""The bytes of queries that are answered before other sockets have their turn."""


class QueryCore(TypingProtocol):
    """A query protocol without input or output.

    `address` is the sender's host, in the form of `plain_host`, and port. Malformed datagrams raise
    nothing.
    """

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Return whether a datagram proves that its sender receives what is sent to its address.

        It is called first for every unknown address, so it must be cheap for any bytes.
        """

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]:
        """Return the datagrams that answer a query; none if it deserves no answer.

        Without a proof they have no more bytes than the query, as far as the protocol allows.
        """


class QueryShell(DatagramProtocol):
    """Joins a `QueryCore` to a UDP port."""

    noisy = False

    def __init__(
        self,
        core: QueryCore,
        scheduler: Scheduler,
        log: Logger,
        rules: AnswerRules | None = None,
        budget: AnswerBytes | None = None,
    ) -> None:
        """`budget` is for the bytes of all answers to addresses without a proof; None: no bound."""
        self.core = core
        self._budget = budget
        self._scheduler = scheduler
        self._limits = AnswerLimits(rules or AnswerRules(), scheduler.now(), core.validates)
        self._log = log
        self.outbox = Outbox(None, _nowhere)
        self.counters: Counter[str] = Counter()
        """Datagrams by outcome: answered, silent, limited, over budget, failed, unsendable."""

    def startProtocol(self) -> None:
        """Make the outbox; called by Twisted."""
        transport: Any = self.transport
        handle = getattr(transport, "getHandle", lambda: None)()
        is_ipv6 = ":" in transport.getHost().host
        self.outbox = Outbox(handle, transport.write, is_ipv6=is_ipv6)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Handle a single datagram; called by Twisted's own port."""
        self.receive_datagrams([(datagram, addr)])

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Handle the datagrams of one read; called by `BatchPort`."""
        for datagram, address in datagrams:
            self._answer(datagram, address)
        self._flush()

    def _answer(self, datagram: bytes, address: HostPort) -> None:
        now = self._scheduler.now()
        # The limits and the proofs know the IPv4 form only; the answer goes to the socket's own
        # form.
        asker = (plain_host(address[0]), address[1])
        counters = self.counters
        try:
            # No datagram can be sent to port 0; only a forged one has it.
            if not address[1] or not self._limits.take(datagram, asker, now):
                counters["limited"] += 1
                return
            answers = self.core.answer(datagram, asker, now)
            if answers and not self._pays_for(answers, asker[0], now):
                counters["over budget"] += 1
                return
        except Exception:  # noqa: BLE001  # a fault must not close the port
            counters["failed"] += 1
            # A flood of the same fault must not fill the log.
            if counters["failed"] == 1:
                self._log.failure("answering a query failed; further ones are only counted")
            return
        counters["answered" if answers else "silent"] += 1
        for answer in answers:
            self.outbox.put(answer, address)

    def _pays_for(self, answers: Sequence[bytes], host: str, now: Monotonic) -> bool:
        """Charge an answer to an address without a proof; return False above the budget."""
        if self._budget is None or self._limits.has_proved(host, now):
            return True
        return self._budget.take(sum(map(len, answers)), now)

    def _flush(self) -> None:
        self.outbox.flush()
        if self.outbox.lost:  # no route, a forged address, a full buffer
            self.counters["unsendable"] = self.outbox.lost

    def send(self, datagram: bytes, address: tuple[str, int]) -> None:
        """Send a datagram that is not an answer, to an address that the core has seen."""
        self.outbox.put(datagram, address)
        self._flush()

    def connectionRefused(self) -> None:
        """Ignore that an earlier answer was refused; called by Twisted."""


def listen_query(reactor: Any, host: str, port: int, shell: QueryShell) -> Any:
    """Open the port and return it; 0 lets the system choose. Raises `CannotListenError`."""
    return open_port(reactor, host, port, shell, longest=LONGEST_QUESTION, at_once=READ_AT_ONCE)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
