"""The world: who is in it, which zones run, and what all its rooms share.

A place to look things up and to reach the outside; it decides nothing about messages. The modules
of `emu.world.entry` do that, and `emu.world.service` joins them to the shell. Times named `now`
are monotonic seconds, moments are UTC.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any, TypeVarTuple

from emu.dialects import Dialect, Dialects
from emu.errors import OutOfDate, StoreError, UnknownVersion
from emu.mailbox import PendingAnswer
from emu.model import ANYBODY, WorldCharacter, may_see
from emu.processes.ports import Processes, WorldCharacterStore
from emu.times import Clock, Moment, Monotonic, lies_ahead
from emu.world.actors.player import IN_ZONE, Player
from emu.world.content.knowledge import Knowledge
from emu.world.deadlines import Deadlines
from emu.world.entry.saver import Saver
from emu.world.events import Fault, NotSaved, PlayerRefused, WorldEvent
from emu.world.rules import WorldRules
from emu.world.social.groups import Groups
from emu.world.visibility.encoding import GhostForm, GhostRules
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone

Ts = TypeVarTuple("Ts")


class Players:
    """Everybody who is in the world, by character id and by name."""

    def __init__(self) -> None:
        self._by_id: dict[int, Player] = {}
        self._by_name: dict[str, Player] = {}

    def __iter__(self) -> Iterator[Player]:
        """All players, link-dead ones too; a snapshot."""
        return iter(list(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def add(self, player: Player) -> None:
        """Take somebody in."""
        self._by_id[player.id] = player
        self._by_name[player.name.casefold()] = player

    def remove(self, player: Player) -> None:
        """Let go of somebody; one who is not here is fine."""
        if self._by_id.get(player.id) is player:
            del self._by_id[player.id]
        name = player.name.casefold()
        if self._by_name.get(name) is player:
            del self._by_name[name]

    def discard(self, player: Player) -> None:
        """Make sure that somebody is not here under any id or name."""
        if player in self._by_id.values() or player in self._by_name.values():
            self._by_id = {key: one for key, one in self._by_id.items() if one is not player}
            self._by_name = {key: one for key, one in self._by_name.items() if one is not player}

    def renamed(self, player: Player, before: str) -> None:
        """Have a player found by its new name and no more by the one `before`."""
        if self._by_name.get(before.casefold()) is player:
            del self._by_name[before.casefold()]
        self._by_name[player.name.casefold()] = player

    def get(self, char_id: int) -> Player | None:
        """Return a player by character id."""
        return self._by_id.get(char_id)

    def named(self, name: str) -> Player | None:
        """Return a player by name, without regard to case."""
        return self._by_name.get(name.casefold())

    def standing_in(self, zone: Zone) -> list[Player]:
        """Return the players who stand in a zone."""
        everybody = self._by_id.values()
        return [player for player in everybody if player.zone is zone and player.state in IN_ZONE]

    def count_in(self, zone: Zone) -> int:
        """Return how many players are in a zone."""
        return sum(player.zone is zone for player in self._by_id.values())

    def count_seen_in(self, zone: Zone) -> int:
        """Return how many players are in a zone that anybody may see."""
        everybody = self._by_id.values()
        return sum(one.zone is zone and may_see(ANYBODY, one.spawn) for one in everybody)


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """What the rooms of the world share."""

    rules: WorldRules
    zones: Zones
    dialects: Dialects
    forms: GhostRules
    store: WorldCharacterStore
    knowledge: Knowledge
    processes: InitVar[Processes]
    address: Callable[[], tuple[str, int]]
    """Returns host and port that clients are told to reach this world by."""
    clock: Clock
    report: Callable[[WorldEvent], None]
    """Takes what operators should know."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""
    answer: Callable[[], PendingAnswer]
    """Makes something that a coroutine can wait for."""
    changed: Callable[[], None] = lambda: None
    """Is called when somebody came, went, or lost the link."""
    wake: Callable[[], None] = lambda: None
    """Asks for the world's timer again."""
    motd: str = field(init=False)
    players: Players = field(default_factory=Players)
    saver: Saver = field(init=False)
    """Saves characters; `emu.world.entry.saving` says when."""
    pending_mutes: dict[int, Moment] = field(default_factory=dict)
    """Until when accounts are muted, by account id, while that is not stored yet."""
    deadlines: Deadlines[Player] = field(default_factory=Deadlines)
    groups: Groups = field(default_factory=Groups)
    counters: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    """Mistakes of the server that were confined to one actor, by what it was doing."""
    on_arrival: list[Callable[[Player, Monotonic], None]] = field(default_factory=list)
    """Who is told of everybody who stands in a zone and comes from outside the world."""
    on_stand: list[Callable[[Player, Monotonic], None]] = field(default_factory=list)
    """Who is told of everybody who stands in a zone."""
    on_out_of_zone: list[Callable[[Player], None]] = field(default_factory=list)
    """Who is told of everybody who is out of its zone, or of the world."""
    on_left: list[Callable[[Player], None]] = field(default_factory=list)
    """Who is told of everybody who is out of the world."""
    on_hidden: list[Callable[[Player], None]] = field(default_factory=list)
    """Who is told of everybody who is hidden now, or shown again."""
    on_say: list[Callable[[Player, str, Monotonic], None]] = field(default_factory=list)
    """Who listens to what players say near them, besides players: behaviors."""
    give_commands: Callable[[Player], None] = lambda _player: None
    """Sends a client the table of its commands; set by who joins commands and world."""
    do_command: Callable[[Player, str, Monotonic], bool] = lambda *_call: False
    """Runs a command by its name for a player; False when it has no such command."""
    next_spawn_id: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    """Returns a number for a new spawn that no other has had."""
    _made_forms: dict[Dialect, GhostForm] = field(default_factory=dict)

    def __post_init__(self, processes: Processes) -> None:
        self.motd = self.rules.motd
        self.saver = Saver(
            self.store,
            self.start,
            longest_pause=lambda: self.rules.save_retry,
            failed=self._not_saved,
        )
        self.process = processes.name
        self.other_processes = processes.others
        self.bus = processes.bus
        self.handoffs = processes.handoffs
        self.presence = processes.presence
        self.zone_servers = processes.zone_servers
        self.zones.failed = self.fault
        self.zones.report = self._report

    def form(self, dialect: Dialect) -> GhostForm | None:
        """Return how a client is shown spawns; clients of one dialect share it.

        None for a version whose ghosts are not known: such a client sees nobody.
        """
        found = self._made_forms.get(dialect)
        if found is None:
            try:
                rules = self.forms.for_version(dialect.version)
            except UnknownVersion:
                return None
            self._made_forms = {
                known: form
                for known, form in self._made_forms.items()
                if any(player.client.dialect is known for player in self.players)
            }
            found = self._made_forms[dialect] = GhostForm(dialect, rules)
        return found

    def set_deadline(self, player: Player, what: str, seconds: float, now: Monotonic) -> None:
        """Have something done about a player after some seconds."""
        self.deadlines.set(player, what, Monotonic(now + seconds))
        self.wake()

    def is_muted(self, player: Player) -> bool:
        """Say whether the account of a player may not speak now."""
        return lies_ahead(player.muted_until, self.clock.moment())

    def list_zone(self, zone: Zone) -> None:
        """Have a zone listed in public, unless it runs only for players who are hidden."""
        if self.players.count_seen_in(zone):
            zone.is_listed = True
        elif self.players.count_in(zone):
            zone.is_listed = False

    def heard(self, speaker: Player, text: str, now: Monotonic) -> None:
        """Tell those who listen what a player said aloud."""
        self.notify("telling who listens to speech", self.on_say, speaker, text, now)

    def notify(
        self,
        task: str,
        listeners: Iterable[Callable[[Player, *Ts], object]],
        player: Player,
        *values: *Ts,
    ) -> list[Callable[[Player, *Ts], object]]:
        """Call every listener about a player; one that raises does not stop the others.

        Returns those that raised.
        """
        return [
            listener
            for listener in tuple(listeners)
            if not self.attempt(task, player, listener, player, *values)
        ]

    def attempt(
        self,
        task: str,
        player: Player | None,
        call: Callable[[*Ts], object],
        *values: *Ts,
    ) -> bool:
        """Make a call; what it raises is counted and reported, and goes no further.

        `task` says what is done and is the label of the count, so it names nobody; `player` is
        whom it concerns. Returns whether the call came to its end.
        """
        try:
            call(*values)
        except Exception as error:  # noqa: BLE001  # everything else must go on
            self.fault(task, player.name if player is not None else "", error)
            return False
        return True

    def _report(self, event: WorldEvent) -> None:
        self.report(event)

    def fault(self, task: str, actor: str, error: Exception) -> None:
        """Count and report a mistake of ours; raises nothing itself."""
        self.faults[task] += 1
        try:
            self.report(Fault(task, actor, error))
        except Exception:  # noqa: BLE001  # there is nobody left to tell
            self.faults["reporting"] += 1

    def _not_saved(self, character: WorldCharacter, error: StoreError) -> None:
        """Have operators told of a player that could not be saved."""
        if not isinstance(error, OutOfDate):
            self.count("save failed")
        self.report(NotSaved(character.name, str(error)))

    def refused(self, player: Player, reason: str) -> None:
        """Have operators told of a player's message that was not obeyed."""
        self.report(PlayerRefused(player.name, player.client.address, reason))

    def count(self, reason: str) -> None:
        """Count something that had no effect."""
        self.counters[reason] += 1
