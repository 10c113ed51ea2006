"""The bus of several processes in a running server: an exchange, its transport, and their timer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from twisted.internet.defer import Deferred

from emu.config import Config
from emu.database import ServerUrl
from emu.errors import ConfigError
from emu.net.bus.transport import BrokerTransport
from emu.net.scheduler import DelayedCall, Scheduler
from emu.processes.exchange import BusTimes, Exchange, OwnProcess, Shell

STEP: Final = 0.25
"""Seconds between two checks of the deadlines; none of them is shorter than a second."""


def transport_of(config: Config, reactor: Any, scheduler: Scheduler) -> BrokerTransport:
    """Return the transport of a node. Raises `ConfigError` if its driver is not installed."""
    where, settings = config.database.url, config.bus
    if settings.url:
        try:
            from emu.net.bus.nats import NatsServer, NatsTransport  # noqa: PLC0415  # an extra
        except ImportError:
            raise ConfigError(
                ["bus.url: NATS needs nats-py; install it with: pip install 'eq2emu[nats]'"]
            ) from None
        server = NatsServer(
            settings.url, settings.prefix, settings.credentials_file, settings.certificate
        )
        # Read once before the start, so that a wrong file ends it with a line.
        server.options()
        return NatsTransport(server, reactor, scheduler)
    from emu.net.bus.postgresql import PostgresqlTransport  # noqa: PLC0415  # an extra

    assert isinstance(where, ServerUrl)  # noqa: S101  # only such a database has nodes
    return PostgresqlTransport(where, reactor, scheduler)


class JoinedBus:
    """The bus of this process with those of the others. `start`, then `stop`."""

    def __init__(
        self,
        own: OwnProcess,
        transport: BrokerTransport,
        scheduler: Scheduler,
        *,
        start: Callable[[Coroutine[Any, Any, None]], None],
        failed: Callable[[Exception], None],
        times: BusTimes | None = None,
    ) -> None:
        """`start` runs a coroutine; `failed` gets errors of subscribers and other processes."""
        self.transport = transport
        self.exchange = Exchange(own, transport, Shell(scheduler, Deferred, start, failed), times)
        transport.receiver = self.exchange
        self._scheduler = scheduler
        self._steps: DelayedCall | None = None

    def start(self) -> None:
        """Begin to connect."""
        self._steps = self._scheduler.every(STEP, self._step)
        self.transport.start()

    async def stop(self) -> None:
        """Inform the others that this process goes, and close the connection."""
        if self._steps is not None:
            self._steps.cancel()
        self.exchange.stop()
        await self.transport.stop()

    def _step(self) -> None:
        now, due = self._scheduler.now(), self.exchange.get_timer()
        if due is not None and due <= now:
            self.exchange.handle_timer(now)
