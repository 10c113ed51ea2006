"""One run of the whole server in virtual time."""

from __future__ import annotations

import gc
import inspect
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from twisted.internet.defer import DebugInfo
from twisted.logger import LogEvent, LogLevel, LogPublisher, globalLogPublisher
from twisted.python.failure import Failure

from emu.commands import Caller, Reply
from emu.commands.registry import OWNER
from emu.errors import EmuError
from emu.net.scheduler import run
from emu.scripts.compiling import Compiler
from emu.scripts.places import CodePlaces
from emu.scripts.runtime import Environment, Runtime
from emu.session import SessionConfig
from emu.world.actors.spawn import SpawnKind
from emu.world.events import Died
from tests.simulation.acts import ACTS, Acts
from tests.simulation.auditing import Moment
from tests.simulation.auditors import AUDITORS, NO_OLDER_STATE, not_stored, older_states
from tests.simulation.bus import Broker
from tests.simulation.content import content_file, scripts_folder
from tests.simulation.disk import Disk
from tests.simulation.faults import FaultPlan, drawn
from tests.simulation.network import Network, Weather
from tests.simulation.paces import drawn_paces
from tests.simulation.people import Person, messages_of
from tests.simulation.plan import VERSIONS, Plan
from tests.simulation.planted import planted
from tests.simulation.server_database import ModelServer
from tests.simulation.servers import (
    COMMON,
    LOGIN_PORT,
    WORLD_PORT,
    SimulatedServer,
    model_of,
    prepare,
    remove,
    scratch_folder,
    seeded_chance,
    shared_files,
)
from tests.simulation.virtual_time import BEGIN, EPOCH, Timeline

FIRST = 6.0
"""Seconds for the servers to start."""
HEALING = 70.0
"""Seconds after the last fault in which everything has to be right again."""
LEAVING = 90.0
"""Seconds after which nobody may be left in the world."""
STORED_WITHIN = 40.0
"""Seconds in which a death is stored, if the database answers."""
BAN_KNOWN = 1.5
"""Seconds after which every process knows of a ban, if nothing else is wrong."""
TAKEN_BACK_WITHIN = 4.0
"""Seconds after which a client has read the line that follows a confirmation."""
AUDITS = 6
"""Audits at random moments of a run."""


@dataclass
class Report:
    """What a run has found."""

    plan: Plan
    problems: list[str] = field(default_factory=list)
    digest: str = ""
    events: int = 0
    cpu_seconds: float = 0.0
    entered: int = 0
    acts: dict[str, int] = field(default_factory=dict)
    faults: list[FaultPlan] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    passed: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether no auditor has found anything."""
        return not self.problems


class Simulation:
    """The servers, the people and the faults of one plan."""

    def __init__(self, plan: Plan, folder: Path, *, keeps_trace: bool = False) -> None:
        self.plan = plan
        self.folder = folder
        self.paces = drawn_paces(plan.seed)
        # The name of the folder is another one in each run, and errors of its files say it.
        self.timeline = Timeline(hidden=str(folder))
        if keeps_trace:
            self.timeline.lines = []
        self.network = Network(self.timeline, self._chance("network"))
        self.acts = Acts(ACTS, plan.acts)
        self.problems: list[str] = []
        self.coroutines: list[Coroutine[Any, Any, None]] = []
        nodes = plan.world_nodes
        self.broker: Broker | None = None
        self.database: ModelServer | None = None
        if nodes > 1:
            self.broker = Broker(self.timeline, self._chance("bus"))
            self.database = ModelServer(self.timeline, self._chance("database"))
        self.servers: list[SimulatedServer] = []
        for number in range(nodes + 1 if nodes > 1 else 1):
            self.servers.append(self._server(number))
        self.disk: Disk | None = None
        if self.database is None:
            self.disk = Disk(self.servers[0].folder, self._chance("disk"))
            self.servers[0].disk = self.disk
        self.login_host, self.login_port = self.servers[0].host, LOGIN_PORT
        self.sessions = SessionConfig(keep_alive_interval=self.paces.keep_alive)
        """The settings of the sessions of clients."""
        self.people = [
            Person(self, number) for number in range(plan.clients)
            if number not in plan.without_people
        ]  # fmt: skip
        self.faults: list[FaultPlan] = []
        self.asked: Counter[str] = Counter()
        """What people have asked for that moves coins or things: lines, or acts and names."""
        self.asked_things: Counter[int] = Counter()
        """Things that game masters have asked for, by their kind."""
        self.asked_lines: Counter[tuple[str, str]] = Counter()
        """How often people have typed a line at the bank, by their names."""
        self.on_confirmation: Callable[[SimulatedServer], object] | None = None
        """What happens to the process that shows a person a result next."""
        self.is_healing = False
        self.deaths: dict[str, float] = {}
        """When each creature died that is dead, by its name."""
        self.bodies = 0
        """Creatures that have died."""
        self.most_played: dict[int, float] = {}
        """Seconds for which each character was played, as an auditor has read them last."""

    def _chance(self, name: str) -> random.Random:
        return random.Random(f"{self.plan.seed} {name}")

    def _server(self, number: int) -> SimulatedServer:
        host = f"10.0.0.{number + 1}"
        name = ("login", "east", "west", "north", "south")[number]
        folder = self.folder / name
        settings: dict[str, object] = {
            **COMMON, "login.listen": f"{host}:{LOGIN_PORT}",
            "world.listen": f"{host}:{WORLD_PORT}", "world.content": content_file(),
            "world.scripts": scripts_folder(), "world.update_rate": self.paces.update_rate,
        }  # fmt: skip
        if self.database is None:
            settings |= {
                "database.url": f"sqlite:{folder}/emu.sqlite", "database.durability": "safe",
                "world.review_seconds": self.paces.review,
            }  # fmt: skip
        else:
            settings |= {
                "database.url": "postgresql://emu@database/emu",
                "database.node_file": f"{folder}/emu.sqlite", "database.threads": 1,
                "node.name": name, "node.lease": self.paces.lease, "node.drain_wait": 10,
            }  # fmt: skip
            settings |= {"login.enabled": False} if number else {"node.capacity": 0}
        made = SimulatedServer(
            self.network, name, host, folder, self._chance(f"server {number}"), settings
        )
        made.killed = self._was_killed
        made.died = self._has_died
        return made

    @property
    def worlds(self) -> list[SimulatedServer]:
        """The servers that run a world now."""
        return [one for one in self.servers if one.is_up and one.server is not None]

    @property
    def is_troubled(self) -> bool:
        """Whether the servers cannot learn of a change: the database is away or slow."""
        now = self.timeline.passed
        kinds = ("database", "answers", "slow", "full", "still", "kill", "power", "stop", "clock")
        return any(
            fault.at <= now <= fault.ended + 60.0 and fault.kind in kinds for fault in self.faults
        )

    def report(self, auditor: str, text: str) -> None:
        """Note a problem."""
        line = f"{auditor} at {self.timeline.passed:.3f} s: {text}"
        if len(self.problems) < 50:
            self.problems.append(line)
        self.timeline.note("PROBLEM", line)

    # -- the database, as an auditor reads it ---------------------------------------------------

    def rows(self, sql: str, *values: object) -> list[Any]:
        """Return rows of the database, beside the program."""
        if self.database is not None:
            return self.database.connection.execute(sql, values).fetchall()
        try:
            return self.servers[0].rows(sql, values)
        except sqlite3.DatabaseError as error:
            self.report("the database file", str(error))
            return []

    def letters_to(self, name: str) -> list[int]:
        """Return the numbers of the letters to a character."""
        return [
            row[0] for row in self.rows(
                "SELECT world_mail.id FROM world_mail JOIN world_characters AS own"
                " ON own.id = world_mail.recipient_id WHERE own.name = ? ORDER BY world_mail.id",
                name,
            )
        ]  # fmt: skip

    # -- the run ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Carry out the plan."""
        timeline, plan = self.timeline, self.plan
        limit = plan.until if plan.until is not None else float("inf")
        chance = self._chance("run")
        for number, server in enumerate(self.servers):
            timeline.call(None, 0.5 * number, self.start_server, server)
        for person in self.people:
            person.plan_start(FIRST + min(30.0, plan.seconds / 4) * person.chance.random())
        end = FIRST + plan.seconds
        self.faults = drawn(plan)
        for fault in self.faults:
            if fault.number not in plan.without_faults:
                timeline.call(None, fault.at, fault.begin, self)
        for _ in range(AUDITS):
            timeline.call(None, FIRST + plan.seconds * chance.random(), self.audit, Moment.ANY)
        timeline.call(None, 2 * FIRST, self._set_ranks)
        timeline.run(min(end, limit))
        if plan.until is not None:
            return
        self._heal()
        timeline.run(end + HEALING)
        self.audit(Moment.ANY)
        self.audit(Moment.QUIET)
        self._leave()
        timeline.run(end + HEALING + LEAVING)
        self.audit(Moment.ANY)
        self.audit(Moment.EMPTY)
        for server in self.servers:
            server.stop()
        timeline.run(end + HEALING + LEAVING + 30)
        self.audit(Moment.STOPPED)

    def end(self) -> None:
        """End all processes; a second call does nothing."""
        for server in self.servers:
            server.kill()
            server.close()
        if self.database is not None:
            self.database.close()

    def _set_ranks(self) -> None:
        """Give some characters the rank of a game master, as an operator does in the database."""
        for person in self.people:
            if person.is_master:
                self.change(
                    "UPDATE world_characters SET admin_status = 100 WHERE name = ?"
                    " AND admin_status = 0", person.name,
                )  # fmt: skip
            if person.confirmed.has_character and not person.has_coins:
                person.has_coins = True
                self.console(f"coins give {person.name} 300c")
        if not self.is_healing:
            self.timeline.call(None, 20.0, self._set_ranks)

    def change(self, sql: str, *values: object) -> None:
        """Change the database, as an operator does."""
        if self.database is not None:
            self.database.connection.execute(sql, values)
        else:
            # Another program may have locked the file; the auditors report one that is damaged.
            with suppress(sqlite3.DatabaseError):
                self.servers[0].rows(sql, values)

    def has_confirmed(self, person: Person) -> None:
        """Note that a process has confirmed something to a person: it has to be stored by now."""
        missing = [*not_stored(self, person)]
        if missing:
            # A line may follow that says that it is not stored yet.
            self.timeline.call(
                None, TAKEN_BACK_WITHIN, self._stays_confirmed, person, person.confirmed.changes,
                missing,
            )  # fmt: skip
        self.has_shown(person)

    def has_shown(self, person: Person) -> None:
        """Let happen what a fault has planned for the process that shows a person a result."""
        happens = self.on_confirmation
        if happens is not None and not self.is_healing:
            for server in self.worlds:
                assert server.server is not None
                world = server.server.world
                if world is not None and world.parts.world.players.named(person.name) is not None:
                    # Not in the middle of what the client does.
                    self.timeline.call(None, 0.0, self._end_confirming, server, happens)
                    return

    def _stays_confirmed(self, person: Person, changes: int, missing: Sequence[str]) -> None:
        """Report what was not stored when it was confirmed, unless that was taken back."""
        if person.confirmed.changes == changes:
            for text in missing:
                self.report("what is confirmed is stored", text)

    def _end_confirming(
        self, server: SimulatedServer, happens: Callable[[SimulatedServer], object]
    ) -> None:
        if self.on_confirmation is happens and server.is_up and not self.is_healing:
            happens(server)

    def died(self, name: str) -> None:
        """Note that a creature was removed, and stays dead for its time."""
        now = self.timeline.passed
        kinds = ("database", "answers", "still", "slow", "full", "clock")
        # A node that is away stores no death: its zone may run on another node by now.
        if not any(
            fault.kind in kinds and fault.at < now + STORED_WITHIN and now < fault.ended + 10.0
            for fault in self.faults
        ):
            self.deaths[name] = self.timeline.now

    def _has_died(self, event: Died) -> None:
        self.bodies += event.victim.kind is not SpawnKind.PLAYER

    def _was_killed(self) -> None:
        self.unsure_of_deaths()
        self._audit_states()

    def _audit_states(self) -> None:
        """Look at the stored states, before a process ends and after one has started."""
        for text in older_states(self):
            self.report(NO_OLDER_STATE, text)

    def unsure_of_deaths(self) -> None:
        """Forget the last deaths: a process has ended before they were stored."""
        now = self.timeline.now
        for name in [name for name, at in self.deaths.items() if now - at < STORED_WITHIN]:
            del self.deaths[name]

    def start_coroutine(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine of a server; a fault of the program is a problem."""

        def failed(failure: Failure) -> None:
            if not isinstance(failure.value, EmuError):
                self.report("console", failure.getTraceback())

        run(work, failed)

    def console(self, line: str, then: Callable[[Reply], object] = lambda _reply: None) -> None:
        """Let an operator type a line at the console of the first server."""
        if line.startswith("coins"):
            self.asked[line] += 1
        server = self.servers[0].server
        if server is None or self.servers[0].reactor is None or self.servers[0].reactor.is_still:
            return
        reactor = self.servers[0].reactor

        async def type_line() -> None:
            reply = await server.commands.run(
                Caller("console", OWNER, "console"), line, server.scheduler.now()
            )
            if not reactor.is_dead:
                self.timeline.note("console", line, reply.ok, *reply.lines)
                then(reply)

        self.start_coroutine(type_line())

    def start_server(self, server: SimulatedServer) -> None:
        """Start a server; try again later if it cannot start, as systemd does."""
        if server.is_up or server.is_kept_down:
            return
        try:
            server.start()
        except Exception as error:  # noqa: BLE001  # reported, and repeated
            server.failed_starts += 1
            self.timeline.note("server", server.name, "cannot start:", error)
            if self.is_healing and server.failed_starts > 30:
                self.report("starts", f"{server.name} cannot start: {error}")
                return
            self.timeline.call(None, 2.0, self.start_server, server)
        else:
            self._audit_states()

    def _heal(self) -> None:
        """End all faults."""
        self.is_healing = True
        self.timeline.note("healing")
        for fault in self.faults:
            fault.end(self)
        self.network.weather.clear()
        self.network.shut.clear()
        self.network.usual = Weather()
        if self.broker is not None:
            self.broker.is_away = False
            self.broker.cut_off.clear()
            self.broker.loss = self.broker.doubled = self.broker.late = 0.0
        if self.database is not None:
            self.database.is_away = False
            self.database.cut_off.clear()
            self.database.breaks = self.database.loses = 0.0
        for server in self.servers:
            server.is_kept_down = False
            if server.is_up and server.reactor is not None:
                if server.reactor.is_still:
                    server.reactor.go_on()
                server.reactor.clock_error = 0.0
                server.reactor.machine.slowness = server.slowness
            else:
                self.timeline.call(None, 1.0, self.start_server, server)
        for person in self.people:
            self.timeline.call(None, HEALING - 35.0, setattr, person, "acts_enabled", False)

    def _leave(self) -> None:
        """Let all people end their clients."""
        for person in self.people:
            person.wants_to_play = False
            for program in person.programs:
                program.crash()

    def audit_ban(self, person: Person, since: float) -> None:
        """Look whether a banned person has come in after its ban."""
        if person.banned_since != since:
            return
        for server in self.worlds:
            assert server.server is not None
            if server.server.world is None or server.reactor is None or server.reactor.is_still:
                continue
            for present in server.server.world.parts.world.processes.presence:
                entered = present.since - EPOCH + BEGIN
                if present.name == person.name and entered > since + BAN_KNOWN:
                    self.report("nobody enters who is banned", f"{person.name} is in the world")
                    return

    def audit(self, moment: Moment) -> None:
        """Let the auditors of a moment look."""
        for auditor in AUDITORS:
            if auditor.moment is moment:
                for text in auditor.look(self):
                    self.report(auditor.name, text)

    # -- the log ----------------------------------------------------------------------------------

    def heard_log(self, event: LogEvent) -> None:
        """Take an event of the program's log: a fault of the program is a problem."""
        failure = event.get("log_failure")
        level = event.get("log_level")
        if failure is not None:
            self.report("log", f"{failure.getTraceback()}")
        elif level is LogLevel.critical:
            self.report("log", str(event.get("log_format")))


def _end_scripts() -> None:
    """Let go of Lua in all processes: no collector sees a circle through it."""
    for found in gc.get_objects():
        if type(found) is Environment:
            found.end()
        elif type(found) is CodePlaces:
            found.getinfo = None
        elif type(found) in (Runtime, Compiler):
            vars(found).clear()


def _do_nothing() -> int:
    """Take the place of a function of the collector during a run."""
    return 0


MOST_COLLECTIONS = 4
"""Collections after a run: what a coroutine holds at its end is found by the next one."""


@contextmanager
def _own_objects(*, are_kept: bool) -> Iterator[None]:
    """Free at the end what a run has made, and leave the objects from before alone.

    When the collector runs must not decide anything, so it does not run meanwhile. If the objects
    `are_kept`, the end of the process frees them.
    """
    was_enabled, before = gc.isenabled(), sys.unraisablehook
    had_frozen = gc.get_freeze_count() > 0

    def hook(about: Any) -> None:
        # A coroutine of a killed process raises when it is removed: it never goes on.
        if not inspect.iscoroutine(about.object):
            before(about)

    gc.disable()
    gc.freeze()
    sys.unraisablehook = hook
    try:
        # A server sets its zones aside from the collector; those of a run end with it.
        with (
            patch.object(gc, "freeze", _do_nothing),
            patch.object(gc, "unfreeze", _do_nothing),
            patch.object(gc, "collect", _do_nothing),
        ):
            yield
    finally:
        if not are_kept:
            _free()
            # What others have set aside stays there.
            if not had_frozen:
                gc.unfreeze()
            if was_enabled:
                gc.enable()
        sys.unraisablehook = before


def _free() -> None:
    """Free what a run has made."""
    _end_scripts()
    # Twisted would log what failed in a killed process and was waited for by nobody, and what
    # fails when the coroutines of such a process are removed.
    with (
        patch.object(DebugInfo, "__del__", lambda _info: None, create=True),
        patch.object(LogPublisher, "__call__", lambda _publisher, _event: None),
    ):
        for _ in range(MOST_COLLECTIONS):
            if not gc.collect():
                break


def simulate(plan: Plan, *, keeps_trace: bool = False, ends_process: bool = False) -> Report:
    """Carry out a plan and return what it has found.

    `ends_process` says that this process ends next, so that nothing has to be freed.
    """
    # Made once in a process, before anything is drawn from the seed.
    prepare()
    for version in VERSIONS:
        messages_of(version)
    begun = time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="emu-simulation-", dir=scratch_folder()))
    report = Report(plan)
    try:
        with _own_objects(are_kept=ends_process), seeded_chance(plan.seed), shared_files():
            # In a call of its own, whose variables end with it.
            _carry_out(report, folder, keeps_trace=keeps_trace)
    finally:
        remove(folder)
    report.cpu_seconds = time.process_time() - begun
    return report


def _carry_out(report: Report, folder: Path, *, keeps_trace: bool) -> None:
    """Carry out the plan of a report, and complete it."""
    plan = report.plan
    simulation = Simulation(plan, folder, keeps_trace=keeps_trace)
    globalLogPublisher.addObserver(simulation.heard_log)
    try:
        with (
            planted(plan.plant),
            model_of(simulation.broker, simulation.database),
            simulation.disk.mounted() if simulation.disk else nullcontext(),
        ):
            simulation.run()
            simulation.end()
    finally:
        globalLogPublisher.removeObserver(simulation.heard_log)
        simulation.end()
        for work in simulation.coroutines:
            # What it does at its end fails: its process is dead.
            with suppress(Exception):
                work.close()
    report.problems = simulation.problems
    report.digest = simulation.timeline.digest()
    report.events = simulation.timeline.events
    report.passed = simulation.timeline.passed
    report.faults = simulation.faults
    report.entered = sum(person.entered for person in simulation.people)
    for person in simulation.people:
        for name, count in person.acted.items():
            report.acts[name] = report.acts.get(name, 0) + count
    report.trace = simulation.timeline.lines or []
