"""A world behind a lossy network: real shell, zone entry and service, no sockets or clocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from twisted.logger import Logger

from emu.client.world import ClientWorldMessages, WorldClientCore, WorldHandoff
from emu.client.world.events import WorldEvent
from emu.limits.rates import TurnRules
from emu.net.client.world_connection import ClientWorldConnection
from emu.net.scheduler import Scheduler
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.session_port import Accounting, SessionPort
from emu.net.udp.sockets import listen
from emu.net.world.timer import WorldTimer
from emu.session import Endpoint, EndpointConfig
from emu.times import Moment, Monotonic
from emu.world.entry.zone_entry import EnteringClient, ZoneEntry
from tests.support.sessions.lossy_net import LossyReactor
from tests.support.world.ghost_views import DIALECTS, dialect
from tests.support.world.worlds import WorldHarness

HOST, PORT = "127.0.0.1", 9001
_LOG = Logger()


class LossyWorld:
    """A world on a `LossyReactor`, and the way into it without a login server."""

    def __init__(self, reactor: LossyReactor) -> None:
        self.reactor = reactor
        scheduler = Scheduler(reactor, reactor.seconds)
        timer = WorldTimer(scheduler, self._next_turn, self._turn)
        self.harness = WorldHarness(wake=timer.wake)
        self.zone_entry = ZoneEntry(
            dialects=DIALECTS,
            inside=self.harness.service,
            admission=self.harness.admission,
            presence=self.harness.presence,
            claim=lambda account_id, _char_id: self.harness.store.of_account(account_id),
            played=self._played,
            report=lambda _event: None,
            changed=lambda: None,
            clock=scheduler,
        )
        numbers = itertools.count(1)
        self.dispatcher = Dispatcher(
            Endpoint(
                EndpointConfig(), random_bytes=lambda size: next(numbers).to_bytes(size, "big")
            ),
            scheduler,
            self._visitor,
            _LOG,
            # Time is virtual: what the machine takes for a step is no part of it.
            accounting=Accounting(TurnRules(), clock=lambda: 0.0),
        )
        listen(reactor, HOST, PORT, self.dispatcher)

    def _next_turn(self) -> Monotonic | None:
        return self.harness.world.timetable.get_timer()

    def _turn(self, now: Monotonic) -> None:
        self.harness.world.timetable.handle_timer(now)

    def _visitor(self, port: SessionPort, now: Monotonic) -> EnteringClient:
        client = self.zone_entry.connect(port, port.address[0], now)
        port.closing = client.closing
        return client

    async def _played(self, _char_id: int, _moment: Moment) -> None:
        """Note nothing."""

    async def enter(
        self, char_id: int, version: int, on_event: Callable[[WorldEvent], None]
    ) -> ClientWorldConnection:
        """Let a character come in; returns when it stands."""
        row = self.harness.store.rows[char_id]
        self.harness.store.rows[char_id] = replace(row, client_version=version)
        key = await self.harness.keys.issue(row.account_id, char_id, row.name)
        core = WorldClientCore(
            ClientWorldMessages(dialect(version)), WorldHandoff(HOST, PORT, row.account_id, key)
        )
        client = ClientWorldConnection(self.reactor, core, timeout=60.0, on_event=on_event)
        client.start()
        await client.stand()
        return client
