"""Records what comes into running zones, so that a replay sees the same happen there.

A zone is a function of its seed, of what its clock shows, and of what comes in: messages of its
players, players who enter or are lost, deadlines that are due, and answers of repositories and
threads. The recorder stands between the world and the ports that these come through. It always
knows on behalf of which zone something is done; what belongs to no zone is kept beside the rings.

Nothing is recorded, and no call costs more, unless `RecordRules.is_on`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar, cast

from emu.commands import Registry
from emu.errors import EmuError
from emu.items.held import Thing
from emu.model import WorldCharacter
from emu.processes.claiming import OwnedThings
from emu.times import Clock, Moment, Monotonic
from emu.world.actors.client import PlayerClient, PlayerLink
from emu.world.actors.holdings import Loaded
from emu.world.actors.player import Player, PlayerState
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Attempt
from emu.world.events import GameEvent, LeftZone
from emu.world.recording.chance import RolledChances, SeededChance
from emu.world.recording.recording import (
    Header,
    PlayerSnapshot,
    Recording,
    SpawnSnapshot,
    ZoneSnapshot,
)
from emu.world.recording.ring import InputEntry, Ring, Segment
from emu.world.recording.stores import Asked, RecordedStore, key_of
from emu.world.recording.texts import PRIVATE_MESSAGES, line_of
from emu.world.rules import RecordRules
from emu.world.saving.saves import state_of
from emu.world.world import World
from emu.world.zones.zone import Zone

T = TypeVar("T")
COMMAND: Final = "OP_RemoteCmdMsg"
MOST_READINGS: Final = 2000
LUA_SEEDS: Final = 1 << 31
Populate = Callable[[Zone, Any, Monotonic], None]


class CommandWords(Protocol):
    """The words of clients' commands; `emu.world.commands.RemoteCommands` has them."""

    def called_word(self, player: Player, body: bytes) -> tuple[str, str] | None:
        """Return word and arguments of a command that a client has sent; None if it has none."""


class Inside(Protocol):
    """The inputs of a world; `emu.world.service.WorldService` has them."""

    async def place(self, character: WorldCharacter) -> None:
        """Place the zone of a character that enters."""

    def has_stored(self, account_id: int) -> bool:
        """Return whether the things of an account's characters that have left are stored."""

    async def load(
        self, character: WorldCharacter, version: int, things: OwnedThings | None = None
    ) -> Loaded:
        """Load the things of a character that enters."""

    def is_current(self, character: WorldCharacter, loaded: Loaded, version: int) -> bool:
        """Return whether a character can enter with its row and what was loaded of it."""

    async def fetch(self, char_id: int) -> None:
        """Make another process give up a character."""

    def enter(
        self, character: WorldCharacter, client: PlayerClient, now: Monotonic, loaded: Loaded, *,
        key: int = 0, hidden: bool = False, is_zoning: bool = False,
    ) -> Player:  # fmt: skip
        """Enter a client."""

    def message(self, player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        """Handle a message."""

    def drained(self, player: Player, link: PlayerLink, now: Monotonic) -> None:
        """Send what waited for capacity."""

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Handle the end of a session."""

    def send_away(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world."""

    def close(self, now: Monotonic) -> None:
        """Take all players out of the world."""


class RecordedClock:
    """A clock whose readings are noted."""

    __slots__ = ("_inner", "_recorder")

    def __init__(self, recorder: Recorder, inner: Clock) -> None:
        self._recorder = recorder
        self._inner = inner

    def now(self) -> Monotonic:
        """Return the steady time."""
        found = self._inner.now()
        self._recorder.has_read(found)
        return found

    def moment(self) -> Moment:
        """Return the wall-clock time."""
        return self._inner.moment()


class StepChances(RolledChances):
    """The chance of scripts, which begins anew with each step."""

    __slots__ = ("step_seed",)

    def __init__(self, roll: Callable[[int], int], step_seed: Callable[[], int | None]) -> None:
        """`step_seed` returns a new seed for the scripts' own numbers, None to go on."""
        super().__init__(roll)
        self.step_seed = step_seed


def zone_of(owner: Any) -> Zone | None:
    """Return the zone of the owner of a deadline; None if it belongs to no zone."""
    if isinstance(owner, Zone):
        return owner
    for found in (getattr(owner, "zone", None), getattr(owner, "home", None)):
        if found is not None:
            return found if isinstance(found, Zone) else zone_of(found)
    if isinstance(owner, tuple):
        return next((one for one in owner if isinstance(one, Zone)), None)
    return None


class Recorder:
    """The records of the zones of one world."""

    def __init__(
        self,
        rules: RecordRules | None = None,
        clock: Clock | None = None,
        new_seed: Callable[[], bytes] = lambda: b"",
    ) -> None:
        """`new_seed` returns random bytes that nobody can predict."""
        self.rules = rules = rules or RecordRules()
        self.happened: Callable[[Zone | None, GameEvent, str], object] = lambda *_about: None
        """Called with each event, its zone and its line."""
        self._inner_clock = clock
        self._new_seed = new_seed
        self._world: World | None = None
        self._words: CommandWords | None = None
        self._registry: Registry | None = None
        self._number = 0
        self._turn = 0
        self._zone: Zone | None = None
        """On behalf of which zone something is done now."""
        self._entry: InputEntry | None = None
        self._seeded: InputEntry | None = None
        """The entry for which the scripts' own numbers have begun anew."""
        self._of_turn: dict[Zone | None, InputEntry] | None = None
        """The entries of the turn that is handled now."""
        self._chance = SeededChance(new_seed() if rules.is_on else b"")
        """That of what belongs to no zone."""
        self._before = (self._chance.seed, 0)
        """The chance of no zone when the present step began."""
        self._chances: dict[Zone, SeededChance] = {}
        self._rings: dict[Zone, Ring] = {}
        self._beside = Ring(rules.seconds, Segment(0.0))
        """What belongs to no zone."""
        self._placements: dict[Zone, dict[Spawn, int]] = {}

    @property
    def is_on(self) -> bool:
        """Whether zones are recorded."""
        return self.rules.is_on

    # -- what stands between the world and its ports ----------------------------------------------

    def clock(self, inner: Clock) -> Clock:
        """Return a clock whose readings are noted."""
        return RecordedClock(self, inner) if self.is_on else inner

    def roll(self, inner: Callable[[int], int]) -> Callable[[int], int]:
        """Return the chance of zones: it returns a number below its argument."""
        return self._roll if self.is_on else inner

    def chances(self, inner: Callable[[int], int]) -> StepChances:
        """Return the chance of scripts."""
        if self.is_on:
            return StepChances(self._roll, self._step_seed)
        return StepChances(inner, lambda: None)

    def store(self, name: str, inner: T) -> T:
        """Return a repository whose answers are noted."""
        return cast("T", RecordedStore(self, name, inner)) if self.is_on else inner

    def noted(self, done: T) -> T:
        """Note when a call in a thread is done; return the `Deferred` of Twisted for it."""
        if self.is_on:
            asked = self.ask(THREAD)

            def answered(result: Any) -> Any:
                self.answered(asked)
                return result

            cast("Any", done).addBoth(answered)
        return done

    def attempting(self, inner: Attempt) -> Attempt:
        """Return what handles a deadline, and notes for which zone."""
        if not self.is_on:
            return inner

        def attempt(task: str, player: None, call: Callable[..., object], *values: Any) -> bool:
            self._enter_zone(zone_of(values[0]))
            return inner(task, player, call, *values)

        return attempt

    def starting(self, inner: Populate) -> Populate:
        """Return what fills a zone that starts."""
        if not self.is_on:
            return inner

        def populate(zone: Zone, definition: Any, now: Monotonic) -> None:
            chance = self._chances[zone] = SeededChance(self._new_seed())
            assert self._world is not None  # noqa: S101  # a zone of it starts
            number = self._world.zones.next_spawn_id()
            first = Segment(now, seed=chance.seed, first_spawn=number, beside=self._before)
            self._rings[zone] = Ring(self.rules.seconds, first)
            self._placements[zone] = {}
            before, self._zone = self._zone, zone
            try:
                inner(zone, definition, now)
            finally:
                self._zone = before

        return populate

    def service(self, inner: Inside) -> Inside:
        """Return the inputs of a world, which are noted."""
        return RecordedService(self, inner) if self.is_on else inner

    def join(self, world: World, registry: Registry, words: CommandWords) -> None:
        """Begin to hear of events."""
        self._world, self._registry, self._words = world, registry, words
        if self.is_on:
            world.events.tap = self._has_happened

    # What `emu.world.population.served.Watcher` has.

    def appeared(self, zone: Zone, spawn: Spawn, standing: Any) -> None:
        """Note a spawn of the content file."""
        if zone in self._placements:
            self._placements[zone][spawn] = standing.placement.id

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn."""
        if zone in self._placements:
            self._placements[zone].pop(spawn, None)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        for kept in (self._rings, self._chances, self._placements):
            kept.pop(zone, None)
        if self._zone is zone:
            self._zone = None

    # -- steps ------------------------------------------------------------------------------------

    def begin(self, zone: Zone | None, kind: str, now: float, *data: Any) -> InputEntry:
        """Begin a step on behalf of a zone."""
        entry = self._made(kind, now, *data)
        self._ring(zone).add_entry(entry)
        self._zone = zone
        return entry

    def _made(self, kind: str, now: float, *data: Any) -> InputEntry:
        self._number += 1
        self._entry = entry = InputEntry(self._number, now, kind, data)
        self._before = self._chance.seed, self._chance.drawn
        return entry

    def _ring(self, zone: Zone | None) -> Ring:
        return self._beside if zone is None else self._rings.get(zone, self._beside)

    def has_read(self, now: float) -> None:
        """Note what the clock shows."""
        entry = self._entry
        if entry is not None and len(entry.readings) < MOST_READINGS:
            entry.readings.append(now)

    def _roll(self, count: int) -> int:
        zone = self._zone
        chance = self._chances.get(zone, self._chance) if zone is not None else self._chance
        return chance.below(count)

    def _step_seed(self) -> int | None:
        if self._seeded is self._entry:
            return None
        self._seeded = self._entry
        return self._roll(LUA_SEEDS)

    def _enter_zone(self, zone: Zone | None) -> None:
        """Go on, in a turn, on behalf of a zone."""
        if zone is not None and zone not in self._rings:
            zone = None
        turn = self._of_turn
        self._seeded = None
        if turn is None:
            self._zone = zone
            return
        entry = turn.get(zone)
        if entry is None:
            assert self._world is not None  # noqa: S101  # it has deadlines
            turn[zone] = self.begin(zone, "turn", self._began, self._turn)
        else:
            self._entry, self._zone = entry, zone

    def turns(self, handle: Callable[[Monotonic], None]) -> Callable[[Monotonic], None]:
        """Return what handles the deadlines of a world; each turn is noted."""
        return partial(self._turn_of, handle) if self.is_on else handle

    def _turn_of(self, handle: Callable[[Monotonic], None], now: Monotonic) -> None:
        """Let deadlines be handled, each on behalf of its zone."""
        self._begin_segments(now)
        self._turn += 1
        self._began = now
        self._of_turn, self._entry = {}, None
        try:
            handle(now)
        finally:
            self._of_turn = self._entry = self._zone = None

    _began: Monotonic = Monotonic(0.0)

    def ask(self, what: str) -> Asked:
        """Note a question; see `emu.world.recording.stores.AnswerLog`."""
        return Asked(self._zone, what)

    def answered(self, asked: Asked, value: object = None, error: EmuError | None = None) -> None:
        """Note an answer, whose handling begins now."""
        zone = asked.zone if asked.zone in self._rings else None
        assert self._inner_clock is not None  # noqa: S101  # a recorder that is on has one
        now = self._inner_clock.now()
        self.begin(zone, "answer", now, asked.name, value, None if error is None else str(error))

    def _has_happened(self, event: GameEvent) -> None:
        zone = self._zone
        if zone is None:
            zone = zone_of(event) or (zone_of(event.player) if event.player is not None else None)
        line = line_of(event)
        self._number += 1
        now = self._began if self._of_turn is not None else self._entry.now if self._entry else 0.0
        name = type(event).__name__
        self._ring(zone).add_entry(InputEntry(self._number, now, "event", (name, line)))
        if isinstance(event, LeftZone):
            self._number += 1
            self._ring(event.player.zone).add_entry(
                InputEntry(self._number, now, "gone", (event.player.id,))
            )
        self.happened(zone, event, line)

    # -- messages ---------------------------------------------------------------------------------

    def message(self, player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        """Note a message of a player."""
        name = player.client.dialect.table.names.get(opcode, "")
        if name == COMMAND and self._words is not None:
            called = self._words.called_word(player, body)
            if called is not None:
                self._watch(player, self.begin(player.zone, "command", now, player.id, *called))
                return
        entry = self.begin(player.zone, "message", now, player.id, name or opcode, body)
        self._watch(player, entry)

    def _watch(self, player: Player, entry: InputEntry) -> None:
        """Note which spawns the client names by their index."""
        if player.viewer is None:
            return
        found: list[Any] = []
        entry.data = (*entry.data, found)

        def resolved(index: int, spawn: Spawn | None) -> Spawn | None:
            at = None if spawn is None else spawn.position
            where = None if at is None else (at.x, at.y, at.z)
            found.append((index, "" if spawn is None else spawn.name, where))
            return spawn

        player.viewer.interest.resolved = resolved

    def enter(
        self, character: WorldCharacter, enter: Callable[[], Player], now: Monotonic, version: int
    ) -> Player:
        """Note that a client enters, with its character as it is now."""
        assert self._world is not None  # noqa: S101  # players enter a world
        known = self._world.players.get(character.id)
        row = self._world.saves.saver.latest(character)
        is_inside = known is not None and known.state is PlayerState.ZONING
        if known is not None:
            row = state_of(known, now)
        entry = self._made("enter", now)
        self._zone = None if known is None or is_inside else known.zone
        before = known.zone if known is not None else None
        player = enter()
        # A copy: what it holds changes while it plays.
        things = tuple(player.holdings.inventory)
        about = PlayerSnapshot(
            row, things, version, player.spawn.hidden, is_inside,
            is_from_node=player.journey.is_from_node,
        )  # fmt: skip
        entry.data = (about,)
        self._ring(player.zone).add_entry(entry)
        self._zone = player.zone
        if before is not None and before is not player.zone:
            self._number += 1
            self._ring(before).add_entry(InputEntry(self._number, now, "gone", (player.id,)))
        return player

    # -- snapshots ---------------------------------------------------------------------------------

    def _begin_segments(self, now: Monotonic) -> None:
        for zone, ring in self._rings.items():
            if ring.is_over(now):
                ring.begin(self._segment(zone, now))
        if self._beside.is_over(now):
            self._beside.begin(Segment(now))

    def _segment(self, zone: Zone, now: Monotonic) -> Segment:
        chance = self._chances[zone]
        return Segment(
            now, self._snapshot(zone, now), chance.drawn, chance.seed,
            beside=(self._chance.seed, self._chance.drawn),
        )  # fmt: skip

    def _snapshot(self, zone: Zone, now: Monotonic) -> ZoneSnapshot:
        assert self._world is not None  # noqa: S101  # the zone runs in one
        placements = self._placements[zone]
        return ZoneSnapshot(
            tuple(_player_snapshot(one, now) for one in self._world.players if one.zone is zone),
            tuple(
                _spawn_snapshot(spawn, placements[spawn]) for spawn in zone if spawn in placements
            ),
        )

    # -- recordings -------------------------------------------------------------------------------

    def zones(self) -> Iterable[Zone]:
        """Return the zones that are recorded."""
        return list(self._rings)

    def recording(self, zone: Zone, reason: str, *, is_private: bool = False) -> Recording:
        """Return what is kept of a zone; from now on its chance has another seed.

        With `is_private`, texts between players and addresses are part of it.
        """
        assert self._inner_clock is not None  # noqa: S101  # a recorder that is on has one
        assert self._registry is not None  # noqa: S101
        ring, now = self._rings[zone], self._inner_clock.now()
        first = ring.segments[0]
        began = first.began
        beside = (one for one in self._beside if one.now >= began)
        entries = sorted([*ring, *beside], key=lambda entry: entry.number)
        of_zone = {id(entry) for entry in ring}
        header = Header(
            zone.zone_id, zone.instance, zone.definition.name, began, now - began,
            self._inner_clock.moment() - now, first.seed.hex(), first.drawn,
            first.beside[0].hex(), first.beside[1], first.first_spawn, is_private, reason,
        )  # fmt: skip
        made = Recording(
            header, first.snapshot, [(id(one) in of_zone, replace(one)) for one in entries],
            self._registry,
        )  # fmt: skip
        # Whoever reads the file knows the seed.
        for own in (zone, None):
            seed = self._new_seed()
            self.go_on_with(own, seed, 0)
            self._number += 1
            self._ring(own).add_entry(InputEntry(self._number, now, "seed", (seed.hex(),)))
        ring.begin(self._segment(zone, now))
        return made

    def go_on_with(self, zone: Zone | None, seed: bytes, drawn: int) -> None:
        """Let the chance of a zone, or that of none, be the one of a recording."""
        chance = SeededChance(seed, drawn)
        if zone is None:
            self._chance = chance
        else:
            self._chances[zone] = chance

    def placements(self, zone: Zone) -> Iterator[tuple[Spawn, int]]:
        """Yield the spawns of the content file with the numbers of their placements."""
        yield from self._placements.get(zone, {}).items()


THREAD: Final = key_of("thread", "run", ())


def _player_snapshot(player: Player, now: Monotonic) -> PlayerSnapshot:
    things: tuple[Thing, ...] = tuple(player.holdings.inventory)
    return PlayerSnapshot(
        state_of(player, now), things, player.client.version, player.spawn.hidden,
        is_inside=True, stands=player.state is PlayerState.STANDING,
        is_from_node=player.journey.is_from_node,
    )  # fmt: skip


def _spawn_snapshot(spawn: Spawn, placement: int) -> SpawnSnapshot:
    at, sheet = spawn.position, spawn.sheet
    return SpawnSnapshot(
        placement, spawn.name, at.x, at.y, at.z, at.heading, sheet.health.current,
        sheet.power.current,
    )  # fmt: skip


class RecordedService:
    """The inputs of a world, which are noted; see `emu.world.service.WorldService`."""

    def __init__(self, recorder: Recorder, inner: Inside) -> None:
        self._recorder = recorder
        self._inner = inner
        self.fetch, self.place, self.load = inner.fetch, inner.place, inner.load
        self.has_stored, self.is_current = inner.has_stored, inner.is_current
        self.send_away, self.drained = inner.send_away, inner.drained

    def enter(
        self, character: WorldCharacter, client: PlayerClient, now: Monotonic, loaded: Loaded, *,
        key: int = 0, hidden: bool = False, is_zoning: bool = False,
    ) -> Player:  # fmt: skip
        """Enter a client."""

        def enter() -> Player:
            return self._inner.enter(
                character, client, now, loaded, key=key, hidden=hidden, is_zoning=is_zoning
            )

        return self._recorder.enter(character, enter, now, client.version)

    def message(self, player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        """Handle a message."""
        name = player.client.dialect.table.names.get(opcode)
        if name not in PRIVATE_MESSAGES:
            self._recorder.message(player, opcode, body, now)
        self._inner.message(player, opcode, body, now)

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Handle the end of a session."""
        if player.client.link is link:
            self._recorder.begin(player.zone, "closed", now, player.id, reason)
        self._inner.closed(player, link, reason, now)

    def close(self, now: Monotonic) -> None:
        """Take all players out of the world."""
        self._inner.close(now)
