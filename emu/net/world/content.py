"""Zone files, behaviors and their memories in a running world: checks, reloads, and a review.

A reload with a fault keeps what runs. What spawns remember is removed some time after the spawn was
removed from its file.
"""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any, Final, Protocol, TypeVar

from twisted.internet.defer import Deferred

from emu.commands import Registry
from emu.config.world import WorldConfig
from emu.content.beginners import StartingThing, starting_things
from emu.content.crafts import CraftTables, TomlCrafts, shipped_crafts
from emu.content.figures import read_figures
from emu.content.file import ContentFile
from emu.content.homes import HomeTables, read_homes
from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.content.layers import Edit, ZoneLayer, stored_value
from emu.content.population import Condition, Surroundings
from emu.content.quest_files import read_quests, shipped_quests
from emu.content.quests import QuestTables
from emu.content.regions import regions_of
from emu.content.spells import SpellKinds, TomlSpells, shipped_spells
from emu.content.strays import Strays
from emu.content.trade import TomlTrade, TradeTables, shipped_trade
from emu.errors import ConfigError, FileFormatError, StoreError
from emu.ground.map_folder import MapFolder, maps_folder
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.store_worker import StoreWorker
from emu.net.world.allocator import apart
from emu.net.world.content_memory import ContentMemory
from emu.processes.ports import ContentEditStore, PlacementFactStore
from emu.schema import faulty
from emu.scripts.compiling import Compiler, Compiling
from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import new_runtime
from emu.times import Clock, Moment
from emu.world.actors.player import Player
from emu.world.assembly import Assembly
from emu.world.behaviors import Behaviors
from emu.world.clock import game_time
from emu.world.deadlines import Timetable
from emu.world.minds.shares import ScriptShares
from emu.world.population.atlas import read_atlas
from emu.world.population.checks import content_faults
from emu.world.population.deaths import Deaths
from emu.world.population.edits import GameEdits
from emu.world.population.population import ZonePopulation
from emu.world.population.reading import NO_LAYER, ServedZone, served_zone
from emu.world.population.served import ContentZones
from emu.world.recording.recorder import Recorder
from emu.world.scripts.host import Scripts, script_named
from emu.world.travel.tables import TravelTables, read_tables
from emu.world.zones.definitions import Atlas
from emu.world.zones.ground import Grounds
from emu.world.zones.targets import Targets
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

T = TypeVar("T")
_log = logger("world")
MOST_FAULTS: Final = 20
"""Faults of zone files, or removed spawns, that the log names at once."""
OF_CONTENT: Final = "the content file; `emu content check` shows all"
KEPT: Final = 30 * 86_400.0
"""Seconds from the review that misses a spawn first until its memory is deleted."""


def _warn(line: str) -> None:
    _log.warn("{line}", line=line)


def _warn_of(faults: Sequence[str], where: str) -> None:
    """Log the first faults of files, and how many more there are."""
    for fault in faults[:MOST_FAULTS]:
        _warn(fault)
    if len(faults) > MOST_FAULTS:
        _warn(f"and {len(faults) - MOST_FAULTS} more faults in {where}")


def _without_collection(call: Callable[[], T]) -> T:
    """Carry out a call without the search for unused cycles.

    The rows of a zone have none. A search among all objects, which their number would cause, stops
    every thread for tenths of a second. The memory of a zone is apart from that of what stays.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with apart():
            return call()
    finally:
        if was_enabled:
            if gc.get_count()[0] > gc.get_threshold()[0]:
                # Else the next object of this thread would begin a search among all of them.
                gc.freeze()
            gc.enable()


def _scripts_of(served: ServedZone) -> Iterator[str]:
    """Yield the names of all scripts that the spawns of a zone can have, and its own."""
    content = served.content
    zone = str(content.zone["name"])
    found = {str(content.zone["script"]), f"ZoneScripts/{zone}.lua"}
    found.update(entry.script for entries in content.entries.values() for entry in entries)
    found.update(content.spawn_scripts.values())
    found.update(script_named(zone, one.name) for one in served.templates.values())
    yield from found - {""}


class MemoryReview(Protocol):
    """Lists and deletes memories; `emu.store.asynchronous_world.AsyncMemories` does."""

    async def spawns(self) -> Sequence[tuple[int, str, Moment | None]]:
        """Return zone and key of each spawn with memories, and since when it is missing."""

    async def mark_removed(self, zone_id: int, spawn: str, moment: Moment | None) -> None:
        """Record since when a spawn is missing in the zone files; None if it is in them."""

    async def forget(self, zone_id: int, spawn: str) -> None:
        """Remove all memories of a spawn."""


def warn_of_old_check(path: Path) -> None:
    """Log a line if a content file was checked by another version of the server."""
    with ContentFile(path) as file:
        if not file.is_checked:
            _warn(f"{path}: another version checked this file; run `emu content check`")


class ContentSource(Protocol):
    """Where zone files and the content file are read; `ContentReader` is one."""

    def run(self, call: Callable[[], T]) -> Awaitable[T]:
        """Carry out a call in a thread."""

    async def reopen(self) -> None:
        """Read from the content file that is there now. Raises `FileFormatError`."""

    async def stop(self) -> None:
        """Read no more."""


def _digest_of(path: Path) -> str:
    with ContentFile(path) as file:
        return file.digest()


class ContentReader:
    """Reads zones of the content file in a thread of its own."""

    def __init__(
        self,
        config: WorldConfig,
        reactor: Any,
        scheduler: Scheduler,
        *,
        dead: PlacementFactStore,
        edits: ContentEditStore,
        start: Callable[[Any], object],
        zone_settings: Mapping[int, Mapping[str, Any]],
        record: Recorder | None = None,
    ) -> None:
        """Prepare the thread; it starts with the first zone. `record` records what it does.

        `zone_settings` are the settings of the world that differ in single zones, by number.
        `start` runs a coroutine that nobody awaits.
        """
        self._config = config
        self._zone_settings = zone_settings
        self._path = config.content
        self._scheduler = scheduler
        self._record = record or Recorder()
        self._dead = self._record.store("dead", dead)
        self._edit_store = edits
        self.kinds = ItemKinds(*_item_sources(config))
        """The kinds of things."""
        self.spells = SpellKinds(*_spell_sources(config))
        """The spells."""
        self._strays = Strays(config.content)
        self.trade = TradeTables(config.content, TomlTrade([shipped_trade()]))
        """The merchants and loot tables."""
        self.crafts = CraftTables(config.content, TomlCrafts([shipped_crafts()]))
        """The nodes, collections and recipes."""
        # Those that come with the server belong to its zones, which a content file replaces.
        shipped = [shipped_quests()] if config.content is None else []
        self.quests = QuestTables(config.content, read_quests(shipped))
        """The quests."""
        self._start = start
        # Each call is answered at once: a zone does not wait until others are read as well.
        self._worker = StoreWorker(reactor, None, name="emu-content", most_grouped=1)
        self._reactor = reactor
        self._file: ContentFile | None = None
        """The open file; only the thread uses it. An import that exchanges it changes nothing."""
        self.reopened: Callable[[str], object] | None = None
        """Called with the digest of a file that is read from now on; without it none is made."""
        self.memory: ContentMemory | None = None
        """Gives the memory of ended zones back; None without a content file."""
        self._grounds: Grounds | None = None
        self._maps: MapFolder | None = None
        """The maps beside the file that is open."""
        self._have_regions_failed = False
        self._compiler: Compiler | None = None
        self._has_compiled: Callable[[str], bool] = lambda _path: False
        """Whether the scripts need no compiled form of a file."""
        self._edits: Callable[[], Sequence[Edit]] = tuple
        """Returns the edits made in the game, which are above the files."""

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call in the thread."""
        done = self._worker.run(partial(_without_collection, call))
        return self._record.noted(done)

    @property
    def travel_tables(self) -> TravelTables:
        """The ways and places of the file. Raises `FileFormatError`."""
        tables = read_tables(self._path)
        _warn_of(tables.problems, OF_CONTENT)
        return tables

    @property
    def homes(self) -> HomeTables:
        """The houses of the file. Raises `FileFormatError`."""
        return read_homes(self._path)

    def edits(self, assembly: Assembly) -> GameEdits | None:
        """Return the edits made in the game, which are laid over the file; None without one."""
        world = assembly.world
        if self._path is None:
            return None
        made = GameEdits(
            self._edit_store, world.processes.bus, world.processes.name,
            assembly.population.content, self.stored,
            start=self._start, failed=_warn, choose=randbelow,
        )  # fmt: skip
        self._edits = lambda: made.edits
        return made

    async def stored(self, subject: str, number: int, column: str) -> Any:
        """Return the file's own value of a column; None if the file does not have the subject."""
        return await self.run(partial(self._stored, subject, number, column))

    def _stored(self, subject: str, number: int, column: str) -> Any:
        return stored_value(self._opened(), subject, number, column)

    def _opened(self) -> ContentFile:
        if self._file is None:
            self._reopen()
        assert self._file is not None  # noqa: S101  # it was opened just now
        return self._file

    async def reopen(self) -> None:
        """Read from the file that is there now. Raises `FileFormatError`."""
        if self._path is not None:
            await self._open()
            self.trade.reload(self._path)
            self.crafts.reload(self._path)
            self.quests.reload(self._path)
            self._strays.reload(self._path)
            self.kinds.reload(*_item_sources(self._config))
            self.spells.reload(*_spell_sources(self._config))
            # Else the next one to rise would wait for it, and all others with it.
            await self.run(partial(self.spells.prepare, ()))
            if self._grounds is not None:
                self._grounds.reload()

    async def _open(self) -> None:
        """Read zones from the file that is there now. Raises `FileFormatError`."""
        await self.run(self._reopen)
        # Only nodes of a cluster compare it, and it needs each row of the file.
        if self.reopened is not None:
            self.reopened(await self._digest())

    def _digest(self) -> Deferred[str]:
        """Return the digest of the file's rows, out of a thread of its own: it takes seconds."""
        assert self._path is not None  # noqa: S101  # the callers have opened it
        # No player and no zone waits for it behind the calls of the other thread.
        worker = StoreWorker(self._reactor, None, name="emu-content-digest")
        made = worker.run(partial(_digest_of, self._path))
        worker.stop()
        return made

    def _reopen(self) -> None:
        """Open the file anew."""
        assert self._path is not None  # noqa: S101  # `reopen` has checked it
        fresh, old = ContentFile(self._path), self._file
        self._file = fresh
        # Here, since it takes milliseconds: an import may have made other maps as well.
        self._maps = MapFolder(maps_folder(self._path), _warn)
        if old is not None:
            old.close()

    def _read(
        self, zone_id: int, layer: ZoneLayer, edits: Sequence[Edit], old: ServedZone | None
    ) -> ServedZone | None:
        served = served_zone(self._opened(), zone_id, layer, edits, old)
        if served is not None and served is not old:
            self._read_regions(served.content.zone["file"])
            if self._compiler is not None:
                self._compiler.compile(_scripts_of(served), self._has_compiled)
        return served

    def _read_regions(self, zone_file: str) -> None:
        if self._path is None or self._grounds is None:
            return
        try:
            self._grounds.note_regions(zone_file, regions_of(self._path, zone_file))
        except FileFormatError as error:
            if not self._have_regions_failed:  # all zones fail alike
                _warn(f"{error}; zones go on without regions: import them anew")
            self._have_regions_failed = True

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()

    def zones(self, assembly: Assembly, next_id: Callable[[], int]) -> ContentZones:
        """Return what fills running zones, from zone files alone without a content file."""

        def players() -> Iterable[Player]:
            return assembly.world.players

        clock, roll = assembly.ports.clock, assembly.ports.roll

        def center(zone: Zone) -> Position | None:
            return next((one.position for one in players() if one.zone is zone), None)

        def read(
            zone_id: int, old: ServedZone | None, is_wanted: Callable[[], bool]
        ) -> Deferred[ServedZone | None]:
            layer = assembly.ports.atlas.layers.get(zone_id, NO_LAYER)
            call = partial(self._read, zone_id, layer, self._edits(), old)
            return self.run(lambda: call() if is_wanted() else None)

        has_file = self._path is not None
        deaths = Deaths(
            self._dead, self._start, clock, assembly.timetable, _warn, pause=self._scheduler.pause
        )
        zones = ContentZones(
            read if has_file else None,
            fixtures=assembly.ports.atlas.fixtures,
            next_id=next_id,
            randomness=lambda: Random(roll(2**63)),  # noqa: S311  # chances of a game
            hour=lambda: game_time(clock.moment()).hour,
            center=center,
            now=clock.now,
            timetable=assembly.timetable,
            start=self._start,
            failed=_warn,
            deaths=deaths if has_file else None,
            in_thread=self.run,
            surroundings=self._surroundings,
        )
        zones.targets = Targets(players)
        zones.apart = apart
        zones.ground, zones.snap = assembly.grounds.of, self._config.ground == "snap"
        if self._path is not None:
            warn_of_old_check(self._path)
            # Opened now: a file that is imported later counts only after a reload.
            Deferred.fromCoroutine(self._open()).addErrback(lambda _failure: None)
            self.memory = ContentMemory(lambda: any(True for _ in players()), self.run)
            zones.watchers.append(self.memory)
        return zones

    def _surroundings(self, zone_id: int, now: Condition) -> Surroundings:
        config, own = self._config, self._zone_settings.get(zone_id, {})
        return Surroundings(
            now, own.get("expansions", config.expansions), own.get("holidays", config.holidays)
        )

    def grounds(self, timetable: Timetable, clock: Clock) -> Grounds:
        """Return the grounds of running zones, whose files lie beside the content file."""
        made = self._grounds = Grounds(timetable, clock.now, self._list_maps)
        return made

    def _list_maps(self) -> MapFolder | None:
        if self._maps is None and self._path is not None:
            self._maps = MapFolder(maps_folder(self._path), _warn)
        return self._maps

    def scripts(self, assembly: Assembly) -> Scripts | None:
        """Return the host of the file's scripts; None without scripts, or without lupa.

        Raises `FileFormatError`.
        """
        config, content = self._config, assembly.population.content
        if config.scripts is None:
            return None
        if self._path is None:
            _warn("world.scripts has no effect without world.content")
            return None
        if not config.scripts.is_dir():
            _warn(
                f"{config.scripts}: there is no such folder, so no script runs; set world.scripts"
                " to the folder that has SpawnScripts"
            )
        figures = read_figures(config.content)
        _warn_of(figures.problems, OF_CONTENT)
        folder = ScriptFolder(config.scripts)
        compiler = Compiler(folder, partial(new_runtime, encoding=None))
        try:
            scripts = Scripts(
                assembly.script_parts(),
                folder,
                zones=content,
                chances=self._record.chances(assembly.ports.roll),
                report=_warn,
                figures=figures,
                shares=ScriptShares(config.script_share, config.scripts_share),
                collected=self.memory.rest if self.memory is not None else lambda: None,
                compiling=Compiling(compiler, self._in_background),
            )
        except ConfigError as error:
            _warn(str(error))
            return None
        if self.memory is not None:
            self.memory.after_scripts()
        scripts.maker.stray = self._strays.get
        self._compiler, self._has_compiled = compiler, scripts.files.has_compiled
        return scripts

    def _in_background(self, call: Callable[[], object], then: Callable[[], object]) -> None:
        # It fails while the server stops, and then nothing is to be done.
        self.run(call).addCallbacks(lambda _result: then(), lambda _failure: None)

    async def stop(self) -> None:
        """Close the file, and end the thread after the zone that it reads now."""
        if self._path is not None:
            await self.run(self._close)
        await self._worker.stop()


def _item_sources(
    config: WorldConfig,
) -> tuple[Path | None, TomlItems, tuple[StartingThing, ...]]:
    """Return the content file, the things of TOML files, and those of new characters.

    Raises `FileFormatError`.
    """
    own = [] if config.items is None else [config.items]
    items = TomlItems([shipped_items(), *own])
    beginners = items.beginners
    if config.content is not None:
        # New characters of a content file have its things, and those of the operator.
        beginners = {path: beginners[path] for path in own}
    return config.content, items, starting_things(config.content, beginners)


def _spell_sources(config: WorldConfig) -> tuple[Path | None, TomlSpells]:
    """Return the content file, and the spells of TOML files. Raises `FileFormatError`."""
    own = [] if config.spells is None else [config.spells]
    # A content file has spells for all classes, so the shipped ones are for worlds without one.
    shipped = [] if config.content is not None else [shipped_spells()]
    return config.content, TomlSpells([*shipped, *own])


class WorldContent:
    """The content of a world: its atlas with the spawns of running zones, and its behaviors."""

    def __init__(
        self,
        atlas: Atlas,
        population: ZonePopulation,
        behaviors: Behaviors,
        commands: Registry,
        clock: Clock,
        *,
        folders: Callable[[], tuple[Path | None, Path | None]],
        memories: MemoryReview | None,
        start: Callable[[Any], object],
        source: ContentSource,
        edits: GameEdits | None,
        travel: Callable[[TravelTables], object],
        homes: Callable[[HomeTables], object],
    ) -> None:
        """`folders` returns the operator's folder of zones, and the content file.

        `start` runs a coroutine that nobody awaits. `travel` takes the ways and places of a file
        that was read again, and `homes` its houses.

        `memories` is None if another process has the database.
        """
        self._atlas = atlas
        self._population = population
        self._behaviors = behaviors
        self._commands = commands
        self._clock = clock
        self._folders = folders
        self._memories = memories
        self._start = start
        self._source = source
        self._edits = edits
        self._reload_travel = travel
        self._reload_homes = homes

    async def reload_zones(self) -> str:
        """Reload the zone files and the content file; change in running zones what differs.

        Raises `FileFormatError` if a file has a fault; then the previous zones stay.
        """
        fresh = await self._source.run(partial(read_atlas, *self._folders()))
        # Checked before anything is replaced, so that a reload is done whole or not at all.
        problems = self._faults(fresh)
        if problems:
            raise faulty(problems)
        tables = await self._source.run(partial(read_tables, self._folders()[1]))
        homes = await self._source.run(partial(read_homes, self._folders()[1]))
        await self._source.reopen()
        self._reload_travel(tables)
        self._reload_homes(homes)
        if self._edits is not None:
            await self._edits.load()
        lines = await self._population.reload(fresh, self._clock.now())
        self.review()
        return "\n".join([f"{len(self._atlas)} zones", *lines])

    async def reload_behaviors(self) -> str:
        """Reload the behaviors; the zone files that do not fit them any more are reported.

        Raises `FileFormatError` if a file does not load; then the previous behaviors stay.
        """
        summary = self._behaviors.reload()
        return "\n".join([summary, *self._faults(self._atlas)])

    async def stop(self) -> None:
        """Read no more, after the zone that is read now."""
        await self._source.stop()

    def log_faults(self) -> None:
        """Log the faults of the zone files in spite of which the server can run."""
        _warn_of(self._faults(self._atlas), "zone files; `emu config check` shows all")

    def review(self) -> None:
        """Begin to look for memories of spawns that are no longer in the zone files."""
        if self._memories is not None:
            self._start(self._review(self._memories))

    async def _review(self, memories: MemoryReview) -> None:
        known = {
            (zone.id, key)
            for zone in self._atlas
            # The empty key is the memory of the zone itself.
            for key in ("", *(fixture.key for fixture in self._atlas.fixtures(zone.id)))
        }
        left = []
        now = self._clock.moment()
        try:
            for zone_id, spawn, removed in await memories.spawns():
                is_known = (zone_id, spawn) in known
                # Not from the last change on: a memory may be old when a file is lost by mistake.
                if is_known is not (removed is None):
                    await memories.mark_removed(zone_id, spawn, None if is_known else now)
                if is_known:
                    continue
                if removed is not None and now - removed > KEPT:
                    await memories.forget(zone_id, spawn)
                    _log.info("deleted the memory of {spawn}, which is no longer in zone {zone}",
                              spawn=repr(spawn), zone=zone_id)  # fmt: skip
                else:
                    left.append(f"{spawn!r} (zone {zone_id})")
        except StoreError as error:
            _log.warn("the memories of removed spawns were not reviewed: {reason}",
                      reason=str(error))  # fmt: skip
        if left:
            shown = ", ".join(left[:MOST_FAULTS]) + (", ..." if len(left) > MOST_FAULTS else "")
            _log.info(
                "spawns that are no longer in the zone files have a memory, which is deleted"
                " {days} days after the server missed it first: {spawns}",
                days=int(KEPT / 86_400), spawns=shown,
            )  # fmt: skip

    def _faults(self, atlas: Atlas) -> list[str]:
        """Return a line for each fault of zone files with respect to behaviors and commands."""
        words = {command.name.partition(" ")[0] for command in self._commands}
        return content_faults(atlas, self._behaviors.library.faults, words)
