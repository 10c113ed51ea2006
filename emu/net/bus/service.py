"""The bus of several processes in a running server: an exchange, its transport, and their timer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from twisted.internet.defer import Deferred

from emu.config import Config
from emu.database import ServerUrl
from emu.errors import ConfigError
from emu.metrics import MetricRegistry
from emu.net.bus.transport import BrokerTransport
from emu.net.scheduler import DelayedCall, Scheduler
from emu.processes.exchange import BusTimes, Exchange, OwnProcess, Shell

_COUNTED: Final = {"sent", "received", "gaps", "dropped", "reconnects", "connections"}
"""Counts that have a metric of their own."""
STEP: Final = 0.25
"""Seconds between two looks for a connection, while there is none."""


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
        known = times or BusTimes()
        self._longest = min(known.beat, known.patience)
        """Seconds in which no deadline can come that is not known yet."""
        self._steps: DelayedCall | None = None

    def start(self) -> None:
        """Begin to connect."""
        self._steps = self._scheduler.later(STEP, self._step)
        self.transport.start()

    async def stop(self) -> None:
        """Inform the others that this process goes, and close the connection."""
        if self._steps is not None:
            self._steps.cancel()
        self.exchange.stop()
        await self.transport.stop()

    def measure(self, measures: MetricRegistry) -> None:
        """Make the metrics of the bus."""
        exchange, state = self.exchange, self.transport.state
        sums = exchange.counters, state.counters
        for name, about, ask in (
            ("connected", "1 while the broker is reached.", lambda: exchange.is_connected),
            ("delay_seconds", "Time of the last heartbeat to the broker.", lambda: state.delay),
            (
                "lag_seconds",
                "The most that a beat of another process was later than its fastest one.",
                lambda: exchange.lag,
            ),
            ("processes", "Other processes that are reached.", lambda: len(exchange.others)),
        ):
            measures.gauge(f"bus_{name}", about, partial(_one, ask))
        for name, about, counter, key in (
            ("messages_sent", "Messages to other processes.", exchange.counters, "sent"),
            ("messages_received", "Messages of others.", exchange.counters, "received"),
            ("messages_dropped", "Messages that were not sent.", state.counters, "dropped"),
            ("gaps", "Times that notes were lost on the way.", exchange.counters, "gaps"),
            ("reconnects", "Connections after the first one.", state.counters, "reconnects"),
        ):
            measures.counter(f"bus_{name}", about).also(partial(_counted, counter, key))
        measures.counter(
            "bus_events", "What else has happened: refused messages, lost processes.", ["event"]
        ).also(
            lambda: {
                (event,): count
                for counter in sums
                for event, count in counter.items()
                if event not in _COUNTED
            }
        )

    def _step(self) -> None:
        now, due = self._scheduler.now(), self.exchange.get_timer()
        if due is not None and due <= now:
            self.exchange.handle_timer(now)
            due = self.exchange.get_timer()
        # A question that is asked meanwhile ends later than `_longest`.
        pause = STEP if due is None else min(max(0.0, due - now), self._longest)
        self._steps = self._scheduler.later(pause, self._step)


def _one(ask: Callable[[], float]) -> dict[tuple[str, ...], float]:
    return {(): float(ask())}


def _counted(counter: Counter[str], key: str) -> dict[tuple[str, ...], float]:
    return {(): counter[key]}
