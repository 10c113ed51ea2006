"""SSQ's port."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from emu.admin.ssq.query import Headers
from emu.admin.ssq.responder import ANSWER_RULES, SsqResponder, SsqRules
from emu.admin.ssq.tables import Told
from emu.admin.ssq.tokens import Tokens
from emu.admin.status import OpenDoor, ServerStatus
from emu.config import Address
from emu.config.administration import SsqConfig
from emu.net.hosts import door, listen_address
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.udp.query import QueryShell, listen_query
from emu.times import Monotonic

_log = logger("ssq")


class SsqPort:
    """The port of one server. `listen`, then `stop`."""

    def __init__(
        self,
        config: SsqConfig,
        status: Callable[[Monotonic], ServerStatus],
        host: str,
        reactor: Any,
        scheduler: Scheduler,
    ) -> None:
        """Tell what `status` returns; `host` is where clients of the game are told to go."""
        self._config = config
        self._reactor = reactor
        self._port: Any = None
        self.core = SsqResponder(
            lambda now: Told(status(now), host),
            Tokens(config.password, os.urandom),
            ssq_rules(config),
        )
        self.shell = QueryShell(self.core, scheduler, _log, ANSWER_RULES)

    @property
    def port(self) -> int:
        """The UDP port; 0 while it is closed."""
        return self._port.getHost().port if self._port is not None else 0

    def configure(self, config: SsqConfig) -> None:
        """Answer in other ways from now on; another password ends what the last one has opened."""
        if config.password != self._config.password:
            self.core.tokens = Tokens(config.password, os.urandom)
        self._config = config
        self.core.configure(ssq_rules(config))

    def listen(self) -> None:
        """Open the port, when it is wanted, and say where. Raises `CannotListenError`."""
        if not self._config.enabled:
            return
        address = listen_address("ssq.listen", self._config.listen)
        self._port = listen_query(self._reactor, address.host, address.port, self.shell)
        host: Any = self._port.getHost()
        _log.info("queries on UDP {at}", at=Address(host.host, host.port))

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the port, while it is open."""
        if self._port is not None:
            yield door("ssq.listen", self._port, self.shell.counters)

    async def stop(self) -> None:
        """Close the port."""
        if self._port is not None:
            await self._port.stopListening()
            self._port = None


def ssq_rules(config: SsqConfig) -> SsqRules:
    """Return how questions are answered."""
    return SsqRules(headers=Headers(config.headers), datagram_bytes=config.datagram_bytes)
