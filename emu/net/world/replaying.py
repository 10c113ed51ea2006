"""Plays a recording of a zone without a network: the world itself, with what came in then.

The clock shows what it showed, chance has the seed of the recording, and repositories give the
recorded answers. Content, zone files, behaviors and scripts are those of the configuration, so a
script can be changed between two replays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import attrs
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.python.failure import Failure

from emu.commands import Registry
from emu.config import Config
from emu.content.models import read_stand_ins
from emu.dialects import Dialects, shipped_rules
from emu.errors import PeerError, StoreError, UnknownOpcode, UnknownVersion
from emu.items.held import Thing
from emu.ledger import Owner, OwnerKind
from emu.model import WorldCharacter
from emu.net import parameters
from emu.net.machine import Machine
from emu.net.scheduler import Scheduler, run
from emu.net.world.content import ContentReader
from emu.opcodes import shipped_tables
from emu.processes.bus import LocalBus
from emu.processes.ports import Processes
from emu.processes.presence import SharedPresence
from emu.processes.settings import SharedSettings
from emu.processes.shared import LocalHandoffKeys, ServedHere
from emu.scripts.own_time import OwnTime
from emu.session import SessionStatistics
from emu.structs import shipped_catalog
from emu.times import Moment, Monotonic
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import Player, PlayerState
from emu.world.actors.spawn import Spawn
from emu.world.assembly import Assembly
from emu.world.behaviors import Library
from emu.world.entry.leaving import LeaveReason
from emu.world.events import GameEvent
from emu.world.knowledge import read_knowledge
from emu.world.minds.guard import unguarded
from emu.world.population.atlas import read_atlas
from emu.world.ports import WorldPorts, WorldStores
from emu.world.recording.recorder import COMMAND, THREAD, Recorder
from emu.world.recording.recording import PlayerSnapshot, Recording, ZoneSnapshot
from emu.world.recording.ring import InputEntry
from emu.world.recording.stores import key_of
from emu.world.reports import WorldEvent
from emu.world.rules import RecordRules
from emu.world.visibility.forms import read_rules
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

FIRST_NUMBER: Final = 1 << 31
"""Number of the first thing that is made in a replay.

It is over those that are stored, and fits into the 32 bits of the client's messages.
"""
SPACE: Final = 1 << 20
STEPS_OF_ENTRY: Final = (
    "OP_DoneLoadingZoneResourcesMsg", "OP_DoneLoadingEntityResourcesMsg",
)  # fmt: skip
STORES: Final = ("characters", "guilds", "ledger", "mail", "petitions", "houses", "memories")
"""The repositories whose recorded answers are given again."""
HERE: Final = "here"
OF_ZONE: Final = "of_zone"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: seconds after the beginning, the name of its type, and what is known of it."""

    after: float
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.after:9.3f}  {self.kind:<15} {self.text}".rstrip()


def recorded_events(recording: Recording) -> list[Happening]:
    """Return what happened when the recording was made."""
    began = recording.header.began
    return [
        Happening(entry.now - began, *entry.data)
        for is_own, entry in recording.entries
        if entry.kind == "event" and is_own
    ]


class ReplayClock:
    """Shows what the clock showed while an entry was handled."""

    def __init__(self, now: float, wall: float) -> None:
        self._now = now
        self._wall = wall
        self._readings: Iterator[float] = iter(())

    def show(self, entry: InputEntry) -> None:
        """Begin to show the readings of an entry."""
        self._now = entry.now
        self._readings = iter(entry.readings)

    def now(self) -> Monotonic:
        """Return the steady time."""
        self._now = max(self._now, next(self._readings, self._now))
        return Monotonic(self._now)

    def moment(self) -> Moment:
        """Return the wall-clock time."""
        return Moment(self._now + self._wall)

    async def pause(self, seconds: float) -> None:
        """Go on at once: what a replay asks for again has no other answer later."""


class _NoThread:
    """A thread that does nothing: the calls of a replay are carried out when theirs were."""

    def wake(self) -> None:
        """Do nothing."""

    def join(self) -> None:
        """Do nothing."""


class _ReplayMachine(Machine):
    def thread(self, work: Any, name: str) -> _NoThread:  # noqa: ARG002  # see `Machine`
        return _NoThread()


class _ReplayReactor:
    """What components ask a reactor for that are made for a server."""

    machine = _ReplayMachine()

    def callFromThread(self, call: Callable[..., Any], *values: Any) -> None:
        call(*values)


class Waiting:
    """Questions whose answers are not there yet, by zone and name."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._waiting: dict[tuple[bool, str], list[Callable[[InputEntry], None]]] = {}
        self.is_prompt = False
        """Whether calls in threads are carried out at once."""

    def wait(self, name: str, answer: Callable[[Any, InputEntry], None]) -> None:
        """Call `answer` when the recording has the answer to a question."""
        asked = self._record.ask(name)
        key = (asked.zone is not None, name)
        self._waiting.setdefault(key, []).append(lambda entry: answer(asked, entry))

    def answered(self, is_own: bool, entry: InputEntry) -> None:
        """Give the answer of an entry to the first who waits for it."""
        waiting = self._waiting.get((is_own, entry.data[0]))
        if waiting:
            waiting.pop(0)(entry)

    def in_thread(self, call: Callable[[], Any]) -> Deferred[Any]:
        """Carry out a call when it was carried out."""
        if self.is_prompt:
            return maybeDeferred(call)
        done: Deferred[Any] = Deferred()

        def answer(asked: Any, _entry: InputEntry) -> None:
            result = _result_of(call)
            self._record.answered(asked)
            done.callback(result)

        self.wait(THREAD, answer)
        return done


def _result_of(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception:  # noqa: BLE001  # whoever waits gets it
        return Failure()  # type: ignore[no-untyped-call]


class ReplayedStore:
    """A repository that gives the recorded answers."""

    def __init__(self, waiting: Waiting, record: Recorder, name: str) -> None:
        self._waiting = waiting
        self._record = record
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def call(*arguments: Any, **_others: Any) -> Any:
            if self._waiting.is_prompt and method == OF_ZONE:
                # What a zone that is restored had forgotten is not in its recording.
                return []
            done: Deferred[Any] = Deferred()

            def answer(asked: Any, entry: InputEntry) -> None:
                self._record.answered(asked)
                _, value, error = entry.data
                if error is None:
                    done.callback(value)
                else:
                    done.errback(StoreError(error))

            self._waiting.wait(key_of(self._name, method, arguments), answer)
            return await done

        return call


class ReplayedThings:
    """The things of the players who enter."""

    def __init__(self) -> None:
        self.of_next: tuple[WorldCharacter, tuple[Thing, ...]] | None = None
        self._next = FIRST_NUMBER

    async def of(self, owners: Any) -> dict[Owner, list[Thing]]:
        """Return the things of a character; those of its account are among its own."""
        if self.of_next is None:
            return {}
        character, things = self.of_next
        mine = Owner(OwnerKind.CHARACTER, character.id)
        return {mine: list(things)} if mine in owners else {}

    async def reserve(self, count: int) -> int:
        """Return numbers for new things."""
        first = self._next
        self._next += count
        return first


class _OnlyChances:
    """The part of a recorder that a reader of content needs in a replay."""

    def __init__(self, record: Recorder) -> None:
        self.chances = record.chances

    def store(self, _name: str, inner: Any) -> Any:
        """Return a repository, which gives recorded answers already."""
        return inner

    def noted(self, done: Any) -> Any:
        """Return the result of a call, which has noted its time already."""
        return done


class _ReplayReader(ContentReader):
    """Reads the content when it was read."""

    waiting: Waiting

    def run(self, call: Callable[[], Any]) -> Deferred[Any]:
        """Carry out a call when it was carried out."""
        return self.waiting.in_thread(call)


class _Link:
    """A link to nobody."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Send nothing."""

    def send_later(self, opcode: int, payload: bytes) -> None:
        """Send nothing."""

    def trust(self) -> None:
        """Do nothing."""

    def charge_to(self, account_id: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def capacity(self) -> int:
        """Return much space."""
        return SPACE

    def round_trip(self) -> float | None:
        """Return that it is unknown."""
        return None

    def statistics(self) -> SessionStatistics:
        """Return counters of nothing."""
        names = [one.name for one in fields(SessionStatistics)]
        return SessionStatistics(**dict.fromkeys(names, 0))

    def wake(self) -> None:
        """Do nothing."""


def _line_of(spawn: Spawn) -> str:
    at, health = spawn.position, spawn.sheet.health
    return (
        f"{spawn.name} at {at.x:.1f}, {at.y:.1f}, {at.z:.1f},"
        f" health {health.current} of {health.most}"
    )


class Replay:
    """One replay of a recording."""

    def __init__(
        self,
        recording: Recording,
        config: Config,
        *,
        scripts: Path | None = None,
        report: Callable[[str], object] = lambda _line: None,
    ) -> None:
        """`scripts` is another folder of Lua scripts. `report` gets the lines of the world's log.

        Raises `EmuError`.
        """
        header = recording.header
        self.recording = recording
        self._report = report
        self._clock = ReplayClock(header.began, header.wall)
        seeds = iter([bytes.fromhex(header.beside_seed), bytes.fromhex(header.seed)])
        self._record = Recorder(
            RecordRules(is_on=True, seconds=float("inf")), self._clock,
            lambda: next(seeds, b""),
        )  # fmt: skip
        self._waiting = Waiting(self._record)
        self._things = ReplayedThings()
        self.events: list[Happening] = []
        self.parts = self._assemble(config, scripts)
        self._record.go_on_with(None, bytes.fromhex(header.beside_seed), header.beside_drawn)
        self._record.happened = self._happened
        self.parts.world.zones.next_spawn_id = count(header.first_spawn).__next__
        self._service = self._record.service(self.parts.service)
        self._turn = self._record.turns(self.parts.world.timetable.handle_timer)
        self._entry: InputEntry | None = None

    # -- the world --------------------------------------------------------------------------------

    def _assemble(self, config: Config, scripts: Path | None) -> Assembly:
        world = config.world
        if scripts is not None:
            world = attrs.evolve(world, scripts=scripts)
        scheduler = cast("Scheduler", self._clock)
        atlas = read_atlas(world.zones, world.content)
        reader = _ReplayReader(
            world, _ReplayReactor(), scheduler, dead=self._store("dead"),
            edits=self._store("edits"), start=self._start, zone_settings=config.zone_settings,
            record=cast("Recorder", _OnlyChances(self._record)),
        )  # fmt: skip
        reader.waiting = self._waiting
        bus = LocalBus(self._failed)
        presence = SharedPresence(bus, HERE, self._clock.moment, spawn=self._start)
        ports = WorldPorts(
            atlas=atlas,
            zones_folder=lambda: None,
            dialects=Dialects(shipped_tables, shipped_catalog(), shipped_rules()),
            forms=read_rules(),
            stand_ins=read_stand_ins(world.content),
            knowledge=read_knowledge(world.knowledge, world.content),
            library=Library(world.behaviors),
            stores=WorldStores(
                things=self._things,
                **{name: self._store(name) for name in STORES},
            ),
            processes=Processes(
                HERE, bus, LocalHandoffKeys(lambda: 1, scheduler), presence, ServedHere()
            ),
            settings=SharedSettings(),
            content=reader,
            kinds=reader.kinds,
            quests=reader.quests,
            spell_kinds=reader.spells,
            trade=reader.trade,
            crafts=reader.crafts,
            in_thread=self._waiting.in_thread,
            clock=self._record.clock(self._clock),
            roll=self._record.roll(lambda _count: 0),
            seeded=Random,
            draw=iter(map(str, range(1 << 60))).__next__,
            report=self._reported,
            address=lambda: ("127.0.0.1", 0),
            start=self._start,
            answer=Deferred,
            wake=lambda _due: None,
            wake_saver=lambda: None,
            tick=Zone.tick,
            guard=unguarded,
            # How fast this machine is must not change what happens.
            spent=OwnTime(lambda: 0.0),
            record=self._record,
        )
        return Assembly(ports, parameters.rule_set(config), Registry(lambda _use: None))

    def _store(self, name: str) -> Any:
        return ReplayedStore(self._waiting, self._record, name)

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        run(work, lambda failure: self._failed(cast("Exception", failure.value)))

    def _failed(self, error: BaseException) -> None:
        self._report(f"{type(error).__name__}: {error}")

    def _reported(self, event: WorldEvent) -> None:
        if event.level in ("warn", "error"):
            self._report(event.line)

    # -- playing ----------------------------------------------------------------------------------

    def play(self, until: float = float("inf")) -> Iterator[Happening]:
        """Play up to `until` seconds after the beginning; yield what happens."""
        header = self.recording.header
        if self.recording.snapshot is not None:
            self._restore(self.recording.snapshot)
        for is_own, entry in self.recording.entries:
            if entry.now - header.began > until:
                return
            shown = len(self.events)
            self._play(is_own, entry)
            yield from self.events[shown:]

    def _play(self, is_own: bool, entry: InputEntry) -> None:
        if entry.kind == "event":
            return
        self._entry = entry
        self._clock.show(entry)
        now = Monotonic(entry.now)
        try:
            match entry.kind:
                case "turn":
                    self._turn(now)
                case "answer":
                    self._waiting.answered(is_own, entry)
                case "seed":
                    seed = bytes.fromhex(entry.data[0])
                    self._record.go_on_with(self._zone if is_own else None, seed, 0)
                case "enter":
                    self._enter(entry.data[0], now)
                case _:
                    player = self.parts.world.players.get(entry.data[0])
                    if player is not None:
                        self._of_player(player, entry, now)
        except (PeerError, UnknownOpcode, UnknownVersion) as error:
            self._failed(error)

    @property
    def _zone(self) -> Zone | None:
        header = self.recording.header
        return self.parts.world.zones.find(header.zone_id, header.instance)

    def _of_player(self, player: Player, entry: InputEntry, now: Monotonic) -> None:
        kind, data = entry.kind, entry.data
        table = player.client.dialect.table
        if kind == "closed":
            self._service.closed(player, player.client.link, data[1], now)
        elif kind == "gone":
            if player.state not in (PlayerState.GONE, PlayerState.ZONING):
                self.parts.departures.remove(player, LeaveReason.STOPPING, now)
        elif kind == "command":
            body = self.parts.remote.written(player, data[1], data[2])
            self._message(player, table.number(COMMAND), body, data[3:], now)
        elif kind == "message":
            number = data[1] if isinstance(data[1], int) else table.number(data[1])
            self._message(player, number, data[2], data[3:], now)

    def _message(
        self, player: Player, number: int, body: bytes, named: tuple[Any, ...], now: Monotonic
    ) -> None:
        """Handle a message; an index means the spawn that it meant then."""
        self._record.message(player, number, body, now)
        if player.viewer is not None:
            found = iter(named[0] if named else ())

            def resolved(_index: int, here: Spawn | None) -> Spawn | None:
                row = next(found, None)
                return here if row is None else self._spawn_like(player.zone, *row[1:])

            player.viewer.interest.resolved = resolved
        self.parts.service.message(player, number, body, now)

    def _spawn_like(self, zone: Zone, name: str, at: Any) -> Spawn | None:
        """Return the spawn of a name that is nearest to a place."""
        if at is None:
            return None
        place = Position(*at)
        like = [one for one in zone if one.name == name]
        return min(like, key=lambda one: place.distance_to(one.position), default=None)

    def _enter(self, about: PlayerSnapshot, now: Monotonic) -> Player:
        character, things = about.character, self._things
        things.of_next = character, about.things
        dialect = self.parts.ports.dialects.for_version(about.version)
        loads = []

        async def load() -> None:
            loads.append(await self.parts.service.load(character, about.version))

        self._waiting.is_prompt = True
        try:
            self._start(load())
        finally:
            self._waiting.is_prompt, things.of_next = False, None
        client = PlayerClient(dialect, _Link(), "")
        player = self._service.enter(
            character, client, now, *loads, hidden=about.is_hidden, is_zoning=about.is_from_node
        )
        if about.is_inside:
            player.journey.is_returning = True
        world = self.parts.world
        world.processes.presence.entered(player.present, lambda: None)
        return player

    def _happened(self, zone: Zone | None, event: GameEvent, text: str) -> None:
        header = self.recording.header
        if zone is None or zone.zone_id != header.zone_id:
            return
        after = (self._entry.now if self._entry is not None else header.began) - header.began
        self.events.append(Happening(after, type(event).__name__, text))

    def kinds(self) -> set[str]:
        """Return the names of all types of events."""
        found, left = set(), [GameEvent]
        while left:
            kind = left.pop()
            found.add(kind.__name__)
            left += kind.__subclasses__()
        return found

    def scene(self) -> Iterator[str]:
        """Yield a line about each player, and about whom it has targeted."""
        for player in self.parts.world.players:
            target = player.target
            yield _line_of(player.spawn) + (f", target {target.name}" if target else "")
            if target is not None:
                yield f"  {_line_of(target)}"

    # -- a snapshot --------------------------------------------------------------------------------

    def _restore(self, snapshot: ZoneSnapshot) -> None:
        """Let the zone be as it was: its spawns first, then its players."""
        header, now = self.recording.header, Monotonic(self.recording.header.began)
        world = self.parts.world
        self._waiting.is_prompt = True
        zone = world.zones.private(header.zone_id, header.instance, now)
        turns = 0
        while (due := world.timetable.get_timer()) is not None and due <= now and turns < 10_000:
            world.timetable.handle_timer(now)
            turns += 1
        self._waiting.is_prompt = False
        known = {one.placement: one for one in snapshot.spawns}
        for spawn, placement in list(self._record.placements(zone)):
            like = known.get(placement)
            if like is None or like.name != spawn.name:
                self.parts.population.content.despawn(zone, spawn)
                continue
            spawn.move(Position(like.x, like.y, like.z, like.heading))
            spawn.sheet.health.set_current(like.health)
            spawn.sheet.power.set_current(like.power)
        for one in snapshot.players:
            player = self._enter(one, now)
            if one.stands:
                self._load(player, now)
        self._record.go_on_with(zone, bytes.fromhex(header.seed), header.drawn)
        self._record.go_on_with(None, bytes.fromhex(header.beside_seed), header.beside_drawn)
        self.events.clear()

    def _load(self, player: Player, now: Monotonic) -> None:
        """Let a player stand in the zone, as if its client had loaded it."""
        table = player.client.dialect.table
        for name in STEPS_OF_ENTRY:
            self.parts.service.message(player, table.number(name), b"", now)
        layout = player.client.dialect.layout("WS_Signal")
        body = layout.encode({"signal": "sys_client_avatar_ready"})
        self.parts.service.message(player, table.number("OP_SignalMsg"), body, now)
