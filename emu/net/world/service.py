"""The built-in world in a running server: its UDP port and its registration with login servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from secrets import randbelow
from time import thread_time
from typing import Any

from twisted.internet.defer import Deferred

from emu.admin.status import OpenPort
from emu.appearance import Models
from emu.commands import Caller, Registry
from emu.config import Address, Config
from emu.content.models import read_stand_ins
from emu.dialects import Dialects, shipped_rules
from emu.dialects.dialect import read_numbers
from emu.errors import StoreError
from emu.limits.addresses import reachable
from emu.login.events import AccountLoggedIn
from emu.model import may_see
from emu.net import parameters
from emu.net.cluster.node import NodeService
from emu.net.cluster.service import BusEndpoint, ProcessContext, processes_endpoint
from emu.net.login.service import DRAIN_TIME, drained
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.net.stream import listen_address, open_port
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.session_port import Accounting, SessionPort
from emu.net.udp.sockets import listen
from emu.net.watch import RefusalLog, Report, Watch, report_to, report_world
from emu.net.world.claims import Claims
from emu.net.world.content import ContentReader, WorldContent, make_scripts, make_travel
from emu.net.world.guard import CollectionGuard, limited
from emu.net.world.measures import measure_world
from emu.net.world.registration import LinkAccount, WorldLink
from emu.net.world.relocation import Relocation
from emu.net.world.spool import Spool
from emu.net.world.timer import WorldTimer
from emu.opcodes import OpcodeTables
from emu.processes.settings import LOCKED, MOTD, NO, REREAD, YES, SharedSettings
from emu.session import Endpoint
from emu.structs import shipped_catalog
from emu.times import Moment, Monotonic
from emu.world.behaviors import LOADING, Behaviors, Budget, Library
from emu.world.behaviors.memory import Memories
from emu.world.commands import CommandContext, RemoteCommands, world_commands
from emu.world.deadlines import Timetable
from emu.world.entry.account_changes import REVIEW, AccountChanges
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.leaving import Departures
from emu.world.entry.zone_entry import EnteringClient, ZoneEntry
from emu.world.events import StatusChanged
from emu.world.groups.shared import SharedGroups
from emu.world.hiding import Concealed
from emu.world.knowledge import read_knowledge
from emu.world.minds.shared import Minds
from emu.world.population.atlas import read_atlas
from emu.world.population.deaths import Deaths
from emu.world.population.edits import GameEdits
from emu.world.population.population import ZonePopulation
from emu.world.population.saving import ZoneFiles
from emu.world.population.served import NO_LAYER
from emu.world.registration.registry import CharacterLocations, relay_bug_reports
from emu.world.reports import BehaviorFailed, Faults
from emu.world.scripts.host import Scripts
from emu.world.service import WorldService
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import Chat
from emu.world.social.mail import Mail
from emu.world.social.memberships import Memberships
from emu.world.social.petitions import Petitions
from emu.world.travel.travel import Travel
from emu.world.visibility.forms import read_rules
from emu.world.world import World
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone

_log = logger("world")
GROUP_TICK = 1.0
"""Seconds between two looks at who orders the groups of a cluster, and who of them is gone."""
RETRY_AT_STOP = 0.05
"""Seconds between two attempts to save the rest, while the server stops."""


class WorldEndpoint:
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
        watch: Watch | None = None,
        bus: BusEndpoint | None = None,
        node: NodeService | None = None,
    ) -> None:
        """Make the service and add its commands to `commands`; without `bus` it is on its own.

        `node` is this process in a cluster.
        """
        self._watch = watch = watch or Watch()
        self._config = config
        self._reactor = reactor
        self._scheduler = scheduler
        self._tasks = Tasks(_log)
        self.atlas = read_atlas(config.world.zones, config.world.content)
        self._ground = ProcessContext(
            bus or BusEndpoint(scheduler), config, storage, self.atlas, self.public_address,
            reactor, scheduler, self._tasks, node,
        )  # fmt: skip
        self.cluster = processes_endpoint(self._ground)
        self._settings = SharedSettings(
            self.cluster.processes.name, self.cluster.processes.bus, storage.settings,
            self._tasks.spawn,
        )  # fmt: skip
        self._models = Models(self.cluster.models)
        self.admission = WorldAdmissionRules(
            parameters.admission_rules(config),
            self.cluster.processes.presence,
            self.cluster.processes.handoffs,
            locked=config.world.locked,
        )
        self._port: Any = None
        self._reviews: Any = None
        self.link: WorldLink | None = None
        self._refusals = RefusalLog(_log, scheduler)
        self._timer = WorldTimer(scheduler, lambda: self.service, watch.ticks())
        faults = Faults(watch.port("world", report_world(_log, self._refusals)))
        self.timetable = Timetable(self._timer.wake, faults.attempt)
        self._population, self._content_reader = self._make_population()
        self._zone_ticks = watch.zone_ticks()
        self._loops: list[Any] = []
        self._is_reviewing = self._reviews_again = False
        """A review was requested while one was in progress, which may have read older rows."""
        self.world = self._make_world(Dialects(opcodes, shipped_catalog(), shipped_rules()), faults)
        self.concealed = Concealed(self.world)
        watch.reports.subscribe(self._learn_account, "login")
        self.spool = Spool(config.database.path, self.world, reactor, scheduler)
        """Players that could not be saved when the server stopped."""
        self._saves = scheduler.timer(self.world.saver)
        self.departures = Departures(self.world)
        if node is not None:
            node.running = Relocation(self.world, self.departures, scheduler, self._tasks)
        self.account_changes = AccountChanges(self.world, self.departures)
        self.chat = Chat(self.world, parameters.chat_rules(config), read_numbers())
        self.behaviors = self._make_behaviors()
        self.edits, self._content = self._make_content(commands, storage)
        self._collections = CollectionGuard(self.behaviors.limits.budget)
        self.reloads = {
            "behaviors": self._content.reload_behaviors,
            "zones": self._content.reload_zones,
            "content": self._content.reload_zones,
            "knowledge": self._reload_knowledge,
            "accounts": self._reload_accounts,
        }
        """What can be reloaded while players are here, by name."""
        self._memberships = Memberships(self.world, self.cluster.guilds, self.chat)
        context = self._command_context()
        self._take_commands(commands, context)
        self.cluster.processes.bus.subscribe(REVIEW, lambda _note: self._review(is_asked=True))
        self.service = WorldService(
            context, RemoteCommands(self.world, commands, self.chat), self.behaviors
        )
        self.travel, self.scripts = self._make_hosts(context.mail)
        self.zone_entry = self._make_zone_entry()
        endpoint = Endpoint(
            parameters.endpoint_config(config, config.world.crc_seed), random_bytes=os.urandom
        )
        self.dispatcher = Dispatcher(
            endpoint,
            scheduler,
            self._new_client,
            _log,
            accounting=Accounting(parameters.turn_rules(config)),
        )
        measure_world(watch, endpoint, self.world, self.behaviors, lambda: self.zone_entry.counters)

    def _command_context(self) -> CommandContext:
        sheets = CharacterSheets(self.world)
        return CommandContext(
            self.world, self.chat, self.admission,
            self.departures, self.account_changes, sheets, randbelow,
            self.behaviors, self._population,
            ZoneFiles(self.atlas, lambda: self._config.world.zones),
            self._memberships,
            Mail(self.world, self.cluster.mail, self.chat, sheets),
            Petitions(self.world, self.cluster.petitions, self.chat),
            self.edits,
        )  # fmt: skip

    def _make_population(self) -> tuple[ZonePopulation, ContentReader]:
        reader = ContentReader(self._config.world.content, self._reactor, self._scheduler)
        if self._ground.node is not None:
            reader.reopened = self._ground.node.note_content
        zones = reader.zones(
            lambda: self.world.players,
            self._next_spawn_id,
            self.timetable,
            self._tasks.spawn,
            self.cluster.dead_spawns,
            open_to=(self._config.world.expansions, self._config.world.holidays),
        )
        reader.layers = lambda zone_id: self.atlas.layers.get(zone_id, NO_LAYER)
        return ZonePopulation(self.atlas, self._next_spawn_id, zones), reader

    def _make_content(
        self, commands: Registry, storage: Storage
    ) -> tuple[GameEdits | None, WorldContent]:
        edits = self._content_reader.edits_of(
            self.world, self._population.content, storage.content_edits, self._tasks.spawn
        )
        return edits, WorldContent(
            self.atlas, self._population, self.behaviors, commands, self._scheduler,
            folders=lambda: (self._config.world.zones, self._config.world.content),
            memories=storage.memories,
            start=self._tasks.spawn,
            source=self._content_reader,
            edits=edits,
        )  # fmt: skip

    def _make_behaviors(self) -> Behaviors:
        self.minds = Minds(events=self.world.events)
        library = Library(self._config.world.behaviors, Budget(LOADING, limited, thread_time))
        for line in library.problems:
            self.world.report(BehaviorFailed("", "the behaviors' folder", line))
        behaviors = Behaviors(
            self.world,
            self.chat,
            self.departures,
            library,
            self.cluster.memories,
            minds=self.minds,
            limits=parameters.behavior_limits(self._config),
            guard=limited,
            clock=thread_time,
        )
        self._population.subscribe(behaviors)
        return behaviors

    def _make_hosts(self, mail: Mail) -> tuple[Travel, Scripts | None]:
        travel = make_travel(
            self._config.world.content, self.world, self.departures, self._population.content
        )
        self.service.add_travel(travel)
        self._content.reload_travel = travel.reload
        return travel, self._make_scripts(travel, mail)

    def _make_scripts(self, travel: Travel, mail: Mail) -> Scripts | None:
        scripts = make_scripts(
            self._config.world, self.world, self.chat, self._population.content,
            minds=self.minds,
        )  # fmt: skip
        if scripts is not None:
            scripts.travel = travel
            scripts.mail = mail
            travel.scripts = scripts.events
            if self._content_reader.memory is not None:
                scripts.collected = self._content_reader.memory.after_scripts()

            async def reload() -> str:
                return scripts.reload()

            self.reloads["scripts"] = reload
            self.service.add_scripts(scripts)
            if self._config.world.watch_scripts:
                scripts.watch()
            self._watch.reasons(
                "script_events",
                "Calls of Lua scripts, errors, and what was left out.",
                lambda: scripts.counters,
            )
        return scripts

    def _learn_account(self, report: Report) -> None:
        if isinstance(report.event, AccountLoggedIn):
            self.concealed.logged_in(report.event.account_id, report.event.account)

    def _take_commands(self, commands: Registry, context: CommandContext) -> None:
        commands.extend(world_commands(context))
        commands.known |= {
            "player": self._player_names,
            "zone": lambda _caller: [zone.name for zone in self.world.zones.table],
        }

    def _player_names(self, caller: Caller) -> list[str]:
        return [one.name for one in self.world.players if may_see(caller.rank, one.spawn)]

    def _make_zone_entry(self) -> ZoneEntry:
        claims = Claims(self.cluster, self.world, self._models)
        return ZoneEntry(
            dialects=self.world.dialects,
            inside=self.service,
            admission=self.admission,
            presence=self.cluster.processes.presence,
            claim=claims.claim,
            take=claims.take if claims.can_take else None,
            played=self._played,
            report=self._watch.port("entry", report_to(_log, self._refusals)),
            changed=self._status_changed,
            clock=self._scheduler,
            is_kept_out=self._is_kept_out,
        )

    def configure(self, config: Config) -> None:
        """Apply other settings; players in the world stay."""
        self.admission.rules = parameters.admission_rules(config)
        # A reload that does not change them must not replace what a command has set.
        self.world.settings.configure(LOCKED, YES if config.world.locked else NO)
        self.world.settings.configure(MOTD, config.world.motd)
        if config.world.review_seconds != self._config.world.review_seconds:
            self._begin_reviews(config.world.review_seconds)
        self.world.rules = parameters.world_rules(config)
        self.behaviors.configure(parameters.behavior_limits(config))
        self.chat.rules = parameters.chat_rules(config)
        self._config = config
        self._status_changed()

    def send_away(self, account_id: int, reason: str) -> None:
        """Take the players of an account out of the world and withdraw its keys.

        Only for accounts of the login service in this process; others have other numbers.
        """
        if parameters.knows_accounts(self._config):
            self.account_changes.send_away(account_id, reason, self._scheduler.now())
            self._tasks.spawn(self._withdraw(account_id))

    async def _withdraw(self, account_id: int) -> None:
        try:
            await self.cluster.processes.handoffs.withdraw_account(account_id)
        except StoreError as error:
            _log.warn(
                "the keys of account {n} could not be withdrawn: {why}",
                n=account_id,
                why=str(error),
            )

    async def _is_kept_out(self, account_id: int, address: str) -> bool:
        """Return whether an account or an address is banned or disabled. Raises `StoreError`."""
        return bool(await self.cluster.accounts.kept_out([(account_id, address)]))

    def _begin_reviews(self, seconds: float) -> None:
        if self._reviews is not None:
            self._reviews.cancel()
        self._reviews = self._scheduler.every(seconds, self._review)

    def _review(self, *, is_asked: bool = False) -> None:
        """Start a review of the players here, unless one is in progress."""
        if not self._is_reviewing:
            self._is_reviewing = True
            self._tasks.spawn(self._reviewed())
        elif is_asked:
            self._reviews_again = True

    async def _reviewed(self) -> None:
        try:
            await self.account_changes.review(self.cluster.accounts)
            await self._review_guilds()
        finally:
            self._is_reviewing = False
        # The rows of the review that has just ended may be older than the change.
        if self._reviews_again:
            self._reviews_again = False
            self._review()

    async def _review_guilds(self) -> None:
        try:
            await self._memberships.review()
        except StoreError as error:
            _log.warn("guilds could not be compared with the database: {why}", why=str(error))

    async def _reload_accounts(self) -> str:
        """Apply changes that another program made to accounts and characters."""
        self.account_changes.ask_for_review()
        return "ranks, names and bans of the players in the world are those of the database"

    @property
    def port(self) -> int:
        """The UDP port that is open; 0 before `listen`."""
        return int(self._port.getHost().port) if self._port is not None else 0

    def not_ready(self) -> str:
        """Return which zones do not tick in time; empty if all do.

        The answer is public, so it does not name a zone that runs for hidden players only.
        """
        now = self._scheduler.now()
        late = self._timer.late(now)
        if late > self.world.zones.rules.stalled_after:
            return f"the world's timer is {late:.0f} seconds late"
        return "; ".join(
            f"{self._public_name(zone)} is stalled: {reason}"
            for zone, reason in self.world.zones.stalled(now)
        )

    def _public_name(self, zone: Zone) -> str:
        return f"zone {zone.definition.description}" if zone.is_listed else "a zone"

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the ports that are open."""
        if self._port is not None:
            yield open_port("world.listen", self._port, {})

    def listen(self) -> None:
        """Open the port and log its address. Raises `CannotListenError`."""
        address = listen_address("world.listen", self._config.world.listen)
        self._port = listen(self._reactor, address.host, address.port, self.dispatcher)
        self._refusals.start()
        self._begin_reviews(self._config.world.review_seconds)
        self._loops.append(
            self._scheduler.every(REREAD, lambda: self._tasks.spawn(self._settings.read()))
        )
        if isinstance(self.world.group_changes, SharedGroups):
            groups = self.world.group_changes
            self._loops.append(self._scheduler.every(GROUP_TICK, groups.tick))
        if self.behaviors.library.has_others:
            # Only behaviors of the operator can have `__del__` methods that do not end.
            self._collections.start()
        self._content.log_faults()
        host = self._port.getHost()
        _log.info(
            "{name}, clients on UDP {at}",
            name=self._config.world.name, at=Address(host.host, host.port),
        )  # fmt: skip

    def register(self, login_address: tuple[str, int] | None, account: LinkAccount) -> None:
        """Start to register with the configured login servers, or with the one in this process.

        `login_address`: where the login server of this process listens; None: there is none.
        """
        self.cluster.start()
        self.spool.restore()
        self.spool.watch()
        self._content.review()
        if self.edits is not None:
            self.edits.start()
        self.link = WorldLink(
            self._ground, self.cluster, account, self.admission, self._models,
            login_address=login_address, report=self.world.report,
        )  # fmt: skip
        CharacterLocations(self.cluster.processes.presence, self.atlas, self.link.send)
        relay_bug_reports(self.cluster.processes.bus, self.link.send)
        self.link.start()

    async def stop(self, deadline: Monotonic) -> None:
        """End all sessions and links, and save all players.

        Players that are not stored after three quarters of the time are written to a file.
        """
        now, within = self._scheduler.now(), self._scheduler.within
        drain_until = Monotonic(min(now + DRAIN_TIME, deadline))
        stored_by = Monotonic(deadline - (deadline - now) / 4)
        for one in (self._reviews, *self._loops):
            if one is not None:
                one.cancel()
        # Players leave before their sessions close: leaving starts their saves, and none of them
        # becomes link-dead.
        self.service.close(now)
        if isinstance(self.world.group_changes, SharedGroups):
            # After the players have left, which changes groups.
            self.world.group_changes.stop()
        self.dispatcher.close(now)
        # No tick may change a player whose last state is being saved.
        self._timer.stop()
        self._collections.stop()
        # The link before the store: a play request in progress may still read and write there.
        if self.link is not None:
            await within(stored_by, Deferred.fromCoroutine(self.link.stop()))
        await within(stored_by, Deferred.fromCoroutine(self._tasks.finished()))
        await within(stored_by, Deferred.fromCoroutine(self._content_reader.stop()))
        await self._store_the_rest(stored_by)
        # What is still unsaved goes to the file. The store stays open until then, because a save
        # that ends late needs no entry there.
        await self.spool.keep(deadline)
        # Until here the saver repeats failed saves by its own timer.
        self._scheduler.drop(self._saves)
        await within(deadline, Deferred.fromCoroutine(self.cluster.stop()))
        await drained(self.dispatcher, self._scheduler, drain_until)
        if self._port is not None:
            await self._port.stopListening()
        self._refusals.stop()

    async def _store_the_rest(self, deadline: Monotonic) -> None:
        """Retry saves until everything is stored, or until a time."""
        saver = self.world.saver
        parts: list[Memories | Deaths] = [self.behaviors.memories, *self._population.unsaved()]
        for part in parts:
            part.save()
        while (len(saver) or any(map(len, parts))) and self._scheduler.now() < deadline:
            saver.try_again()
            for part in parts:
                part.save()
            await self._scheduler.pause(RETRY_AT_STOP)

    def _make_world(self, dialects: Dialects, faults: Faults) -> World:
        config = self._config.world
        world = World(
            rules=parameters.world_rules(self._config),
            zones=Zones(
                self.atlas,
                self._population.begin,
                parameters.zone_rules(self._config),
                faults=faults,
                timetable=self.timetable,
                ended=self._population.forget,
                tick=self._tick,
            ),
            dialects=dialects,
            forms=read_rules(),
            stand_ins=read_stand_ins(config.content),
            store=self.cluster.characters,
            knowledge=read_knowledge(config.knowledge),
            processes=self.cluster.processes,
            address=self.public_address,
            clock=self._scheduler,
            faults=faults,
            start=self._tasks.spawn,
            answer=Deferred,
            timetable=self.timetable,
            wake_saver=self._saves_moved,
            settings=self._settings,
        )
        world.events.subscribe(StatusChanged, lambda _event: self._status_changed())
        if isinstance(world.group_changes, SharedGroups):
            self._ground.bus.ticks.append(world.group_changes.publish_digest)
        return world

    def _tick(self, zone: Zone, now: Monotonic) -> None:
        """Tick a zone and record how long it took."""
        begun = self._scheduler.now()
        zone.tick(now)
        # Monitors read the metrics without a rank; the zone would betray its hidden players.
        if not zone.is_listed:
            return
        name = zone.definition.file
        self._zone_ticks.observe(self._scheduler.now() - begun, name, str(zone.instance))

    def _saves_moved(self) -> None:
        self._scheduler.arm(self._saves, self.world.saver.get_timer())

    def _next_spawn_id(self) -> int:
        return self.world.next_spawn_id()

    async def _reload_knowledge(self) -> str:
        """Reload skills, languages and titles; players who enter from now on get those."""
        knowledge = self.world.knowledge = read_knowledge(self._config.world.knowledge)
        return f"{len(knowledge.skills)} skills, {len(knowledge.languages)} languages"

    def public_address(self) -> tuple[str, int]:
        """Return the address at which players reach this world."""
        bound = self._port.getHost()
        return self._config.world.advertise or reachable(bound.host), bound.port

    async def _played(self, char_id: int, moment: Moment) -> None:
        """Store when a character was played, without making its player wait."""
        player = self.world.players.get(char_id)
        if player is not None:
            self.world.saves.played(player, moment)

    def _status_changed(self) -> None:
        if self.link is not None:
            self.link.status_changed()

    def _new_client(self, port: SessionPort, now: Monotonic) -> EnteringClient:
        client = self.zone_entry.connect(port, port.address[0], now)
        port.closing = client.closing
        return client
