"""The UDP ports of the query protocols, and the heartbeat to OGP master servers.

The protocols are in `emu.admin`; this module adds their settings, challenges and ports.

Source: docs/protocol/administration/ogp.md#decisions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from twisted.internet.error import CannotListenError

from emu.admin.a2s.responder import A2sResponder
from emu.admin.ogp.elements import ColorChange
from emu.admin.ogp.fields import DIALECTS
from emu.admin.ogp.responder import (
    OgpContentSource,
    OgpResponder,
    Presentation,
    master_uplink,
)
from emu.admin.ogp.rules import OgpRules
from emu.admin.ssq.query import Headers
from emu.admin.ssq.responder import SsqResponder, SsqRules, SsqTokens
from emu.admin.ssq.tables import SsqContent
from emu.admin.status import OpenPort, ServerStatus
from emu.config import Address, Config
from emu.config.administration import QueryConfig, SsqConfig
from emu.errors import CommandError, ConfigError
from emu.limits.answer_bytes import AnswerBytes
from emu.limits.rates import BURST_SECONDS, AnswerRules, Challenges
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.stream import cannot_listen, listen_address, open_port
from emu.net.udp.query import QueryCore, QueryShell, listen_query
from emu.net.watch import RefusalLog
from emu.times import Monotonic

INTERVAL: Final = 300.0
"""Seconds between two heartbeats. The protocol's text names no interval."""

_log = logger("query")


class MasterUplink:
    """The heartbeat to OGP master servers. A master queries the port that heartbeats come from."""

    def __init__(
        self,
        send: Callable[[bytes, tuple[str, int]], object],
        masters: Sequence[Address],
        game_id: int,
        scheduler: Scheduler,
    ) -> None:
        """Resolve the masters' names once; a name without an address is logged and skipped.

        `send` sends from the query port.
        """
        self._send_to = send
        self._datagram = master_uplink(game_id)
        self._scheduler = scheduler
        self._call: DelayedCall | None = None
        self._masters = []
        for master in masters:
            try:
                self._masters.append(listen_address("ogp.masters", master))
            except ConfigError as error:
                _log.warn("{error}", error=str(error))

    def start(self) -> None:
        """Send a heartbeat now, and repeat it until `stop`."""
        self._send()
        self._call = self._scheduler.every(INTERVAL, self._send)

    def stop(self) -> None:
        """Stop the heartbeats."""
        if self._call is not None:
            self._call.cancel()

    def _send(self) -> None:
        for master in self._masters:
            try:
                self._send_to(self._datagram, (master.host, master.port))
            except Exception:  # noqa: BLE001  # the other masters still get it
                _log.failure("cannot send to a master server")


_ssq_log = logger("ssq")


class SsqPort:
    """The SSQ listener. Call `listen`, then `stop`."""

    def __init__(
        self,
        config: SsqConfig,
        status: Callable[[Monotonic], ServerStatus],
        host: str,
        reactor: Any,
        scheduler: Scheduler,
        *,
        query: QueryConfig | None = None,
        budget: AnswerBytes | None = None,
    ) -> None:
        """Report what `status` returns; `host` is the address that game clients connect to.

        `query` has the limits of all query ports, and `budget` is that of their unproven bytes.
        """
        self._config = config
        self._reactor = reactor
        self._port: Any = None
        self.core = SsqResponder(
            lambda now: SsqContent(status(now), host),
            SsqTokens(config.password, os.urandom),
            ssq_rules(config),
            guessed=self._log_guess,
        )
        self._refusals = RefusalLog(_ssq_log, scheduler)
        self.shell = QueryShell(
            self.core, scheduler, _ssq_log, ssq_answer_rules(config, query or QueryConfig()), budget
        )

    @property
    def port(self) -> int:
        """The UDP port; 0 while it is closed."""
        return self._port.getHost().port if self._port is not None else 0

    def configure(self, config: SsqConfig) -> None:
        """Change settings. A new password invalidates the tokens of the old one."""
        # Without a change the tokens stay, so that a reload interrupts no client.
        if config.password != self._config.password:
            self.core.tokens = SsqTokens(config.password, os.urandom)
        self._config = config
        self.core.configure(ssq_rules(config))

    def listen(self) -> None:
        """Open the port if it is configured, and log its address. Raises `CannotListenError`."""
        if not self._config.enabled:
            return
        address = listen_address("ssq.listen", self._config.listen)
        self._port = listen_query(self._reactor, address.host, address.port, self.shell)
        host: Any = self._port.getHost()
        self._refusals.start()
        _ssq_log.info("queries on UDP {at}", at=Address(host.host, host.port))

    def _log_guess(self, host: str) -> None:
        if self._refusals.is_news("wrong passwords", "", host, "wrong password"):
            _ssq_log.warn("wrong password from {address}", address=host)

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the listener while it is open."""
        if self._port is not None:
            yield open_port("ssq.listen", self._port, self.shell.counters)

    async def stop(self) -> None:
        """Close the port."""
        if self._port is not None:
            await self._port.stopListening()
            self._port = None
            self._refusals.stop()


def ssq_answer_rules(config: SsqConfig, query: QueryConfig) -> AnswerRules:
    """Return the rate limits of SSQ. They limit amplification: an answer is larger than its query.

    All ports of one address together have twice the rate of one port. A flood with a spoofed
    address comes from ports that its owner does not use; so the owner still gets as much as one
    port.
    """
    return AnswerRules(
        address_burst=BURST_SECONDS * query.per_address,
        address_rate=float(query.per_address),
        unproven_rate=2.0 * query.per_address,
        share_burst=float(config.per_second),
        share_rate=float(config.per_second),
        most_addresses=query.addresses,
    )


def ssq_rules(config: SsqConfig) -> SsqRules:
    """Return the settings of the SSQ responder."""
    return SsqRules(headers=Headers(config.headers), datagram_bytes=config.datagram_bytes)


SECRET_SIZE = 32


class QueryEndpoints:
    """All query ports of a server. Call `listen`, then `stop`."""

    def __init__(
        self,
        config: Config,
        *,
        reactor: Any,
        scheduler: Scheduler,
        status: Callable[[Monotonic], ServerStatus],
        is_banned: Callable[[str], bool],
        budget: AnswerBytes | None = None,
    ) -> None:
        """`budget` is for the bytes of answers to addresses without a proof, as for `SsqPort`."""
        self._config = config
        self._budget = budget
        self._reactor = reactor
        self._scheduler = scheduler
        self._status = status
        self._is_banned = is_banned
        # One secret for all query ports: a challenge proves the address, whatever the protocol.
        self._challenges = Challenges(os.urandom(SECRET_SIZE))
        self._ports: list[Any] = []
        self._masters: MasterUplink | None = None
        self.shells: dict[str, QueryShell] = {}
        """The open ports by the name of their protocol."""

    def listen(self) -> None:
        """Open the configured ports and log their addresses. Raises `CommandError`."""
        ogp, a2s = self._config.ogp, self._config.a2s
        if ogp.listen is not None:
            shell = self._open("ogp.listen", "OGP", ogp.listen, self._ogp())
            if ogp.masters:
                self._masters = MasterUplink(shell.send, ogp.masters, ogp.game_id, self._scheduler)
                self._masters.start()
        if a2s.listen is not None:
            core = A2sResponder(self._status, self._challenges)
            self._open("a2s.listen", "A2S", a2s.listen, core)

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the open listeners."""
        for (name, shell), port in zip(self.shells.items(), self._ports, strict=True):
            yield open_port(f"{name}.listen", port, shell.counters)

    async def stop(self) -> None:
        """Close all ports."""
        if self._masters is not None:
            self._masters.stop()
        for port in self._ports:
            await port.stopListening()
        self._ports.clear()

    def _open(self, key: str, title: str, address: Address, core: QueryCore) -> QueryShell:
        """Open the port of one protocol; `key` is the setting of its address."""
        rules = answer_rules(self._config)
        shell = QueryShell(core, self._scheduler, _log, rules, self._budget)
        at = listen_address(key, address)
        try:
            port: Any = listen_query(self._reactor, at.host, at.port, shell)
        except CannotListenError as error:  # a TCP port may have the same number
            raise CommandError(cannot_listen(key, error)) from None
        self._ports.append(port)
        self.shells[key.partition(".")[0]] = shell
        host = port.getHost()
        _log.info("{title} on UDP {at}", title=title, at=Address(host.host, host.port))
        return shell

    def _ogp(self) -> OgpResponder:
        content = OgpContentSource(self._status, presentation(self._config))
        rules = ogp_rules(self._config)
        return OgpResponder(content.content, self._challenges, rules, is_banned=self._is_banned)


def answer_rules(config: Config) -> AnswerRules:
    """Return the rate limits of the query ports."""
    query = config.query
    return AnswerRules(
        address_burst=2 * query.per_address,
        address_rate=float(query.per_address),
        unproven_rate=float(query.unproven_per_address),
        share_burst=float(query.per_second),
        share_rate=float(query.per_second),
        most_addresses=query.addresses,
    )


def ogp_rules(config: Config) -> OgpRules:
    """Return the settings of the OGP responder."""
    wanted = config.ogp.dialect
    dialects = tuple(one for one in DIALECTS if wanted in ("auto", one.name))
    return OgpRules(dialects=dialects, most_parts=config.ogp.most_parts)


def presentation(config: Config) -> Presentation:
    """Return how the server presents itself in OGP."""
    ogp = config.ogp
    return Presentation(ogp.game_id, tuple(ColorChange(*one) for one in ogp.host_name_colors))
