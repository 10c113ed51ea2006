"""A world without sockets: players' clients are lists of what they were sent, decoded.

Its zones are the shipped ones, empty unless a test brings an atlas of its own.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Coroutine, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import attrs
from twisted.internet.defer import Deferred

from emu.commands import Caller, Registry, Reply, Use
from emu.commands import help as help_commands
from emu.content.crafts import CraftTables
from emu.content.homes import HomeTables
from emu.content.items import ItemKinds
from emu.content.models import StandIns
from emu.content.quests import QuestTables
from emu.content.spells import SpellKinds
from emu.content.trade import TradeTables
from emu.errors import Unanswered
from emu.ground.map_folder import MapFolder
from emu.model import WorldCharacter
from emu.processes.exchange import Exchange
from emu.processes.ports import Bus, Processes, ZoneAddress
from emu.processes.presence import SharedPresence
from emu.processes.settings import SharedSettings
from emu.processes.shared import LocalHandoffKeys
from emu.processes.tables import run_now
from emu.scripts.own_time import OwnTime
from emu.session import SessionStatistics
from emu.structs import StructLayout
from emu.structs.packed import read_client_cmds
from emu.times import Clock, Moment, Monotonic
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import Player
from emu.world.assembly import Assembly
from emu.world.behaviors import Library
from emu.world.deadlines import Timetable
from emu.world.knowledge import read_knowledge
from emu.world.minds.guard import unguarded
from emu.world.population.atlas import read_atlas
from emu.world.population.edits import GameEdits
from emu.world.population.served import ContentZones
from emu.world.ports import ContentPort, SubjectRules, WorldPorts, WorldStores
from emu.world.quests.journals import QuestContent
from emu.world.recording.recorder import Recorder
from emu.world.reports import WorldEvent
from emu.world.rules import AdmissionRules, BehaviorRules, ChatRules, WorldRules, ZoneRules
from emu.world.scripts.host import Scripts
from emu.world.subjects.recordings import Keep, not_kept
from emu.world.travel.tables import TravelTables
from emu.world.visibility.forms import read_rules
from emu.world.zones.definitions import Atlas
from emu.world.zones.ground import NO_MAPS, Grounds
from emu.world.zones.zone import Zone
from tests.support.cluster.brokers import start
from tests.support.coroutines import finish
from tests.support.running.processes import bus, handoff_keys
from tests.support.world.ghost_views import DIALECTS, GhostView, dialect
from tests.support.world.predictions import PredictionWriter
from tests.support.world.stored import StoredBeside
from tests.support.world.world_fakes import (
    CharactersInMemory,
    GuildsInMemory,
    MemoriesInMemory,
    SettingsInMemory,
    world_character,
)

KNOWLEDGE = read_knowledge()
FORMS = read_rules()
LIBRARY = Library()
SHIPPED = read_atlas()


@lru_cache(maxsize=64)
def _command_names(layout: StructLayout, payload: bytes) -> tuple[str, ...]:
    """Return the names in a table of commands: a thousand, and the same ones in most worlds."""
    return tuple(row["name"] for row in layout.decode(payload)["commands_array"])


class Client:
    """A client behind a perfect link."""

    def __init__(self, harness: WorldHarness, version: int) -> None:
        self.harness = harness
        self.dialect = dialect(version)
        self.view = GhostView(version)
        self.predictions = PredictionWriter(self.dialect)
        self.log: list[tuple[str, bytes]] = []
        """Name and payload of everything it was sent, commands by their own name."""
        self.heard = 0
        self.is_closed = False
        self.is_trusted = False
        self.sent_later = 0
        """How many of its messages could have waited for the next one."""
        self.space = 100_000
        self.player: Player | None = None

    # what the world calls

    def send(self, opcode: int, payload: bytes) -> None:
        name = self.dialect.table.name(opcode) or str(opcode)
        if name != "OP_ClientCmdMsg":
            self.log.append((name, payload))
            return
        for command in read_client_cmds(payload, self.dialect.version):
            name = self.dialect.table.name(command.opcode) or str(command.opcode)
            self.log.append((name, command.payload))
            self.view.look(name, command.payload)

    def send_later(self, opcode: int, payload: bytes) -> None:
        self.sent_later += 1
        self.send(opcode, payload)

    def charge_to(self, account_id: int) -> None:
        self.account_id = account_id

    def trust(self) -> None:
        self.is_trusted = True

    def close(self) -> None:
        self.is_closed = True

    def capacity(self) -> int:
        return self.space

    def round_trip(self) -> float | None:
        return 0.05

    def statistics(self) -> SessionStatistics:
        return SessionStatistics(
            datagrams_received=40, datagrams_sent=50, bytes_received=4000, bytes_sent=5000,
            messages_received=30, messages_sent=45, retransmissions=1, drops=2,
            smoothed_round_trip=0.05, retransmission_timeout=0.3, congestion_window=8,
            packets_in_flight=3, packets_held=0, queued_bytes=120,
        )  # fmt: skip

    def wake(self) -> None:
        """Nothing sleeps here."""

    # what a test does

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.log]

    def decoded(self, struct: str) -> list[dict[str, Any]]:
        """Every message that a struct is, decoded."""
        layout = self.dialect.layout(struct)
        return [layout.decode(payload) for payload in self._payloads(layout)]

    def _payloads(self, layout: StructLayout) -> list[bytes]:
        wanted = layout.definition.opcode_type or layout.definition.opcode_name
        return [payload for name, payload in self.log if name == wanted]

    def say(self, name: str, body: bytes = b"") -> None:
        assert self.player is not None
        number = self.dialect.table.number(name)
        self.harness.service.message(self.player, number, body, self.harness.now)

    @property
    def step_name(self) -> str:
        """The message with which its version says its place."""
        newer = "OP_UpdatePositionMsg"
        return newer if self.dialect.table.get(newer) else "OP_PredictionUpdateMsg"

    def signal(self) -> None:
        text = b"sys_client_avatar_ready"
        self.say("OP_SignalMsg", len(text).to_bytes(2, "little") + text)

    def load(self) -> None:
        """Go through all steps up to standing in the zone."""
        self.say("OP_DoneLoadingZoneResourcesMsg")
        self.say("OP_DoneLoadingEntityResourcesMsg")
        if self.dialect.table.get("OP_DoneLoadingUIResourcesMsg") is not None:
            self.say("OP_DoneLoadingUIResourcesMsg")
        self.signal()

    @property
    def commands(self) -> tuple[str, ...]:
        """The names of its commands, by their numbers."""
        layout = self.dialect.layout("WS_SetRemoteCmdsMsg")
        return _command_names(layout, self._payloads(layout)[-1])

    def types(self, line: str) -> list[str]:
        """Type a slash command; returns the lines that it is answered with."""
        assert self.player is not None
        name, _, rest = line.removeprefix("/").partition(" ")
        table = self.commands
        before = len(self.log)
        text = rest.encode()
        index = table.index(name) if name in table else 0xFFF0
        self.say("OP_RemoteCmdMsg", struct.pack("<HH", index, len(text)) + text)
        layout = self.dialect.layout("WS_DisplayText")
        return [
            str(layout.decode(payload)["text"])
            for name, payload in self.log[before:]
            if name == "OP_EqDisplayTextCmd"
        ]

    def hears(self) -> list[tuple[str, str, str]]:
        """Everything it heard since the last time: channel, speaker, text."""
        heard = self.decoded("WS_HearChat")[self.heard :]
        self.heard += len(heard)
        return [(str(one["channel"]), one["from"], one["message"]) for one in heard]

    def walk(self, x: float, y: float, z: float, **fields: Any) -> None:
        self.say(self.step_name, self.predictions.write(x, y, z, **fields))

    def sees(self) -> set[str]:
        """Names of everybody it sees but itself."""
        return {self.view.fields(index)["name"] for index in self.view.indexes if index != 1}

    def fields_of(self, name: str) -> dict[str, Any]:
        """What it is shown of somebody, by name."""
        for index in self.view.indexes:
            fields = self.view.fields(index)
            if fields["name"] == name:
                return fields
        raise AssertionError(f"{name} is not seen")


class HarnessContent:
    """A world without a content file; tests override what they need."""

    def __init__(
        self,
        travel_tables: TravelTables | None = None,
        maps: Callable[[], MapFolder | None] = NO_MAPS,
        homes: HomeTables | None = None,
    ) -> None:
        self.travel_tables = travel_tables or TravelTables()
        self.homes = homes or HomeTables()
        self._maps = maps
        self.lines: list[str] = []
        """What is reported to operators."""

    def zones(self, assembly: Assembly, next_id: Callable[[], int]) -> ContentZones:
        ports = assembly.ports

        async def run(call: Callable[[], Any]) -> Any:
            return call()

        return ContentZones(
            None, fixtures=ports.atlas.fixtures, next_id=next_id, randomness=lambda: Random(1),
            hour=lambda: 12, center=lambda _zone: None, now=ports.clock.now,
            timetable=assembly.timetable, start=ports.start, failed=self.lines.append,
            in_thread=run,
        )  # fmt: skip

    def edits(self, _assembly: Assembly) -> GameEdits | None:
        return None

    def scripts(self, _assembly: Assembly) -> Scripts | None:
        return None

    def grounds(self, timetable: Timetable, clock: Clock) -> Grounds:
        return Grounds(timetable, clock.now, self._maps)


async def at_once(call: Callable[[], Any]) -> Any:
    """Carry out a call that a server gives to a thread."""
    return call()


_identities = itertools.count(1)


def identity() -> str:
    """Return the identity of a movement; no test's world has it twice."""
    return f"test-{next(_identities)}"


class WorldHarness:
    """A world, its clock, and its clients."""

    def __init__(
        self,
        rules: WorldRules | None = None,
        atlas: Atlas | None = None,
        wake: Callable[[Monotonic], None] = lambda _due: None,
        *,
        beside: WorldHarness | None = None,
        elsewhere: Mapping[int, tuple[str, int]] | None = None,
        joined: Exchange | None = None,
        content: ContentPort | None = None,
        quests: QuestContent | None = None,
        roll: Callable[[int], int] = lambda count: count - 1,
        record: Recorder | None = None,
        keep_recording: Keep = not_kept,
        spell_kinds: SpellKinds | None = None,
    ) -> None:
        """Make a world; one `beside` another shares store, keys and bus with it.

        `joined` is its own bus among those of a cluster.
        """
        self.now = Monotonic(1000.0)
        self.moment = Moment(1_800_000_000.0)
        self.watch = 0.0
        """What behaviors' calls are measured with."""
        self.events: list[WorldEvent] = []
        self.faults_of_saves: list[Exception] = []
        self.start: Callable[[Coroutine[Any, Any, Any]], object] = finish
        """Runs what the world starts; a test may keep it for later."""
        self.store: CharactersInMemory = beside.store if beside else CharactersInMemory()
        self.memories: MemoriesInMemory = beside.memories if beside else MemoriesInMemory()
        self.guilds: GuildsInMemory = beside.guilds if beside else GuildsInMemory()
        self.keys: LocalHandoffKeys = (
            beside.keys if beside else handoff_keys(iter(range(1000, 9000)).__next__)
        )
        self.bus: Bus = joined or (beside.bus if beside else bus())
        self.name = joined.process if joined else f"process_{id(self)}"
        self.presence = SharedPresence(
            self.bus, self.name, spawn=start if joined else run_now, run=1 if joined else 0
        )
        self.atlas = atlas or bare_atlas()
        self.zone_servers = ZoneTable(elsewhere)
        self.settings: SettingsInMemory = beside.settings if beside else SettingsInMemory()
        self.stored: StoredBeside = beside.stored if beside else StoredBeside(self.store)
        self.library = deepcopy(LIBRARY)
        self.kinds: ItemKinds = beside.kinds if beside else ItemKinds()
        self.quests: QuestContent = beside.quests if beside else quests or QuestTables()
        self.spell_kinds: SpellKinds = spell_kinds or (
            beside.spell_kinds if beside else SpellKinds()
        )
        self.trade: TradeTables = beside.trade if beside else TradeTables()
        self.crafts: CraftTables = beside.crafts if beside else CraftTables()
        self.zones_folder: Path | None = None
        self.uses: list[Use] = []
        self.registry = Registry(self.uses.append)
        self._roll = roll
        self._record = record or Recorder()
        self._keep_recording = keep_recording
        self.parts = Assembly(
            self._ports(wake, content, elsewhere, joined),
            SubjectRules(
                world=rules or WorldRules(name="TestLabs"), zones=ZoneRules(), chat=ChatRules(),
                admission=AdmissionRules(), behaviors=BehaviorRules(),
            ),
            self.registry,
        )  # fmt: skip
        self.registry.extend(help_commands.COMMANDS.commands(self.registry))
        parts = self.parts
        self.faults, self.timetable, self.world = parts.faults, parts.timetable, parts.world
        self.population, self.zones = parts.population, parts.world.zones
        self.admission, self.departures = parts.admission, parts.departures
        self.account_changes, self.chat = parts.account_changes, parts.chat
        self.behaviors, self.command_context = parts.behaviors, parts.context
        self.minds, self.ledger = parts.minds, parts.ledger
        self.remote, self.service = parts.remote, parts.service
        self.turn: Callable[[Monotonic], None] = parts.world.timetable.handle_timer

    def _ports(
        self,
        wake: Callable[[Monotonic], None],
        content: ContentPort | None,
        elsewhere: Mapping[int, tuple[str, int]] | None,
        joined: Exchange | None,
    ) -> WorldPorts:
        return WorldPorts(
            atlas=self.atlas,
            zones_folder=lambda: self.zones_folder,
            dialects=DIALECTS,
            forms=FORMS,
            stand_ins=StandIns(),
            knowledge=KNOWLEDGE,
            library=self.library,
            stores=WorldStores(
                characters=self.store,
                guilds=self.guilds,
                ledger=self.stored.ledger,
                things=self.stored.things,
                mail=self.stored.mail,
                petitions=self.stored.petitions,
                houses=self.stored.houses,
                memories=self.memories,
            ),
            processes=Processes(
                self.name,
                self.bus,
                self.keys,
                self.presence,
                self.zone_servers,
                others_of(elsewhere),
                run=1 if joined else None,
            ),
            settings=SharedSettings(
                self.name, self.bus, self.settings, start if joined else run_now
            ),
            content=content or HarnessContent(),
            kinds=self.kinds,
            quests=self.quests,
            spell_kinds=self.spell_kinds,
            trade=self.trade,
            crafts=self.crafts,
            in_thread=at_once,
            clock=self._record.clock(WorldHarnessClock(self)),
            roll=self._record.roll(self._roll),
            record=self._record,
            keep_recording=self._keep_recording,
            seeded=Random,
            draw=identity,
            report=self.events.append,
            address=lambda: ("127.0.0.1", 9001),
            start=self._start,
            answer=Deferred,
            wake=wake,
            wake_saver=lambda: None,
            tick=Zone.tick,
            guard=unguarded,
            spent=OwnTime(lambda: self.watch),
        )

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        self.start(work)

    def console(self, line: str) -> Reply:
        """Run a line as the console does."""
        return finish(self.registry.run(Caller("console", 200, "console"), line, self.now))

    def client(self, version: int = 546) -> Client:
        return Client(self, version)

    def character(self, char_id: int, **changes: Any) -> WorldCharacter:
        row = world_character(char_id, **{"account_id": char_id + 100, "zone_id": 325} | changes)
        self.store.rows[char_id] = row
        return row

    def enter(
        self, char_id: int, version: int = 546, *, key: int | None = None,
        is_zoning: bool = False, **changes: Any,
    ) -> Client:  # fmt: skip
        """Let a character in; its client has not loaded anything yet.

        A client that changes the zone shows the key that it was sent, unless a test gives another;
        `is_zoning` is whether another node has sent it.
        """
        row = self.store.rows.get(char_id) or self.character(char_id, **changes)
        client = self.client(version)
        behind = PlayerClient(client.dialect, client, "127.0.0.1")
        known = self.world.players.get(char_id)
        if key is None:
            key = known.journey.key if known is not None else 0
        loaded = finish(self.service.load(row, version))
        client.player = self.service.enter(
            row, behind, self.now, loaded, key=key, is_zoning=is_zoning
        )
        player = client.player
        self.presence.entered(
            player.present, lambda: self.service.send_away(player, "sent away", self.now)
        )
        return client

    def exist(self, *names: str) -> None:
        """Store characters that are not in the world."""
        for number, name in enumerate(names, 1000):
            self.store.rows[number] = world_character(number, 1000 + number, name=name)

    def claim(self, char_id: int) -> None:
        """Let the store raise the term of a character that this process lets in."""
        account_id = self.store.rows[char_id].account_id
        rows = finish(self.store.claim(account_id, char_id, self.name))
        self.world.claimed(next(row for row in rows if row.id == char_id))

    def stand(self, char_id: int, version: int = 546, **changes: Any) -> Client:
        """Let a character in and have it stand in its zone."""
        client = self.enter(char_id, version, **changes)
        client.load()
        self.run(0.2)
        return client

    def run(self, seconds: float) -> None:
        """Let time pass, with everything that is due in it."""
        end = Monotonic(self.now + seconds)
        while (due := self._next_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            if _is_due(self.world.timetable.get_timer(), self.now):
                self.turn(self.now)
            if _is_due(self.world.saves.saver.get_timer(), self.now):
                try:
                    self.world.saves.saver.handle_timer(self.now)
                except Exception as fault:  # noqa: BLE001  # the scheduler logs it and goes on
                    self.faults_of_saves.append(fault)
        self.now = end

    def _next_timer(self) -> Monotonic | None:
        due = (self.world.timetable.get_timer(), self.world.saves.saver.get_timer())
        return min((one for one in due if one is not None), default=None)


class WorldHarnessClock:
    """The clock of a test world."""

    def __init__(self, harness: WorldHarness) -> None:
        self._harness = harness

    def now(self) -> Monotonic:
        return self._harness.now

    def moment(self) -> Moment:
        return self._harness.moment


def _is_due(due: Monotonic | None, now: Monotonic) -> bool:
    return due is not None and due <= now


def bare_atlas() -> Atlas:
    """Return the shipped zones with nothing in them, so that tests see only what they put there."""
    zones = [attrs.evolve(zone, motd="", revive=()) for zone in SHIPPED]
    return Atlas(zones, {}, SHIPPED.starts)


def others_of(elsewhere: Mapping[int, tuple[str, int]] | None) -> dict[str, dict[str, Any]]:
    """Return the processes that serve zones elsewhere, each called by its zone's number."""
    away = elsewhere or {}
    return {str(zone): {"host": host, "port": port} for zone, (host, port) in away.items()}


class ZoneTable:
    """`ZoneServers` with a fixed table; the others are called by their zone's number."""

    def __init__(self, elsewhere: Mapping[int, tuple[str, int]] | None = None) -> None:
        self.table = dict(elsewhere or {})
        self.lost: set[int] = set()
        """Zones that no node can run now."""
        self.moved: dict[tuple[int, int], tuple[str, int]] = {}
        """Instances that run elsewhere, of zones of which others run here."""

    may_run = True

    def serves(self, zone_id: int) -> bool:
        return zone_id not in self.table and zone_id not in self.lost

    def instances(self, _zone_id: int) -> None:
        return None

    async def servers(self) -> Mapping[int, list[str]]:
        return {zone_id: [str(zone_id)] for zone_id in self.table}

    async def elsewhere(self, zone_id: int, instance: int | None = None) -> ZoneAddress | None:
        if zone_id in self.lost:
            raise Unanswered("no node of this world can run that zone now")
        found = self.table.get(zone_id) or self.moved.get((zone_id, instance or 0))
        return None if found is None else ZoneAddress(str(zone_id), *found)
