"""One UDP port without sessions: a question in, at most a few datagrams out.

The core says what is answered and sees to its protocol's own proof of address
(`emu.limits.challenges`); how often anybody is answered is decided here, before the core is asked.
Nothing that a stranger sends raises out of here, and what a flood does is counted, not written.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Sequence
from typing import Any
from typing import Protocol as TypingProtocol

from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import DatagramProtocol
from twisted.logger import Logger

from emu.limits.addresses import plain_host, socket_host
from emu.limits.answers import AnswerLimits, AnswerRules
from emu.net.scheduler import Scheduler
from emu.times import Monotonic

LONGEST_QUESTION = 4096
"""Bytes of a datagram that a core is given; no protocol's question is as long."""


class QueryCore(TypingProtocol):
    """A protocol of questions and answers; knows no socket and no clock."""

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]:
        """Return the datagrams that answer one; none for what is not worth an answer.

        `address` is the asker's host, as `plain_host` spells it, and port. Raises nothing for bad
        bytes. Without a challenge that `address` has proven it returns no more than it was sent,
        as far as the protocol lets it.
        """


class QueryShell(DatagramProtocol):
    """Joins a `QueryCore` to a UDP port."""

    noisy = False

    def __init__(
        self, core: QueryCore, scheduler: Scheduler, log: Logger, rules: AnswerRules | None = None
    ) -> None:
        self.core = core
        self._scheduler = scheduler
        self._limits = AnswerLimits(rules or AnswerRules(), scheduler.now())
        self._log = log
        self.counters: Counter[str] = Counter()
        """Datagrams by what became of them: answered, silent, limited, failed, unsendable."""

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Answer one datagram, or not."""
        now = self._scheduler.now()
        host = plain_host(addr[0])
        if not addr[1] or not self._limits.take(host, now):
            self.counters["limited"] += 1
            return
        try:
            answers = self.core.answer(datagram, (host, addr[1]), now)
        except Exception:  # noqa: BLE001  # the port must go on whatever one stranger finds
            self.counters["failed"] += 1
            if self.counters["failed"] == 1:
                self._log.failure("answering a query failed; further ones are only counted")
            return
        self.counters["answered" if answers else "silent"] += 1
        for answer in answers:
            self._write(answer, addr)

    def send(self, datagram: bytes, address: tuple[str, int]) -> None:
        """Send what nobody asked for just now; `address` is one that the core was told."""
        transport: Any = self.transport
        if transport is not None:
            host, port = address
            is_ipv6 = ":" in transport.getHost().host
            self._write(datagram, (socket_host(host) if is_ipv6 else host, port))

    def _write(self, answer: bytes, addr: Any) -> None:
        transport: Any = self.transport
        try:
            transport.write(answer, addr)
        except OSError as error:  # no route, a forged address, a full buffer
            self.counters["unsendable"] += 1
            if error.errno == errno.EMSGSIZE:
                self._log.warn("an answer of {size} bytes is too large", size=len(answer))

    def connectionRefused(self) -> None:
        """An earlier answer found nobody; that is the asker's business."""


def listen_query(reactor: Any, host: str, port: int, shell: QueryShell) -> IListeningPort:
    """Open the port; 0 lets the system choose. Raises `CannotListenError`."""
    listening: IListeningPort = reactor.listenUDP(
        port, shell, interface=host, maxPacketSize=LONGEST_QUESTION
    )
    return listening
