"""The world: its players, its running zones, and what its handlers share.

The handlers of messages (`emu.world.entry`, `emu.world.handlers.interaction`, commands, behaviors)
read and change this state; `emu.world.service` calls them. Times named `now` are monotonic seconds,
moments are UTC.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

from emu.content.models import StandIns
from emu.dialects import Dialect, Dialects
from emu.errors import OutOfDate, StoreError, UnknownVersion
from emu.mailbox import PendingAnswer
from emu.model import WorldCharacter
from emu.processes.ports import Processes, WorldCharacterStore
from emu.processes.settings import MOTD, SharedSettings
from emu.times import Clock, Moment, Monotonic, lies_ahead
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.deadlines import Timetable
from emu.world.events import Events, PlayedElsewhere
from emu.world.groups.changes import GroupChanges
from emu.world.groups.groups import Groups
from emu.world.groups.shared import SharedGroups
from emu.world.knowledge import Knowledge
from emu.world.players import PlayerDeadlines, Players
from emu.world.reports import Faults, GroupsOrdered, NotSaved, PlayerRefused
from emu.world.rules import WorldRules
from emu.world.saving.saver import Saver
from emu.world.saving.saves import PlayerSaves
from emu.world.script_errors import ScriptErrors
from emu.world.visibility.forms import GhostForm, GhostRules
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """The state that the handlers of one world share."""

    rules: WorldRules
    zones: Zones
    dialects: Dialects
    forms: GhostRules
    store: WorldCharacterStore
    knowledge: Knowledge
    processes: InitVar[Processes]
    address: Callable[[], tuple[str, int]]
    """Returns the host and port at which clients reach this world."""
    clock: Clock
    faults: Faults
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""
    answer: Callable[[], PendingAnswer]
    """Makes an object that a coroutine can wait for."""
    timetable: Timetable
    """The deadlines of everything in this world."""
    wake_saver: Callable[[], None]
    """Asks for the saver's timer again."""
    motd: str = field(init=False)
    players: Players = field(default_factory=Players)
    saver: Saver = field(init=False)
    saves: PlayerSaves = field(init=False)
    pending_mutes: dict[int, Moment] = field(default_factory=dict)
    """Ends of mutes that are not stored yet, by account id."""
    deadlines: PlayerDeadlines = field(init=False)
    groups: Groups = field(default_factory=Groups)
    """The groups as this process knows them; `group_changes` changes them."""
    group_changes: GroupChanges = field(init=False)
    counters: Counter[str] = field(default_factory=Counter)
    next_spawn_id: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    """Returns the number of a new spawn; no number is used twice."""
    stand_ins: StandIns = field(default_factory=StandIns)
    """The models that clients are shown instead of those that they lack."""
    settings: SharedSettings = field(default_factory=SharedSettings)
    """What operators change while the server runs."""
    way_back: Callable[[Player], Destination] = field(init=False)
    """Returns where a player goes that is lost in its zone."""
    copy_of: Callable[[WorldCharacter, ZoneDefinition], int] = field(
        default=lambda _character, _definition: 0
    )
    """Returns the number of the copy of a zone that a character enters; 0 if all share the zone."""
    _made_forms: dict[Dialect, GhostForm] = field(default_factory=dict)

    def __post_init__(self, processes: Processes) -> None:
        self.report = self.faults.report
        self.wake = self.timetable.wake
        self.way_back = lambda player: Destination(player.zone.zone_id, player.zone.definition.safe)
        self.events = Events(self.faults)
        self.script_errors = ScriptErrors()
        self.motd = self.rules.motd
        self.settings.follow(MOTD, self.motd, self._motd_changed)
        self.saver = Saver(
            self.store,
            self.start,
            longest_pause=lambda: self.rules.save_retry,
            failed=self._not_saved,
            wake=self.wake_saver,
        )
        self.deadlines = PlayerDeadlines(self.timetable, self.faults)
        self.saves = PlayerSaves(
            self.saver, self.deadlines, self.faults, answer=self.answer, clock=self.clock,
            save_interval=lambda: self.rules.save_interval,
        )  # fmt: skip
        self.process = processes.name
        self.other_processes = processes.others
        self.bus = processes.bus
        self.handoffs = processes.handoffs
        self.presence = processes.presence
        self.zone_servers = processes.zone_servers
        self.group_changes = self._make_group_changes(processes)

    def _make_group_changes(self, processes: Processes) -> GroupChanges:
        if processes.run is None:
            return GroupChanges(self.groups, self.presence, self.clock, self.timetable)
        return SharedGroups(
            self.groups, self.presence, self.clock, self.timetable, bus=self.bus,
            process=self.process, run=processes.run, start=self.start, count=self.count,
            report=lambda process: self.report(GroupsOrdered(process)),
        )  # fmt: skip

    def form(self, dialect: Dialect) -> GhostForm | None:
        """Return the encoding of spawns for a client version; clients of one dialect share it.

        None for a version whose ghosts are unknown: such a client is shown no spawns.
        """
        found = self._made_forms.get(dialect)
        if found is None:
            try:
                rules = self.forms.for_version(dialect.version)
            except UnknownVersion:
                return None
            # Forms of versions that nobody uses any more are dropped here, because dialects change
            # with each reload of the opcode tables.
            self._made_forms = {
                known: form
                for known, form in self._made_forms.items()
                if any(player.client.dialect is known for player in self.players)
            }
            found = self._made_forms[dialect] = GhostForm(
                dialect, rules, self.stand_ins.for_version(dialect.version)
            )
        return found

    def is_muted(self, player: Player) -> bool:
        """Return whether the account of a player is muted now."""
        return lies_ahead(player.muted_until, self.clock.moment())

    def left_zone(self, zone: Zone, now: Monotonic) -> None:
        """Note that a player has left a zone; an empty zone ends after a while."""
        self.zones.left(zone, self.players.count_in(zone), now)
        self.list_zone(zone)

    def list_zone(self, zone: Zone) -> None:
        """List a zone in public, unless it runs only for hidden players."""
        if self.players.count_seen_in(zone):
            zone.is_listed = True
        elif self.players.count_in(zone):
            zone.is_listed = False

    def _motd_changed(self, text: str) -> None:
        self.motd = text

    def _not_saved(self, character: WorldCharacter, error: StoreError) -> None:
        """Report to operators that a player could not be saved."""
        self.report(NotSaved(character.name, str(error)))
        if not isinstance(error, OutOfDate):
            self.count("save failed")
            return
        player = self.players.get(character.id)
        if player is not None and player.character.term == character.term:
            self.events.publish(PlayedElsewhere(player))

    def claimed(self, row: WorldCharacter) -> None:
        """Note the term with which this process has just let a character in.

        A player who is still here from the term before keeps playing it. One from an earlier term
        is taken out: another process has played the character since.
        """
        player = self.players.get(row.id)
        if player is not None and player.character.term + 1 == row.term:
            player.character = replace(player.character, holder=row.holder, term=row.term)
        elif player is not None and player.character.term < row.term:
            self.events.publish(PlayedElsewhere(player))
        self.saver.claimed(row)

    def refused(self, player: Player, reason: str) -> None:
        """Report to operators that a player's message was refused."""
        self.report(PlayerRefused(player.name, player.client.address, reason))

    def count(self, reason: str) -> None:
        """Count a message or call that had no effect."""
        self.counters[reason] += 1
