"""The built-in world as it runs: its UDP port, and its registration with login servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import Any

from emu.admin.status import OpenDoor
from emu.commands import Registry
from emu.config import Address, Config
from emu.dialects import Dialects, shipped_rules
from emu.errors import StoreError
from emu.limits.addresses import reachable
from emu.looks.models import Models
from emu.model import WorldCharacter
from emu.net import parameters
from emu.net.fleet.part import Ground, fleet_part
from emu.net.hosts import door, listen_address
from emu.net.link.client import LoginLink
from emu.net.login.part import PATIENCE, drained
from emu.net.logs import logger
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.stores.storage import Storage
from emu.net.tasks import Tasks
from emu.net.udp.dispatcher import Dispatcher, SessionPort
from emu.net.udp.shell import listen
from emu.net.watch import Watch
from emu.net.world.account import LinkAccount
from emu.net.world.clients import VisitorHandler, WorldTimer, report_to, report_world
from emu.net.world.guard import limited
from emu.net.world.registering import login_link
from emu.opcodes import OpcodeTables
from emu.processes.ports import CAME
from emu.session import Endpoint
from emu.structs import shipped_catalog
from emu.times import Moment, Monotonic
from emu.world.behaviors import LOADING, Behaviors, Budget, Library
from emu.world.chat import Chat, read_numbers
from emu.world.commands import CommandContext, RemoteCommands, world_commands
from emu.world.door.admission import Admission
from emu.world.door.entry import Door
from emu.world.events import BehaviorFailed
from emu.world.ghosts import read_rules
from emu.world.knowledge import read_knowledge
from emu.world.places import Population, read_atlas
from emu.world.players import leaving, saving
from emu.world.players.looks import with_models
from emu.world.registration.whereabouts import Whereabouts
from emu.world.rules import AdmissionRules
from emu.world.service import WorldService
from emu.world.world import World
from emu.world.zone import Zone
from emu.world.zone.directory import Zones

_log = logger("world")
MOST_NAMES = 20
"""Names in one line of the log."""


class WorldPart:
    """World service and its port. `listen`, then `register`, then `stop`."""

    def __init__(
        self,
        config: Config,
        storage: Storage,
        opcodes: Callable[[], OpcodeTables],
        reactor: Any,
        scheduler: Scheduler,
        *,
        commands: Registry,
        login_address: tuple[str, int] | None,
        watch: Watch | None = None,
    ) -> None:
        """Make the service; its commands are added to those of `commands`."""
        self._watch = watch = watch or Watch()
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._login_address = login_address
        self.account = LinkAccount(config.world.account, config.world.password)
        """How it proves itself; set before `register` where the configuration does not say."""
        self._tasks = Tasks(_log)
        self.atlas = read_atlas(config.world.zones)
        self._ground = Ground(
            config, storage, self.atlas, self._told_address, reactor, scheduler, self._tasks
        )
        self.fleet = fleet_part(self._ground)
        self._models = Models(self.fleet.models)
        self.admission = Admission(
            AdmissionRules(max_players=config.world.max_players),
            self.fleet.processes.presence,
            self.fleet.processes.handoffs,
            locked=config.world.locked,
        )
        self._population = Population(self.atlas, self._next_spawn_id)
        self._port: Any = None
        self.link: LoginLink | None = None
        self._refusals = RefusalLog(_log, scheduler)
        dialects = Dialects(opcodes, shipped_catalog(), shipped_rules())
        self._timer = WorldTimer(scheduler, watch.ticks())
        self._zone_ticks = watch.zone_ticks()
        self.world = self._make_world(dialects)
        self.chat = Chat(self.world, parameters.chat_rules(config), read_numbers())
        self.behaviors = self._make_behaviors()
        self.reloads = {
            "behaviors": self._reload_behaviors,
            "zones": self._reload_zones,
            "knowledge": self._reload_knowledge,
        }
        """What can be read anew while players are here, by name."""
        self._take_commands(commands)
        self.fleet.processes.bus.subscribe(CAME, lambda _note: saving.save_again(self.world))
        self.service = WorldService(
            self.world,
            self.chat,
            RemoteCommands(self.world, commands, self.chat),
            self.behaviors,
        )
        self._timer.service = self.service
        self.door = self._make_door(dialects)
        endpoint = Endpoint(
            parameters.endpoint_config(config, config.world.crc_seed), random_bytes=os.urandom
        )
        self.dispatcher = Dispatcher(endpoint, scheduler, self._new_visitor, _log)
        self._measure(endpoint)

    def _make_behaviors(self) -> Behaviors:
        library = Library(self._config.world.behaviors, Budget(LOADING, limited, thread_time))
        for line in library.problems:
            self.world.report(BehaviorFailed("", "the behaviors' folder", line))
        behaviors = Behaviors(
            self.world,
            self.chat,
            library,
            guard=limited,
            clock=thread_time,
            wake=self._timer.wake,
        )
        self._population.give_behavior = behaviors.add
        self._population.take_behaviors = behaviors.forget_zone
        return behaviors

    def _take_commands(self, commands: Registry) -> None:
        commands.extend(world_commands(CommandContext(self.world, self.chat, self.admission)))
        commands.known |= {
            "player": lambda: [player.name for player in self.world.players],
            "zone": lambda: [zone.name for zone in self.world.zones.table],
        }

    def _make_door(self, dialects: Dialects) -> Door:
        return Door(
            dialects=dialects,
            inside=self.service,
            admission=self.admission,
            presence=self.fleet.processes.presence,
            characters_of=self._characters_of,
            played=self._played,
            report=self._watch.port("door", report_to(_log, self._refusals)),
            changed=self._status_changed,
            clock=self._scheduler,
        )

    def _measure(self, endpoint: Endpoint) -> None:
        watch = self._watch
        watch.endpoint("world", endpoint)
        watch.measures.gauge(
            "players", "Players in the world.", lambda: {(): len(self.world.players)}
        )
        watch.reasons(
            "world_drops",
            "Messages of players without an effect.",
            lambda: self.world.counters + self.door.counters,
        )

    def configure(self, config: Config) -> None:
        """Go on with other settings; who is in the world stays."""
        self.admission.rules = AdmissionRules(max_players=config.world.max_players)
        self.admission.locked = config.world.locked
        self.world.rules = parameters.world_rules(config)
        self.chat.rules = parameters.chat_rules(config)
        if config.world.motd != self._config.world.motd:
            self.world.motd = config.world.motd
        self._config = config
        self._status_changed()

    def send_away(self, account_id: int, reason: str) -> None:
        """Have whoever plays a character of an account leave."""
        for player in self.world.players:
            if player.character.account_id == account_id:
                leaving.leave(self.world, player, reason, self._scheduler.now())

    @property
    def port(self) -> int:
        """The UDP port that is open; 0 before `listen`."""
        return int(self._port.getHost().port) if self._port is not None else 0

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the ports that are open."""
        if self._port is not None:
            yield door("world.listen", self._port, {})
        yield from self.fleet.doors()

    def listen(self) -> None:
        """Open the port and say where. Raises `CannotListenError`."""
        address = listen_address("world.listen", self._config.world.listen)
        self._port = listen(self._reactor, address.host, address.port, self.dispatcher)
        self._refusals.start()
        self.fleet.listen()
        host = self._port.getHost()
        _log.info(
            "{name}, clients on UDP {at}",
            name=self._config.world.name, at=Address(host.host, host.port),
        )  # fmt: skip
        told = reachable(host.host)
        if told != host.host and not self._config.world.advertise:
            _log.warn(
                "players are told {told}, which only this machine can reach: set world.advertise"
                " to the address they can",
                told=told,
            )

    def register(self) -> None:
        """Begin to register with the login servers, or with the one in this process.

        A process that is a member of a world connects to its hub instead.
        """
        self.fleet.start()
        if self._config.processes.hub is not None:
            return
        self.link = login_link(
            self._ground, self.fleet, self.account, self.admission, self._models,
            login_address=self._login_address,
        )  # fmt: skip
        Whereabouts(self.fleet.processes.bus, self.atlas, self.link.send)
        self.link.start()

    async def stop(self) -> None:
        """Say goodbye to players and login servers, and wait until all is stored."""
        deadline = Monotonic(self._scheduler.now() + PATIENCE)
        self.service.close(self._scheduler.now())
        self.dispatcher.close(self._scheduler.now())
        self._timer.stop()
        if self.link is not None:
            await self.link.stop()
        await self._tasks.finished()
        await self._store_the_rest(deadline)
        await self.fleet.stop()
        await drained(self.dispatcher, self._scheduler, deadline)
        if self._port is not None:
            await self._port.stopListening()
        self._refusals.stop()

    async def _store_the_rest(self, deadline: Monotonic) -> None:
        """Try once more to store what could not be stored, and say whose is lost.

        A hub that is away has until the deadline to come back.
        """
        unsaved = self.world.unsaved
        saving.save_again(self.world)
        await self._tasks.finished()
        while unsaved and self.fleet.is_cut_off and self._scheduler.now() < deadline:
            await self._scheduler.pause(0.05)
        await self._tasks.finished()
        if unsaved:
            names = sorted(row.name for row in unsaved.values())
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            _log.error(
                "could not be stored and is lost: the last place of {names}, and what they changed",
                names=", ".join(names[:MOST_NAMES]) + more, count=len(names),
            )  # fmt: skip

    def _make_world(self, dialects: Dialects) -> World:
        config = self._config.world
        return World(
            rules=parameters.world_rules(self._config),
            zones=Zones(
                self.atlas,
                self._population.settle,
                parameters.zone_rules(self._config),
                wake=self._timer.wake,
                ended=self._population.forget,
                tick=self._tick,
            ),
            dialects=dialects,
            forms=read_rules(),
            store=self.fleet.characters,
            belongings=self.fleet.belongings,
            knowledge=read_knowledge(config.knowledge),
            processes=self.fleet.processes,
            address=self._told_address,
            moment=self._scheduler.moment,
            report=self._watch.port("world", report_world(_log, self._refusals)),
            start=self._tasks.spawn,
            changed=self._status_changed,
            wake=self._timer.wake,
        )

    def _tick(self, zone: Zone, now: Monotonic) -> None:
        """Tick a zone, and note how long it took."""
        begun = self._scheduler.now()
        zone.tick(now)
        name = self.world.zones.definition(zone.zone_id).file
        self._zone_ticks.observe(self._scheduler.now() - begun, name, str(zone.instance))

    def _next_spawn_id(self) -> int:
        return self.world.next_spawn_id()

    async def _reload_zones(self) -> str:
        """Read the files of zones again; what they put into running zones is put there anew."""
        fresh = read_atlas(self._config.world.zones)
        self._population.reload(fresh, self._scheduler.now())
        return f"{len(self.atlas)} zones"

    async def _reload_knowledge(self) -> str:
        """Read skills, languages and titles again; who comes in from now on is told those."""
        knowledge = self.world.knowledge = read_knowledge(self._config.world.knowledge)
        return f"{len(knowledge.skills)} skills, {len(knowledge.languages)} languages"

    async def _reload_behaviors(self) -> str:
        return self.behaviors.reload(self._scheduler.now())

    def _told_address(self) -> tuple[str, int]:
        """Return where players reach this world, as it is told to them."""
        bound = self._port.getHost()
        return self._config.world.advertise or reachable(bound.host), bound.port

    async def _played(self, char_id: int, moment: Moment) -> None:
        """Have it stored when a character was played; the player who comes in waits for nothing."""
        self._tasks.spawn(self._remember(char_id, moment))

    async def _remember(self, char_id: int, moment: Moment) -> None:
        try:
            await self.fleet.characters.played(char_id, moment)
        except StoreError as error:
            _log.warn("when a character was played is not stored: {reason}", reason=str(error))

    async def _characters_of(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters, each with the numbers of its models."""
        rows = await self.fleet.characters.of_account(account_id)
        return [await with_models(row, self._models) for row in rows]

    def _status_changed(self) -> None:
        if self.link is not None:
            self.link.status_changed()

    def _new_visitor(self, port: SessionPort, now: Monotonic) -> VisitorHandler:
        return VisitorHandler(port, self.door, _log, now)
