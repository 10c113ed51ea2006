"""The ports of a world: its content, its stores, its rules, and what carries out its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from emu.content.homes import HomeTables
from emu.content.models import StandIns
from emu.content.spells import SpellKinds
from emu.dialects import Dialects
from emu.mailbox import PendingAnswer
from emu.processes.house_store import HouseStore
from emu.processes.ports import (
    GuildStore,
    LedgerStore,
    MailStore,
    MemoryStore,
    PetitionStore,
    Processes,
    ThingStore,
    WorldCharacterStore,
)
from emu.processes.settings import SharedSettings
from emu.scripts.own_time import OwnTime
from emu.times import Clock, Monotonic
from emu.world.behaviors import Library
from emu.world.crafting.giving import Crafts
from emu.world.deadlines import Timetable
from emu.world.items.items import Kinds
from emu.world.items.trading import TradeContent
from emu.world.knowledge import Knowledge
from emu.world.minds.guard import Guard
from emu.world.population.edits import GameEdits
from emu.world.population.served import ContentZones
from emu.world.quests.journals import QuestContent
from emu.world.recording.recorder import Recorder
from emu.world.reports import WorldEvent
from emu.world.rules import AdmissionRules, BehaviorRules, ChatRules, WorldRules, ZoneRules
from emu.world.scripts.host import Scripts
from emu.world.subjects.recordings import Keep, not_kept
from emu.world.travel.tables import TravelTables
from emu.world.visibility.forms import GhostRules
from emu.world.zones.chances import ZoneChance
from emu.world.zones.definitions import Atlas
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone

MadeSoFar = Any
"""The `emu.world.assembly.Assembly` that is being made; its module imports this one."""


class ContentPort(Protocol):
    """The content file of a world, or none; `emu.net.world.content.ContentReader` reads one."""

    @property
    def travel_tables(self) -> TravelTables:
        """The ways and places of the file. Raises `FileFormatError`."""

    @property
    def homes(self) -> HomeTables:
        """The houses of the file. Raises `FileFormatError`."""

    def zones(self, assembly: MadeSoFar, next_id: Callable[[], int]) -> ContentZones:
        """Return what fills running zones, from zone files alone without a content file."""

    def edits(self, assembly: MadeSoFar) -> GameEdits | None:
        """Return the edits made in the game; None without a content file."""

    def scripts(self, assembly: MadeSoFar) -> Scripts | None:
        """Return the host of the file's scripts; None without scripts."""

    def grounds(self, timetable: Timetable, clock: Clock) -> Grounds:
        """Return the grounds of running zones; without maps they answer nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldStores:
    """The repositories of a world."""

    characters: WorldCharacterStore
    guilds: GuildStore
    ledger: LedgerStore
    things: ThingStore
    mail: MailStore
    petitions: PetitionStore
    houses: HouseStore
    memories: MemoryStore


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectRules:
    """The rules of a world, by subject."""

    world: WorldRules
    zones: ZoneRules
    chat: ChatRules
    admission: AdmissionRules
    behaviors: BehaviorRules
    locked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldPorts:
    """What a world gets from outside."""

    atlas: Atlas
    zones_folder: Callable[[], Path | None]
    """Returns the operator's folder of zone files."""
    dialects: Dialects
    forms: GhostRules
    stand_ins: StandIns
    knowledge: Knowledge
    library: Library
    stores: WorldStores
    processes: Processes
    settings: SharedSettings
    content: ContentPort
    kinds: Kinds
    """The kinds of things, those of the content file and the shipped ones."""
    quests: QuestContent
    """The quests of the content file and the shipped ones."""
    spell_kinds: SpellKinds
    """The spells of the content file and the shipped ones."""
    trade: TradeContent
    """The merchants and the loot of the content file and the shipped ones."""
    crafts: Crafts
    """Nodes, collections and recipes, those of the content file and the shipped ones."""
    in_thread: Callable[[Callable[[], Any]], Awaitable[Any]]
    """Carries out a call that may wait for the content file."""
    clock: Clock
    roll: Callable[[int], int]
    """Returns a random number from 0 to one below the argument; players cannot predict it."""
    seeded: Callable[[str], ZoneChance]
    """Returns numbers that follow from a seed."""
    draw: Callable[[], str]
    """Returns a new identity of a movement, which no process has ever had."""
    report: Callable[[WorldEvent], None]
    """Writes log lines for operators."""
    address: Callable[[], tuple[str, int]]
    """Returns the host and port at which clients reach this world."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""
    answer: Callable[[], PendingAnswer]
    """Makes an object that a coroutine can wait for."""
    wake: Callable[[Monotonic], None]
    """Asks to call `WorldService.handle_timer` at a time at the latest."""
    wake_saver: Callable[[], None]
    """Asks for the saver's timer again."""
    tick: Callable[[Zone, Monotonic], object]
    """Ticks a zone, and may measure the time."""
    guard: Guard
    """Ends calls of behaviors that take too long."""
    spent: OwnTime
    """Measures the calls of behaviors and scripts."""
    record: Recorder = field(default_factory=Recorder)
    """Records what comes into zones."""
    keep_recording: Keep = not_kept
    """Writes a recording of a zone."""
