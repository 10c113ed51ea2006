"""The world: who is in it, which zones run, and what all its rooms share.

A place to look things up and to reach the outside; it decides nothing about messages. The modules
of `emu.world.players` do that, and `emu.world.service` joins them to the shell. Times named `now`
are monotonic seconds, moments are UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from itertools import count
from typing import Any

from emu.dialects import Dialect, Dialects
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


class World:
    """What the rooms of the world share."""

    def __init__(
        self,
        *,
        rules: WorldRules,
        zones: Zones,
        dialects: Dialects,
        forms: GhostRules,
        store: WorldCharacterStore,
        belongings: BelongingsStore,
        knowledge: Knowledge,
        processes: Processes,
        address: Callable[[], tuple[str, int]],
        moment: Callable[[], Moment],
        report: Callable[[WorldEvent], None],
        start: Callable[[Coroutine[Any, Any, None]], None],
        changed: Callable[[], None] = lambda: None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Join the world to its outside.

        `address` is where clients reach this world, `moment` is the wall clock, `start` runs a
        coroutine that nobody awaits, `report` takes what operators should know, `wake` asks for the
        world's timer again, `changed` is called when somebody came, went, or lost the link.
        """
        self.rules = rules
        self.zones = zones
        self.dialects = dialects
        self.store = store
        self.belongings = belongings
        self.knowledge = knowledge
        self.unsaved: dict[int, WorldCharacter] = {}
        """Characters whose latest state is not stored yet; `emu.world.players.saving` keeps it."""
        self.process = processes.name
        self.other_processes = processes.others
        self.bus = processes.bus
        self.handoffs = processes.handoffs
        self.presence = processes.presence
        self.zone_servers = processes.zone_servers
        self._address = address
        self.changed = changed
        self.moment = moment
        self.report = report
        self.start = start
        self._wake = wake
        self.players = Players()
        self.deadlines: Deadlines[Player] = Deadlines()
        self.groups = Groups()
        self.motd = rules.motd
        self.counters: Counter[str] = Counter()
        self.on_arrival: list[Callable[[Player, Monotonic], None]] = []
        """Who is told of everybody who stands in a zone and comes from outside the world."""
        self.on_stand: list[Callable[[Player, Monotonic], None]] = []
        """Who is told of everybody who stands in a zone."""
        self.on_out_of_zone: list[Callable[[Player], None]] = []
        """Who is told of everybody who is out of its zone, or of the world."""
        self.on_left: list[Callable[[Player], None]] = []
        """Who is told of everybody who is out of the world."""
        self.on_say: list[Callable[[Player, str, Monotonic], None]] = []
        """Who listens to what players say near them, besides players: behaviors."""
        self.give_commands: Callable[[Player], None] = lambda _player: None
        """Sends a client the table of its commands; set by who joins commands and world."""
        self.do_command: Callable[[Player, str, Monotonic], bool] = lambda *_call: False
        """Runs a command by its name for a player; False when it has no such command."""
        self._forms = forms
        self._made_forms: dict[Dialect, GhostForm] = {}
        self._spawn_ids = count(1)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that clients are told to reach this world by."""
        return self._address()

    def form(self, dialect: Dialect) -> GhostForm | None:
        """Return how a client is shown spawns; clients of one dialect share it.

        None for a version whose ghosts are not known: such a client sees nobody.
        """
        if not self._forms.knows(dialect.version):
            return None
        found = self._made_forms.get(dialect)
        if found is None:
            self._made_forms = {
                known: form
                for known, form in self._made_forms.items()
                if any(player.client.dialect is known for player in self.players)
            }
            rules = self._forms.for_version(dialect.version)
            found = self._made_forms[dialect] = GhostForm(dialect, rules)
        return found

    def next_spawn_id(self) -> int:
        """Return a number for a new spawn that no other has had."""
        return next(self._spawn_ids)

    def set_deadline(self, player: Player, what: str, seconds: float, now: Monotonic) -> None:
        """Have something done about a player after some seconds."""
        self.deadlines.set(player, what, Monotonic(now + seconds))
        self._wake()

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
