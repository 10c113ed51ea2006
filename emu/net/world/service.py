"""The built-in world in a running server: its UDP port and its registration with login servers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from emu.admin.status import OpenPort
from emu.appearance import Models
from emu.commands import Registry
from emu.config import Config
from emu.login.events import AccountLoggedIn
from emu.net import parameters
from emu.net.cluster.node import NodeService
from emu.net.cluster.service import BusEndpoint, ProcessContext, processes_endpoint
from emu.net.login.service import DRAIN_TIME
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.net.udp.dispatcher import Dispatcher
from emu.net.watch import RefusalLog, Report, Watch, report_world
from emu.net.world.claims import Claims
from emu.net.world.content import ContentReader, WorldContent
from emu.net.world.listener import WorldListener
from emu.net.world.ports import world_ports
from emu.net.world.recordings import RecordingFiles, recorder_of
from emu.net.world.recurring import RecurringWork
from emu.net.world.registration import LinkAccount, WorldLink
from emu.net.world.relocation import Relocation
from emu.net.world.reviews import Reviews
from emu.net.world.spool import Spool
from emu.net.world.timer import WorldTimer
from emu.opcodes import OpcodeTables
from emu.processes.settings import LOCKED, MOTD, NO, YES
from emu.times import Monotonic
from emu.world.assembly import Assembly
from emu.world.events import StatusChanged
from emu.world.knowledge import read_knowledge
from emu.world.population.atlas import read_atlas

_log = logger("world")


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
        watch = watch or Watch()
        self._config = config
        self._ground = ground = ProcessContext(
            bus or BusEndpoint(scheduler), config, storage,
            read_atlas(config.world.zones, config.world.content), self.public_address,
            reactor, scheduler, Tasks(_log), node,
        )  # fmt: skip
        self.cluster = processes_endpoint(ground)
        refusals = RefusalLog(_log, scheduler)
        record = recorder_of(config, scheduler)
        self._timer = WorldTimer(
            scheduler, self._next_turn, record.turns(self._turn), watch.ticks(), watch.zone_ticks()
        )
        self._recordings = RecordingFiles(config, reactor)
        reader = ContentReader(
            config.world, reactor, scheduler, dead=self.cluster.placement_facts,
            edits=storage.content_edits, start=ground.tasks.spawn,
            zone_settings=config.zone_settings, record=record,
        )  # fmt: skip
        if node is not None:
            reader.reopened = node.note_content
        ports = world_ports(
            ground, self.cluster, reader, self._timer, opcodes,
            zones_folder=lambda: self._config.world.zones,
            report=watch.port("world", report_world(_log, refusals)),
            wake_saver=self._saves_moved, record=record, keep_recording=self._recordings.keep,
        )  # fmt: skip
        self.parts = Assembly(ports, parameters.rule_set(config), commands)
        watch.reports.subscribe(self._learn_account, "login")
        self.parts.world.events.subscribe(StatusChanged, lambda _event: self._status_changed())
        self.spool = Spool(config.database.path, self.parts.world, reactor, scheduler)
        """Players that could not be saved when the server stopped."""
        self._saves = scheduler.timer(self.parts.world.saves.saver)
        if node is not None:
            node.running = Relocation(
                self.parts.world, self.parts.departures, scheduler, ground.tasks,
                unsaved=self.parts.population.unsaved,
            )  # fmt: skip
        self._content = self._make_content(commands, reader)
        self._reviews = Reviews(self.parts, self.cluster, scheduler, ground.tasks)
        self.reloads = self._make_reloads(watch)
        """What can be reloaded while players are here, by name."""
        self._models = Models(self.cluster.models)
        self.link: WorldLink | None = None
        watch.reasons(
            "world_link_drops",
            "What came over the link to the login server and had no effect, and links that ended.",
            lambda: self.link.counters if self.link is not None else {},
        )
        self._recurring = RecurringWork(ground, self.parts)
        claims = Claims(self.cluster, self.parts.world, self._models)
        self._listener = WorldListener(
            ground, self.cluster, self.parts, watch, claims=claims, refusals=refusals,
            inside=record.service(self.parts.service), status_changed=self._status_changed,
        )  # fmt: skip
        for subject in self.parts.subjects:
            subject.measure(watch.measures)

    def _make_content(self, commands: Registry, reader: ContentReader) -> WorldContent:
        parts = self.parts
        return WorldContent(
            self._ground.atlas, parts.population, parts.behaviors, commands, self._ground.scheduler,
            folders=lambda: (self._config.world.zones, self._config.world.content),
            memories=self._ground.storage.memories,
            start=self._ground.tasks.spawn,
            source=reader,
            edits=parts.edits,
            travel=parts.travel.reload,
            homes=parts.housing.reload,
        )  # fmt: skip

    def _make_reloads(self, watch: Watch) -> dict[str, Callable[[], Coroutine[Any, Any, str]]]:
        content = self._content
        reloads: dict[str, Callable[[], Coroutine[Any, Any, str]]] = {
            "behaviors": content.reload_behaviors,
            "zones": content.reload_zones,
            "content": content.reload_zones,
            "knowledge": self._reload_knowledge,
            "accounts": self._reviews.reload,
        }
        behaviors, scripts = self.parts.behaviors, self.parts.scripts
        script_seconds = watch.measures.counter(
            "script_seconds", "Processor time that scripts and behaviors have used.", ["kind"]
        )
        script_seconds.also(lambda: {("behavior",): behaviors.seconds})
        if scripts is not None:

            async def reload() -> str:
                return scripts.reload()

            reloads["scripts"] = reload
            if self._config.world.watch_scripts:
                scripts.watch()
            script_seconds.also(lambda: {("lua",): scripts.shares.seconds})
            watch.reasons(
                "script_events",
                "Calls of Lua scripts, errors, and what was left out.",
                lambda: scripts.counters,
            )
        return reloads

    def _next_turn(self) -> Monotonic | None:
        return self.parts.world.timetable.get_timer()

    def _turn(self, now: Monotonic) -> None:
        self.parts.world.timetable.handle_timer(now)

    def _learn_account(self, report: Report) -> None:
        if isinstance(report.event, AccountLoggedIn):
            self.parts.concealed.logged_in(report.event.account_id, report.event.account)

    def configure(self, config: Config) -> None:
        """Apply other settings; players in the world stay."""
        self.parts.admission.rules = parameters.admission_rules(config)
        # A reload that does not change them must not replace what a command has set.
        self.parts.world.settings.configure(LOCKED, YES if config.world.locked else NO)
        self.parts.world.settings.configure(MOTD, config.world.motd)
        if config.world.review_seconds != self._config.world.review_seconds:
            self._reviews.begin(config.world.review_seconds)
        self.parts.world.configure(parameters.world_rules(config))
        self.parts.behaviors.configure(parameters.behavior_limits(config))
        self.parts.chat.rules = parameters.chat_rules(config)
        self._config = config
        self._status_changed()

    def send_away(self, account_id: int, reason: str, notice: str) -> None:
        """Take the players of an account out of the world and withdraw its keys.

        They read `notice` first. Only for accounts of the login service in this process; others
        have other numbers.
        """
        if parameters.knows_accounts(self._config):
            self.parts.account_changes.send_away(
                account_id, reason, notice, self._ground.scheduler.now()
            )
            self._ground.tasks.spawn(self.cluster.withdraw_keys(account_id))

    @property
    def port(self) -> int:
        """The UDP port that is open; 0 before `listen`."""
        return self._listener.port

    @property
    def dispatcher(self) -> Dispatcher:
        """Its sessions."""
        return self._listener.dispatcher

    def public_address(self) -> tuple[str, int]:
        """Return the address at which players reach this world."""
        return self._listener.public_address(self._config.world.advertise)

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the ports that are open."""
        return self._listener.open_ports()

    def not_ready(self) -> str:
        """Return which zones do not tick in time; empty if all do.

        The answer is public, so it does not name a zone that runs for hidden players only.
        """
        now = self._ground.scheduler.now()
        late = self._timer.late(now)
        if late > self.parts.world.zones.rules.stalled_after:
            return f"the world's timer is {late:.0f} seconds late"
        return "; ".join(map(str, self.parts.world.zones.stalled(now)))

    def listen(self) -> None:
        """Open the port and log its address. Raises `CannotListenError`."""
        self._listener.listen(self._config.world.listen)
        self._reviews.begin(self._config.world.review_seconds)
        self._recurring.begin()
        self._content.log_faults()
        self._listener.log_address(self._config.world.name)

    def register(self, login_address: tuple[str, int] | None, account: LinkAccount) -> None:
        """Start to register with the configured login servers, or with the one in this process.

        `login_address`: where the login server of this process listens; None: there is none.
        """
        self.cluster.start()
        self.spool.restore()
        self.spool.watch()
        self._content.review()
        if self.parts.edits is not None:
            self.parts.edits.start()
        self.link = WorldLink(
            self._ground, self.cluster, account, self.parts.admission, self._models,
            login_address=login_address, report=self.parts.world.faults.report,
        )  # fmt: skip
        self.link.start()

    async def stop(self, deadline: Monotonic) -> None:
        """End all sessions and links, and save all players.

        Players that are not stored after three quarters of the time are written to a file.
        """
        now, within = self._ground.scheduler.now(), self._ground.scheduler.within
        drain_until = Monotonic(min(now + DRAIN_TIME, deadline))
        stored_by = Monotonic(deadline - (deadline - now) / 4)
        self._reviews.stop()
        self._recurring.stop()
        # Players leave before their sessions close: leaving starts their saves, and none of them
        # becomes link-dead.
        self.parts.service.close(now)
        # After the players have left, which changes groups.
        self._recurring.stop_groups()
        self._listener.dispatcher.close(now)
        # No tick may change a player whose last state is being saved.
        self._timer.stop()
        # The link before the store: a play request in progress may still read and write there.
        if self.link is not None:
            await within(stored_by, self.link.stop())
        await within(stored_by, self._ground.tasks.finished())
        await within(stored_by, self._content.stop())
        await self.spool.store_the_rest(
            [self.parts.behaviors.memories, *self.parts.population.unsaved()], stored_by
        )
        # What is still unsaved goes to the file. The store stays open until then, because a save
        # that ends late needs no entry there.
        await self.spool.keep(deadline)
        # Until here the saver repeats failed saves by its own timer.
        self._ground.scheduler.drop(self._saves)
        await within(deadline, self.cluster.stop())
        await self._listener.stop(drain_until)
        self._recordings.stop()

    def _saves_moved(self) -> None:
        self._ground.scheduler.arm(self._saves, self.parts.world.saves.saver.get_timer())

    async def _reload_knowledge(self) -> str:
        """Reload skills, languages and titles; players who enter from now on get those."""
        config = self._config.world
        knowledge = read_knowledge(config.knowledge, config.content)
        self.parts.world.knowledge = knowledge
        return f"{len(knowledge.skills)} skills, {len(knowledge.languages)} languages"

    def _status_changed(self) -> None:
        if self.link is not None:
            self.link.status_changed()
