"""The world: who is in it, which zones run, and what all its rooms share.

A place to look things up and to reach the outside; it decides nothing about messages. The modules
of `emu.world.players` do that, and `emu.world.service` joins them to the shell. Times named `now`
are monotonic seconds, moments are UTC.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any

from emu.dialects import Dialect, Dialects
from emu.errors import UnknownVersion
from emu.model import WorldCharacter
from emu.processes.ports import Processes
from emu.processes.stores import BelongingsStore, WorldCharacterStore
from emu.times import Moment, Monotonic
from emu.world.deadlines import Deadlines
from emu.world.events import PlayerRefused, WorldEvent
from emu.world.ghosts import GhostForm, GhostRules
from emu.world.groups import Groups
from emu.world.knowledge import Knowledge
from emu.world.players.player import IN_ZONE, Player
from emu.world.rules import WorldRules
from emu.world.zone import Zone
from emu.world.zone.directory import Zones


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
            self._by_name.pop(player.name.casefold(), None)

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


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """What the rooms of the world share."""

    rules: WorldRules
    zones: Zones
    dialects: Dialects
    forms: GhostRules
    store: WorldCharacterStore
    belongings: BelongingsStore
    knowledge: Knowledge
    processes: InitVar[Processes]
    address: Callable[[], tuple[str, int]]
    """Returns host and port that clients are told to reach this world by."""
    moment: Callable[[], Moment]
    """The wall clock."""
    report: Callable[[WorldEvent], None]
    """Takes what operators should know."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""
    changed: Callable[[], None] = lambda: None
    """Is called when somebody came, went, or lost the link."""
    wake: Callable[[], None] = lambda: None
    """Asks for the world's timer again."""
    motd: str = field(init=False)
    players: Players = field(default_factory=Players)
    unsaved: dict[int, WorldCharacter] = field(default_factory=dict)
    """Characters whose latest state is not stored yet; `emu.world.players.saving` keeps it."""
    deadlines: Deadlines[Player] = field(default_factory=Deadlines)
    groups: Groups = field(default_factory=Groups)
    counters: Counter[str] = field(default_factory=Counter)
    on_arrival: list[Callable[[Player, Monotonic], None]] = field(default_factory=list)
    """Who is told of everybody who stands in a zone and comes from outside the world."""
    on_stand: list[Callable[[Player, Monotonic], None]] = field(default_factory=list)
    """Who is told of everybody who stands in a zone."""
    on_out_of_zone: list[Callable[[Player], None]] = field(default_factory=list)
    """Who is told of everybody who is out of its zone, or of the world."""
    on_left: list[Callable[[Player], None]] = field(default_factory=list)
    """Who is told of everybody who is out of the world."""
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
        self.process = processes.name
        self.other_processes = processes.others
        self.bus = processes.bus
        self.handoffs = processes.handoffs
        self.presence = processes.presence
        self.zone_servers = processes.zone_servers

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

    def mutes_changed(self, player: Player) -> None:
        """Have it stored until when a player may not speak."""
        self.start(self.store.save_mute(player.id, player.muted_until))

    def heard(self, speaker: Player, text: str, now: Monotonic) -> None:
        """Tell those who listen what a player said aloud."""
        for listener in self.on_say:
            listener(speaker, text, now)

    def refused(self, player: Player, reason: str) -> None:
        """Have operators told of a player's message that was not obeyed."""
        self.report(PlayerRefused(player.name, player.client.address, reason))

    def count(self, reason: str) -> None:
        """Count something that had no effect."""
        self.counters[reason] += 1
