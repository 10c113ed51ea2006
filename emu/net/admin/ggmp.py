"""GGMP's listener, and the world as its actors: spawns by number, in every zone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.error import CannotListenError

from emu.admin.ggmp.acting import (
    WHOLE_SERVER,
    ActorState,
    GgmpAction,
    GgmpPlace,
    GgmpWorld,
    Grant,
    read_clients,
    read_grants,
)
from emu.admin.ggmp.messages import ORDERS
from emu.admin.ggmp.server import ANSWER_RULES, GgmpRules, GgmpServer
from emu.admin.status import OpenPort, ServerStatus
from emu.commands import Use
from emu.config import Address
from emu.config.administration import GgmpConfig, GgmpPolicy
from emu.errors import CommandError
from emu.limits.rates import AnswerRules
from emu.model import ANYBODY, may_see
from emu.net.logs import logger
from emu.net.parameters import read_listed
from emu.net.scheduler import Scheduler
from emu.net.stream import cannot_listen, listen_address, open_port
from emu.net.udp.query import QueryShell, listen_query
from emu.net.watch import RefusalLog
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.social.chat import BROADCAST, Chat
from emu.world.world import World
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position


class ActorWorld:
    """The world, as `emu.admin.ggmp.acting.GgmpWorld` wants it."""

    def __init__(
        self, world: World, chat: Chat, status: Callable[[Monotonic], ServerStatus]
    ) -> None:
        self._world = world
        self._chat = chat
        self.status = status

    def find(self, actor: int) -> ActorState | None:
        """Return an actor by its number."""
        found = self._find(actor)
        return None if found is None else _state(*found)

    def named(self, name: str) -> ActorState | None:
        """Return an actor by its name, players first; case does not matter."""
        # A player by its name needs no search through all zones.
        player = self._world.players.named(name)
        if player is not None and player.state in IN_ZONE and _is_shown(player.spawn):
            return _state(player.zone, player.spawn)
        wanted = name.casefold()
        for zone, spawn in self._every():
            if spawn.name.casefold() == wanted:
                return _state(zone, spawn)
        return None

    def inside(self, zone: int) -> Sequence[int]:
        """Return the actors in all running instances of a zone."""
        return [spawn.id for running, spawn in self._every() if running.zone_id == zone]

    def move(self, actor: int, place: GgmpPlace) -> None:
        """Move an actor. Raises `CommandError` for a player or an unknown actor."""
        _, spawn = self._own(actor)
        spawn.move(Position(*place[:3], place.heading % 360, spawn.position.grid))

    def say(self, actor: int, text: str) -> None:
        """Let an actor speak; the server speaks to all players.

        Raises `CommandError` for a player or an unknown actor.
        """
        if actor == WHOLE_SERVER:
            self._chat.remote.publish(BROADCAST, text)
            return
        zone, spawn = self._own(actor)
        hearers = [
            player
            for player in self._world.players
            if player.zone is zone and player.state in IN_ZONE
        ]
        self._chat.spawn_says(spawn, hearers, text)

    def _every(self) -> Iterator[tuple[Zone, Spawn]]:
        for zone in self._world.zones:
            for spawn in zone:
                if _is_shown(spawn):
                    yield zone, spawn

    def _find(self, actor: int) -> tuple[Zone, Spawn] | None:
        for zone in self._world.zones:
            spawn = zone.spawn(actor)
            if spawn is not None and _is_shown(spawn):
                return zone, spawn
        return None

    def _own(self, actor: int) -> tuple[Zone, Spawn]:
        """Return an actor that the server controls, and not a player. Raises `CommandError`."""
        found = self._find(actor)
        if found is None:
            raise CommandError(f"there is no actor {actor}")
        if found[1].kind is SpawnKind.PLAYER:
            raise CommandError(f"{found[1].name} is a player and cannot be controlled")
        return found


def _is_shown(spawn: Spawn) -> bool:
    """Return whether tools may see a spawn. They have no rank, so hidden players are left out."""
    return spawn.kind is not SpawnKind.PLAYER or may_see(ANYBODY, spawn)


def _state(zone: Zone, spawn: Spawn) -> ActorState:
    at = spawn.position
    return ActorState(spawn.id, spawn.name, zone.zone_id, GgmpPlace(at.x, at.y, at.z, at.heading))


_log = logger("ggmp")


def ggmp_rules(config: GgmpConfig) -> GgmpRules:
    """Return who may log in, and the limits. Raises `ConfigError` if a file of clients is wrong."""
    common = GgmpRules(wait=config.resend_milliseconds / 1000, order=ORDERS[config.byteorder])
    if config.policy is GgmpPolicy.STATIC:
        clients = read_listed("ggmp.clients_file", config.clients_file, read_clients) or {}
        return replace(common, clients=clients)
    grants = read_listed("ggmp.tokens_file", config.tokens_file, read_grants) or ()
    if config.policy is GgmpPolicy.TOKEN:
        return replace(common, grants=grants)
    allowed = frozenset(GgmpAction[word.upper()] for word in config.open_actions)
    return replace(common, grants=grants, anonymous=Grant("anybody", "", allowed))


class GgmpPort:
    """The listener. Call `listen`, then `stop`."""

    def __init__(
        self,
        config: GgmpConfig,
        world: GgmpWorld,
        reactor: Any,
        scheduler: Scheduler,
        report_use: Callable[[Use], None],
        *,
        limits: AnswerRules = ANSWER_RULES,
    ) -> None:
        """Control the actors of `world`. Raises `ConfigError` if a file is wrong."""
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._port: Any = None
        self._is_wanted = False
        self._timer = scheduler.timer(self)
        self._due: Monotonic | None = None
        # Numbers must not be guessed: by showing its number a client proves that it reads at its
        # address.
        self.core = GgmpServer(
            world, ggmp_rules(config), secrets.randbelow, report_use, self._log_guess
        )
        self._refusals = RefusalLog(_log, scheduler)
        self.shell = QueryShell(self, scheduler, _log, limits)

    @property
    def port(self) -> int:
        """The UDP port; 0 while it is closed."""
        return self._port.getHost().port if self._port is not None else 0

    def configure(self, config: GgmpConfig) -> None:
        """Change settings. Clients that the files no longer name lose their access.

        Raises `ConfigError` if a file is wrong, `CommandError` if the port was closed and cannot be
        opened.
        """
        self._config = config
        order = (
            self.core.rules.order
        )  # another port would have to be changed in every client as well
        self.core.configure(replace(ggmp_rules(config), order=order))
        if self._is_wanted and self._port is None:
            try:
                self.listen()
            except CannotListenError as error:
                raise CommandError(cannot_listen("ggmp.listen", error)) from None

    def listen(self) -> None:
        """Open the port and log its address, or why it stays closed. Raises `CannotListenError`."""
        self._is_wanted = True
        if not self.core.rules.lets_anybody_in:
            key = "clients_file" if self._config.policy is GgmpPolicy.STATIC else "tokens_file"
            _log.info("closed: ggmp.{key} names no client", key=key)
            return
        address = listen_address("ggmp.listen", self._config.listen)
        self._port = listen_query(self._reactor, address.host, address.port, self.shell)
        host: Any = self._port.getHost()
        self._refusals.start()
        _log.info("tools on UDP {at}", at=Address(host.host, host.port))

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the listener while it is open."""
        if self._port is not None:
            yield open_port("ggmp.listen", self._port, self.shell.counters)

    async def stop(self) -> None:
        """Close the port."""
        self._is_wanted = False
        self._due = None
        self._scheduler.drop(self._timer)
        if self._port is not None:
            await self._port.stopListening()
            self._port = None
            self._refusals.stop()

    def _log_guess(self, host: str) -> None:
        if self._refusals.is_news("wrong tokens", "", host, "wrong token"):
            _log.warn("wrong token from {address}", address=host)

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Return whether a datagram is from a logged-in client."""
        return self.core.validates(data, address, now)

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> Sequence[bytes]:
        """Handle a datagram, and arm the timer for the server's next message."""
        answers = self.core.answer(data, address, now)
        due = self.core.get_timer()
        # Most datagrams change no deadline, and arming a timer costs more than this test.
        if due != self._due:
            self._arm(due)
        return answers

    def handle_timer(self, now: Monotonic) -> None:
        """Send what is due; called by the scheduler."""
        try:
            self.core.handle_timer(now)
        # A fault in one message must not stop the timer of all clients.
        finally:
            self._arm(self.core.get_timer())
            for data, address in self.core.data_to_send():
                self.shell.send(data, address)

    def _arm(self, due: Monotonic | None) -> None:
        self._due = due
        self._scheduler.arm(self._timer, due)
