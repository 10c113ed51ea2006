"""The UDP port of the built-in world: its sessions, and how their clients enter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from emu.admin.status import OpenPort
from emu.config import Address
from emu.limits.addresses import reachable
from emu.net import parameters
from emu.net.cluster.service import ProcessContext, ProcessesEndpoint
from emu.net.login.service import drained
from emu.net.logs import logger
from emu.net.machine import machine_of
from emu.net.stream import listen_address, open_port
from emu.net.turns import TurnQueue
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.session_port import Accounting, SessionPort
from emu.net.udp.sockets import listen
from emu.net.watch import RefusalLog, Watch, report_to
from emu.net.world.claims import Claims
from emu.net.world.measures import measure_world
from emu.session import Endpoint
from emu.times import Moment, Monotonic
from emu.world.assembly import Assembly
from emu.world.entry.zone_entry import EnteringClient, ZoneEntry
from emu.world.recording.recorder import Inside

_log = logger("world")


class WorldListener:
    """The UDP port of one world: `listen`, then `close`, then `stop`."""

    def __init__(
        self,
        ground: ProcessContext,
        cluster: ProcessesEndpoint,
        parts: Assembly,
        watch: Watch,
        *,
        claims: Claims,
        refusals: RefusalLog,
        inside: Inside,
        status_changed: Callable[[], None],
    ) -> None:
        """`inside` takes the inputs of the world; the listener starts and stops `refusals`."""
        self.inside = inside
        self._ground = ground
        self._cluster = cluster
        self._world = parts.world
        self._refusals = refusals
        self._port: Any = None
        self._entry = ZoneEntry(
            dialects=parts.ports.dialects,
            inside=inside,
            admission=parts.admission,
            presence=cluster.processes.presence,
            claim=claims.claim,
            take=claims.use_key if claims.can_take else None,
            played=self._played,
            report=watch.port("entry", report_to(_log, refusals)),
            changed=status_changed,
            clock=ground.scheduler,
            is_kept_out=self._is_kept_out,
            take_turn=TurnQueue(ground.scheduler.soon).wait,
        )
        self.dispatcher = self._make_dispatcher(parts, watch)

    def _make_dispatcher(self, parts: Assembly, watch: Watch) -> Dispatcher:
        config, scheduler = self._ground.config, self._ground.scheduler
        endpoint = Endpoint(
            parameters.endpoint_config(config, config.world.crc_seed), random_bytes=os.urandom
        )
        measure_world(watch, endpoint, parts.world, parts.behaviors, lambda: self._entry.counters)
        machine = machine_of(self._ground.reactor)
        accounting = Accounting(parameters.turn_rules(config), machine.work, machine.processor)
        watch.turns("world", accounting)
        return Dispatcher(endpoint, scheduler, self._new_client, _log, accounting=accounting)

    def _new_client(self, port: SessionPort, now: Monotonic) -> EnteringClient:
        client = self._entry.connect(port, port.address[0], now)
        port.closing = client.closing
        return client

    async def _is_kept_out(self, account_id: int, address: str) -> bool:
        """Return whether an account or an address is banned or disabled. Raises `StoreError`."""
        return bool(await self._cluster.accounts.kept_out([(account_id, address)]))

    async def _played(self, char_id: int, moment: Moment) -> None:
        """Store when a character was played, without making its player wait."""
        player = self._world.players.get(char_id)
        if player is not None:
            self._world.saves.played(player, moment)

    @property
    def port(self) -> int:
        """The UDP port that is open; 0 before `listen`."""
        return int(self._port.getHost().port) if self._port is not None else 0

    def listen(self, at: Address) -> None:
        """Open the port. Raises `CannotListenError`."""
        address = listen_address("world.listen", at)
        self._port = listen(self._ground.reactor, address.host, address.port, self.dispatcher)
        self._refusals.start()

    def log_address(self, world: str) -> None:
        """Log where the clients of a world connect."""
        host = self._port.getHost()
        _log.info("{name}, clients on UDP {at}", name=world, at=Address(host.host, host.port))

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the ports that are open."""
        if self._port is not None:
            yield open_port("world.listen", self._port, {})

    def public_address(self, advertised: str | None) -> tuple[str, int]:
        """Return where players reach the port; `advertised`, if there is one, is the host."""
        bound = self._port.getHost()
        return advertised or reachable(bound.host), bound.port

    async def stop(self, deadline: Monotonic) -> None:
        """Wait until its sessions have ended or the deadline has passed, and close the port."""
        await drained(self.dispatcher, self._ground.scheduler, deadline)
        if self._port is not None:
            await self._port.stopListening()
        self._refusals.stop()
