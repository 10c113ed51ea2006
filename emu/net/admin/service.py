"""The administration service: commands, status, shutdown, console, RCON and query ports.

It gets the other services and the registry of their commands, and stops before them: no command can
reach a service that is gone.

Repeated refusals are logged once and then summarized, so that no player can fill the log.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet.defer import Deferred

from emu.admin.commands import (
    accounts,
    audit,
    changes,
    characters,
    content,
    graphs,
    log,
    notes,
    server,
)
from emu.admin.commands.accounts import AccountCommandContext
from emu.admin.commands.audit import Auditor
from emu.admin.commands.characters import CharacterCommandContext
from emu.admin.commands.content import ContentCommandContext
from emu.admin.commands.log import LogCommandContext
from emu.admin.commands.notes import NoteCommandContext
from emu.admin.commands.server import Controls, Countdown, Reload
from emu.admin.ports import AuditStore
from emu.admin.status import OpenPort
from emu.audit import AuditedAct, AuditQuestion
from emu.commands import Registry
from emu.commands import help as help_commands
from emu.config import Config
from emu.errors import EmuError, StoreError
from emu.limits.addresses import BanList
from emu.limits.answer_bytes import AnswerBytes
from emu.login.names import account_name
from emu.metrics import EndpointUses
from emu.net.admin.commands import ConsoleServer, RconServer, rcon_users
from emu.net.admin.ggmp import ActorWorld, GgmpPort, ggmp_rules
from emu.net.admin.queries import QueryEndpoints, SsqPort
from emu.net.admin.status import StatusSource
from emu.net.cluster.node import NodeService
from emu.net.graphs import GraphRecorder
from emu.net.login.service import LoginEndpoint
from emu.net.logs import logger, written_to
from emu.net.machine import machine_of
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.net.store_worker import StoreWorker
from emu.net.stream import OpenFiles
from emu.net.watch import RefusalLog, Watch, report_use
from emu.net.world.service import WorldEndpoint
from emu.processes.ports import BusMember, Note
from emu.store import BannedAddress
from emu.times import DAY, Clock, Moment, Monotonic
from emu.world.events import HidingChanged
from emu.world.subjects.every import all_command_words

REREAD: Final = 5.0
"""Seconds between two reads of the ban list."""


def command_words() -> set[str]:
    """Return the first words of all commands of a server, without a running one."""
    sets = (server.COMMANDS, server.SOURCE_COMMANDS, help_commands.COMMANDS, accounts.COMMANDS,
            changes.COMMANDS, characters.COMMANDS, content.COMMANDS, graphs.COMMANDS,
            log.COMMANDS,             notes.COMMANDS)  # fmt: skip
    return all_command_words().union(*(one.words() for one in sets))


class KnownBans:
    """A cached ban list: answers at once, from the bans of a few seconds ago."""

    def __init__(
        self, read: Callable[[], Awaitable[Sequence[BannedAddress]]], clock: Clock
    ) -> None:
        self._read = read
        self._clock = clock
        # Empty until the first read: the first query after a start may pass a ban.
        self._list = BanList(())
        self._is_empty = True
        self._read_at = -math.inf

    def covers(self, host: str) -> bool:
        """Return whether a ban covers a host, and read the bans again when that is due."""
        now = self._clock.now()
        if now - self._read_at >= REREAD:
            # Set before the read, so that a flood of queries starts only one.
            self._read_at = now
            Deferred.fromCoroutine(self._refresh())
        return not self._is_empty and self._list.covers(host, self._clock.moment())

    async def _refresh(self) -> None:
        with suppress(EmuError):  # the known bans stay valid
            bans = await self._read()
            self._list = BanList([(ban.prefix, ban.until) for ban in bans])
            self._is_empty = not bans


ACCOUNT: Final = "changed.account"
"""The topic of an account whose sessions end: ``account_id``, the ``reason`` for the log, and the
``notice`` for its players."""
_log = logger("admin")
COMMANDS_AREA: Final = "commands"
"""The area of the server that reports each use of a command."""


@dataclass(frozen=True, slots=True)
class ServerControls:
    """What commands of operators do with the whole server."""

    end: Callable[[], object]
    """Stops the program."""
    reloads: Mapping[str, Reload]
    snapshot: Callable[[], dict[str, Any]]
    """Returns the data of the command of that name."""
    reread: Callable[[Mapping[str, Reload]], Coroutine[Any, Any, None]]
    """Reloads; logs what is wrong."""


class _AuditTrail:
    """The audit, as this process keeps and reads it.

    An act is stored after its answer. A question waits for that: a page asks for the acts once
    its own act is answered.
    """

    def __init__(self, store: AuditStore) -> None:
        self._store = store
        self._keeping = Tasks(_log)

    def keep(self, act: AuditedAct, days: float) -> None:
        """Begin to store an act of an operator; acts that are older than some days are removed."""
        self._keeping.spawn(self._keep(act, Moment(act.moment - days * DAY)))

    async def _keep(self, act: AuditedAct, oldest: Moment) -> None:
        try:
            await self._store.add_act(act, oldest)
        except StoreError as error:
            # The log has the act itself.
            _log.warn("the audit lacks an act of {who}: {reason}", who=act.who, reason=str(error))

    async def find(self, question: AuditQuestion) -> Sequence[AuditedAct]:
        """Return the acts that a question chooses, the newest first. Raises `StoreError`."""
        await self._keeping.finished()
        return await self._store.find(question)


class AdminEndpoints:
    """Commands and their listeners. Call `listen`, then `stop`."""

    def __init__(
        self,
        config: Config,
        reactor: Any,
        scheduler: Scheduler,
        watch: Watch,
        *,
        commands: Registry,
        controls: ServerControls,
        login: LoginEndpoint | None,
        world: WorldEndpoint | None,
        storage: Storage,
        bus: BusMember,
        node: NodeService | None = None,
    ) -> None:
        """Add the commands that work on the services of this process to `commands`.

        `node` is this process as a node of a cluster. Raises `ConfigError` if the RCON users are
        wrong.
        """
        self._config = config
        self._scheduler = scheduler
        self._watch = watch
        self._login, self._world = login, world
        self._bus = bus
        self._controls = controls
        self._refusals = RefusalLog(_log, scheduler)
        self.commands = commands
        self._storage = storage
        self._trail = _AuditTrail(storage.audit)
        self._hear_others()
        self._record_uses()
        self.status = StatusSource(
            self._name,
            self._port,
            scheduler.now(),
            config.network.max_sessions,
            directory=login.worlds if login is not None else None,
            world=world.parts.world if world is not None else None,
            admission=world.parts.admission if world is not None else None,
            behaviors=world.parts.behaviors if world is not None else None,
            script_errors=world.parts.minds.errors if world is not None else None,
            node_troubles=node.troubles if node is not None else tuple,
        )
        # In a later turn, so that the operator still gets the reply to `shutdown 0`.
        self._countdown = Countdown(self._announce, lambda: scheduler.soon(controls.end))
        self._timer = scheduler.timer(self)
        self._console = ConsoleServer(commands, reactor, scheduler, config.console.connections)
        watch.listener("console", self._console.uses, lambda: len(self._console.connections))
        self.rcon = RconServer(config.rcon, commands, reactor, scheduler, watch)
        self.query_bytes = AnswerBytes(config.query.unproven_bytes, scheduler.now())
        self.ssq = SsqPort(
            config.ssq, self.status.status, _game_host(config), reactor, scheduler,
            query=config.query, budget=self.query_bytes,
        )  # fmt: skip
        watch.listener("ssq", EndpointUses(logins=self.ssq.core.logins))
        self.ggmp = self._make_ggmp(world, reactor, watch) if world is not None else None
        self.queries = self._make_queries(reactor)
        self._open_files = OpenFiles(scheduler, watch)
        self._looks = StoreWorker(reactor, None, name="emu-look")
        """Reads files for operators; a search must not delay zones that start."""
        self.graphs = GraphRecorder(watch.measures, scheduler, machine_of(reactor).processor)
        self._add_commands(controls, storage)

    def _hear_others(self) -> None:
        """Subscribe to what other processes of the server say."""
        for topic, hear in (
            (ACCOUNT, self._heard_account),
            (server.RELOAD, self._of_others(self._heard_reload)),
            (server.SHUTDOWN, self._of_others(self._heard_shutdown)),
            (server.CANCEL, self._of_others(self._heard_cancel)),
        ):
            self._bus.bus.subscribe(topic, hear)

    def _record_uses(self) -> None:
        """Write each use of a command to the log, and those of operators to the audit."""
        write = report_use(_log, self._refusals)
        auditor = Auditor(lambda act: self._trail.keep(act, self._config.database.audit_days))
        subscribe, moment = self._watch.reports.subscribe, self._scheduler.moment
        subscribe(lambda report: write(report.event), COMMANDS_AREA)
        subscribe(lambda report: auditor.used(report.event, moment()), COMMANDS_AREA)

    def _make_queries(self, reactor: Any) -> QueryEndpoints:
        bans = KnownBans(self._storage.bans.every, self._scheduler)
        queries = QueryEndpoints(
            self._config, reactor=reactor, scheduler=self._scheduler, status=self.status.status,
            is_banned=bans.covers, budget=self.query_bytes,
        )  # fmt: skip
        self._watch.measures.counter(
            "queries", "Datagrams at the query ports, by result.", ["port", "result"]
        ).also(self._queries_counted)
        self._watch.measures.counter(
            "query_unproven_bytes",
            "Bytes of answers to addresses that have proved nothing (query.unproven_bytes).",
            ["result"],
        ).also(
            lambda: {
                ("sent",): self.query_bytes.sent, ("over_budget",): self.query_bytes.refused,
            }
        )  # fmt: skip
        return queries

    def _make_ggmp(self, world: WorldEndpoint, reactor: Any, watch: Watch) -> GgmpPort:
        actors = ActorWorld(world.parts.world, world.parts.chat, self.status.status)
        ggmp = GgmpPort(
            self._config.ggmp, actors, reactor=reactor, scheduler=self._scheduler,
            report_use=self.commands.report,
        )  # fmt: skip
        watch.listener("ggmp", EndpointUses(logins=ggmp.core.logins), lambda: len(ggmp.core))
        return ggmp

    def _add_commands(self, of_server: ServerControls, storage: Storage) -> None:
        controls = Controls(
            lambda rank: self.status.status(self._scheduler.now(), rank),
            of_server.reloads,
            self._countdown,
            of_server.snapshot,
            self._countdown_changed,
            self._publish,
        )
        self.commands.extend(server.COMMANDS.commands(controls))
        self.commands.extend(server.SOURCE_COMMANDS.commands(self.commands))
        self.commands.extend(changes.COMMANDS.commands(self.commands))
        self.commands.extend(audit.COMMANDS.commands(self._trail))
        about = NoteCommandContext(storage.notes, storage.account_administration, self._scheduler)
        self.commands.extend(notes.COMMANDS.commands(about))
        self.commands.extend(help_commands.COMMANDS.commands(self.commands))
        self._add_content_commands()
        world = self._world
        about_log = LogCommandContext(
            self._looks.run, written_to, self._watch.lines.lines,
            world.parts.concealed.names if world is not None else lambda _text: False,
        )  # fmt: skip
        self.commands.extend(log.COMMANDS.commands(about_log))
        self.commands.extend(graphs.COMMANDS.commands(self.graphs.history))
        if self._login is not None:
            self.commands.extend(accounts.COMMANDS.commands(self._accounts(self._login, storage)))
        if self._world is not None:
            self._world.parts.world.events.subscribe(
                HidingChanged, lambda _player: self.status.changed()
            )
        store = CharacterCommandContext(
            storage.roster, storage.world_characters, self._is_playing, self._rank_changed
        )
        self.commands.extend(characters.COMMANDS.commands(store))

    def _add_content_commands(self) -> None:
        """Add the commands that show the content file of this process's world."""
        world, config = self._world, self._config.world
        if world is None:
            return
        errors = world.parts.minds.errors
        about = ContentCommandContext(
            self._looks.run, config.content, config.scripts,
            lambda: [one.row() for one in errors.faults()], config.behaviors,
        )  # fmt: skip
        self.commands.extend(content.COMMANDS.commands(about))

    def check(self, config: Config) -> None:
        """Raise `ConfigError` if `configure` would refuse a configuration."""
        # Both read files of users, which raises for a faulty one.
        rcon_users(config.rcon)
        ggmp_rules(config.ggmp)

    def configure(self, config: Config) -> None:
        """Apply a new configuration, and read the files that it names.

        Raises `ConfigError` if a setting or file is wrong, `CommandError` if a port cannot be
        opened.
        """
        self._config = config
        self.rcon.configure(config.rcon)
        self.ssq.configure(config.ssq)
        if self.ggmp is not None:
            self.ggmp.configure(config.ggmp)

    def listen(self) -> None:
        """Open the listeners. Raises `CannotListenError`, `CommandError`, `StoreError`.

        The console is optional unless `console.path` is set: the default path lies beside the
        database and can be too long for a socket.
        """
        self._open_files.start()
        if self._config.web.listen is not None:
            self.graphs.start()
        self._refusals.start()
        for port in self._listeners():
            port.listen()
        if not self._config.console.enabled:
            return
        try:
            self._console.listen(self._config.console_path)
        except StoreError as error:
            # An operator who sets the path needs the console, so the start fails.
            if self._config.console.path is not None:
                raise
            _log.warn("emu admin cannot reach this server: {reason}", reason=str(error))

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the open listeners."""
        for listener in (self._console, *self._listeners()):
            yield from listener.open_ports()

    async def stop(self) -> None:
        """Close the listeners when their commands are answered."""
        # A countdown that still runs must not stop the program a second time.
        self._scheduler.drop(self._timer)
        self._open_files.stop()
        self.graphs.stop()
        for listener in (self._console, *self._listeners()):
            await listener.stop()
        self._refusals.stop()
        await self._looks.stop()

    def _listeners(self) -> Iterator[RconServer | SsqPort | QueryEndpoints | GgmpPort]:
        """Yield the listeners other than the console."""
        yield self.rcon
        yield self.ssq
        yield self.queries
        if self.ggmp is not None:
            yield self.ggmp

    def handle_timer(self, now: Monotonic) -> None:
        """Announce a shutdown, or stop; called by the scheduler."""
        try:
            self._countdown.handle_timer(now)
        finally:  # the server must stop in time even if an announcement fails
            self._countdown_changed()

    def _countdown_changed(self) -> None:
        self._scheduler.arm(self._timer, self._countdown.get_timer())

    def _announce(self, text: str) -> None:
        _log.info("{text}", text=text)
        if self._world is not None:
            self._world.parts.chat.broadcast(text)

    def _queries_counted(self) -> Counter[tuple[str, ...]]:
        return Counter(
            {
                (listener.key.partition(".")[0], result): count
                for port in self._listeners()
                # RCON is TCP and counts connections, not datagrams.
                if port is not self.rcon
                for listener in port.open_ports()
                for result, count in listener.counters.items()
            }
        )

    def _name(self) -> str:
        return self._config.query.name or self._config.world.name

    def _port(self) -> int:
        # Clients begin at the login service, so its port is the public one.
        service = self._login or self._world
        return service.port if service is not None else 0

    def _accounts(self, login: LoginEndpoint, storage: Storage) -> AccountCommandContext:
        return AccountCommandContext(
            storage.account_administration,
            storage.roster,
            account_name,
            login.hash_password,
            self._disconnect,
            self._scheduler.moment,
            storage.world_characters.authority_of,
            storage.world_characters.statuses,
            login.expect_trial,
        )

    def _disconnect(self, account_id: int, reason: str, notice: str) -> None:
        """End the sessions of an account in all processes."""
        # In this process at once, by its own subscription.
        self._publish(ACCOUNT, {"account_id": account_id, "reason": reason, "notice": notice})

    # -- notes of the other processes -----------------------------------------------------------

    def _publish(self, topic: str, note: Note) -> None:
        self._bus.bus.publish(topic, {**note, "process": self._bus.name})

    def _of_others(self, hear: Callable[[Note], None]) -> Callable[[Note], None]:
        """Return a subscriber that leaves out the notes of this process."""

        def heard(note: Note) -> None:
            if note["process"] != self._bus.name:
                hear(note)

        return heard

    def _heard_account(self, note: Note) -> None:
        for service in (self._world, self._login):
            if service is not None:
                service.send_away(
                    int(note["account_id"] or 0), str(note["reason"]), str(note.get("notice") or "")
                )

    def _heard_reload(self, note: Note) -> None:
        what, reloads = note["what"], self._controls.reloads
        _log.info("the process {name} has read {what} again", name=note["process"], what=what)
        wanted = {name: one for name, one in reloads.items() if what in (name, server.ALL)}
        Deferred.fromCoroutine(self._controls.reread(wanted))

    def _heard_shutdown(self, note: Note) -> None:
        seconds = min(float(note["seconds"] or 0), server.LONGEST_SHUTDOWN)
        self._countdown.start(seconds, self._scheduler.now())
        self._countdown_changed()

    def _heard_cancel(self, _note: Note) -> None:
        self._countdown.cancel()
        self._countdown_changed()

    def _is_playing(self, char_id: int) -> bool:
        """Return whether a character is in the world, in any process."""
        return (
            self._world is not None
            and self._world.parts.world.processes.presence.find(char_id) is not None
        )

    def _rank_changed(self, char_id: int, rank: int) -> None:
        if self._world is not None:
            self._world.parts.account_changes.rank_changed(char_id, rank)


def _game_host(config: Config) -> str:
    """Return the address that players connect to."""
    service = config.login if config.login.enabled else config.world
    return config.world.advertise or service.listen.host
