"""Handles of scripts: the spawns and the players of a zone, and the zone itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from emu.content.standing import Standing
from emu.quests.journal import Journal
from emu.scripts.signatures import Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.minds import plain
from emu.world.players import Players
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.zone import Zone

LONGEST_TEXT: Final = 1024
"""Characters of a text that a player is shown."""
BREAKS: Final = "\r\n\t"
"""What parts the lines and columns of such a text; other control characters become spaces."""
MOST_VARIABLES: Final = 64
"""Temporary variables of one spawn."""
MOST_REQUIREMENTS: Final = 100
"""Requirements of one spawn: each is looked at for each player."""
MOST_OTHERS: Final = 200
"""Spawns without a row that a zone keeps before it looks which of them are gone."""
NO_VARIABLES: Final[Mapping[str, Any]] = MappingProxyType({})
"""Those of a spawn for which no script has set any."""


@dataclass(slots=True, eq=False)
class Body:
    """A spawn of a running zone, or a player."""

    spawn: Spawn
    home: Home
    player: Player | None = None
    standing: Standing | None = None
    """Its placement in the content file; None for players."""
    script: str = ""
    """The file that its row names; empty without one."""
    group: int = 0
    """The number of the group that it stands in; 0 without one."""
    # Shared and immutable when empty: few of the ten thousands of spawns ever have one.
    variables: Mapping[str, Any] = field(default_factory=lambda: NO_VARIABLES)
    flight: int = 0
    """The flight path that a player has taken; 0 for none."""
    is_gone: bool = False
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        kind = HandleKind.SPAWN
        if self.player is not None:
            kind = HandleKind.PLAYER
        elif self.spawn.kind is SpawnKind.NPC:
            kind = HandleKind.NPC
        self.handle = Handle(kind, self)
        if self.standing is not None:
            self.group = self.standing.group

    @property
    def name(self) -> str:
        """The name of the spawn, for people."""
        return self.spawn.name

    def end(self) -> None:
        """Let go of everything: the spawn is gone, and its handle counts as missing."""
        self.is_gone = True
        self.handle.end()
        self.variables = NO_VARIABLES


class Requirement(NamedTuple):
    """What a spawn requires of the past of the players who use it."""

    event: int
    values: tuple[int, int]
    is_private: bool
    """Whether others do not see it either."""

    def is_met_by(self, player: Player) -> bool:
        """Return whether the values of the event are noted for a player."""
        return player.past.event(self.event) == self.values


class QuestRequirement(NamedTuple):
    """The quest that a spawn requires of the players who use it."""

    journal: Callable[[Player], Journal]
    quest: int
    step: int
    """The step at which the player must be; 0 for any."""
    is_kept: bool
    """Whether players who are further may use it, too."""
    is_private: bool

    def is_met_by(self, player: Player) -> bool:
        """Return whether a player has the quest at the step."""
        journal = self.journal(player)
        taken = journal.open.get(self.quest)
        if taken is None:
            return self.is_kept and self.quest in journal.completed
        return not self.step or taken.is_open(self.step) or (
            self.is_kept and taken.is_done(self.step)
        )  # fmt: skip


class Requirements:
    """The spawns of a zone that require something of players."""

    def __init__(self) -> None:
        self._of_spawns: dict[Body, list[Requirement | QuestRequirement]] = {}

    def require(
        self, body: Body, requirement: Requirement | QuestRequirement, players: Iterable[Body]
    ) -> None:
        """Let only players who meet a requirement use a spawn; `players` are those in the zone.

        Of several of one kind they must meet one.
        """
        known = self._of_spawns.setdefault(body, [])
        if requirement not in known and len(known) < MOST_REQUIREMENTS:
            known.append(requirement)
        if requirement.is_private:
            # Its own number: a spawn that nobody may see is not a public one.
            body.spawn.set_allowed(body.spawn.allowed | {body.spawn.id})
            for player in players:
                self._show(body, known, player)

    def update(self, player: Body) -> None:
        """Show and hide spawns after a player has come, or its past or quests have changed."""
        for body, known in self._of_spawns.items():
            if any(one.is_private for one in known):
                self._show(body, known, player)

    def _show(self, body: Body, known: list[Requirement | QuestRequirement], player: Body) -> None:
        is_met = player.player is not None and _are_met(known, player.player)
        allowed, number = body.spawn.allowed, player.spawn.id
        body.spawn.set_allowed(allowed | {number} if is_met else allowed - {number})

    def are_met(self, body: Body, player: Player) -> bool:
        """Return whether a player may use a spawn."""
        known = self._of_spawns.get(body)
        return known is None or _are_met(known, player)

    def forget(self, body: Body) -> None:
        """Forget a spawn that is gone, or a player who leaves."""
        if self._of_spawns.pop(body, None) is None and body.player is not None:
            for other in self._of_spawns:
                other.spawn.set_allowed(other.spawn.allowed - {body.spawn.id})


def _are_met(known: list[Requirement | QuestRequirement], player: Player) -> bool:
    """Return whether a player meets one requirement of each kind."""
    return all(
        any(one.is_met_by(player) for one in known if type(one) is kind)
        for kind in {type(one) for one in known}
    )


@dataclass(slots=True)
class FurnitureFacts:
    """What scripts know of a thing that stands in a house."""

    item_id: int
    owner_id: int = 0
    """The character that a script has noted."""


@dataclass(slots=True, eq=False)
class Home:
    """A running zone as scripts have it: its spawns by number."""

    zone: Zone
    script: str = ""
    """The file of the zone's own script; empty without one."""
    is_night: bool = False
    """Whether `dusk` was called last, and not `dawn`."""
    is_ready: bool = False
    """Whether its spawns stand, and its script has been called."""
    is_gone: bool = False
    newcomers: list[Player] = field(default_factory=list)
    """The players who came before it was ready."""
    bodies: dict[int, Body] = field(default_factory=dict)
    """By the spawn's number of this run; players are not among them."""
    by_location: dict[int, list[Body]] = field(default_factory=dict)
    by_group: dict[int, dict[int, Body]] = field(default_factory=dict)
    """By the number of the group and the spawn's own; without those that stand in none."""
    players: dict[int, Body] = field(default_factory=dict)
    """By character id."""
    others: dict[int, Body] = field(default_factory=dict)
    """Spawns that no content file has placed and spells have reached, by number."""
    requirements: Requirements = field(default_factory=Requirements)
    """What spawns require of the past of players."""
    furniture: dict[int, FurnitureFacts] = field(default_factory=dict)
    """The things of a house, by the number of their spawns."""
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.ZONE, self)

    @property
    def name(self) -> str:
        """The name of the zone, for people."""
        return self.zone.definition.name

    def add_body(self, body: Body) -> None:
        """Add a spawn of the content file."""
        self.bodies[body.spawn.id] = body
        if body.standing is not None:
            location = body.standing.placement.location_id
            self.by_location.setdefault(location, []).append(body)
        if body.group:
            self.by_group.setdefault(body.group, {})[body.spawn.id] = body

    def set_group(self, body: Body, group: int) -> None:
        """Put a spawn into a group; 0 takes it out."""
        self._leave_group(body)
        body.group = group
        if group and self.bodies.get(body.spawn.id) is body:
            self.by_group.setdefault(group, {})[body.spawn.id] = body

    def _leave_group(self, body: Body) -> None:
        members = self.by_group.get(body.group, {})
        if members.pop(body.spawn.id, None) is not None and not members:
            del self.by_group[body.group]

    def remove(self, body: Body) -> None:
        """Remove a spawn, and end its handle."""
        self.bodies.pop(body.spawn.id, None)
        self._leave_group(body)
        self.requirements.forget(body)
        if body.standing is not None:
            location = body.standing.placement.location_id
            left = [one for one in self.by_location.get(location, ()) if one is not body]
            if left:
                self.by_location[location] = left
            else:
                self.by_location.pop(location, None)
        body.end()

    def of_spawn(self, number: int) -> Iterator[Body]:
        """Yield what stands here of one number of the content file."""
        return (
            body for body in self.bodies.values()
            if body.standing is not None and body.standing.template.id == number
        )  # fmt: skip

    def in_group(self, group: int) -> list[Body]:
        """Return the spawns of a group, the dead ones too, in the order of their numbers."""
        # The spawns of a large zone ask for their groups one after the other.
        return [body for _, body in sorted(self.by_group.get(group, {}).items())]

    def is_group_dead(self, group: int) -> bool:
        """Return whether nothing of a group lives."""
        return not any(body.spawn.hp_percent > 0 for body in self.in_group(group))

    def end(self) -> None:
        """End all handles: the zone has ended."""
        for body in list(self.bodies.values()):
            self.remove(body)
        for body in self.players.values():
            body.end()
        for body in self.others.values():
            body.end()
        self.others.clear()
        self.players.clear()
        self.newcomers.clear()
        self.is_gone = True
        self.handle.end()


class Homes:
    """The running zones of a world as scripts have them."""

    def __init__(self, players: Players) -> None:
        self._players = players
        self._homes: dict[Zone, Home] = {}
        self._absent: dict[int, Home] = {}
        """Zones that scripts have named and that do not run, by number."""

    def __iter__(self) -> Iterator[Home]:
        """All that scripts know; a snapshot."""
        return iter(list(self._homes.values()))

    def get(self, zone: Zone) -> Home | None:
        """Return a zone that scripts know."""
        return self._homes.get(zone)

    def of(self, zone: Zone) -> Home:
        """Return a zone, which scripts know from now on."""
        home = self._homes.get(zone)
        if home is None:
            home = self._homes[zone] = Home(zone)
        return home

    def pop(self, zone: Zone) -> Home | None:
        """Remove a zone that ends."""
        return self._homes.pop(zone, None)

    def of_number(self, zone_id: int) -> Home | None:
        """Return a running zone by its number."""
        return next((home for zone, home in self._homes.items() if zone.zone_id == zone_id), None)

    def absent(self, definition: ZoneDefinition) -> Home:
        """Return a zone that does not run: nothing stands in it."""
        home = self._absent.get(definition.id)
        if home is None:
            home = self._absent[definition.id] = Home(Zone(definition))
        return home

    def players_in(self, home: Home) -> list[Player]:
        """Return the players who stand in a zone."""
        return self._players.standing_in(home.zone)

    def body(self, spawn: Spawn, zone: Zone) -> Body | None:
        """Return a spawn of the content file, or a player, as scripts have it."""
        home = self._homes.get(zone)
        if home is None:
            return None
        found = home.bodies.get(spawn.id)
        if found is not None or spawn.kind is not SpawnKind.PLAYER:
            return found
        for player in self._players.standing_in(zone):
            if player.spawn is spawn:
                return self.player(player)
        return None

    def known(self, spawn: Spawn, zone: Zone) -> Body | None:
        """Return any spawn of a zone as scripts have it; None if it is not there any more."""
        found = self.body(spawn, zone)
        if found is not None or zone.spawn(spawn.id) is not spawn:
            return found
        home = self.of(zone)
        other = home.others.get(spawn.id)
        if other is None:
            if len(home.others) >= MOST_OTHERS:
                for number, body in list(home.others.items()):
                    if zone.spawn(number) is not body.spawn:
                        body.end()
                        del home.others[number]
            other = home.others[spawn.id] = Body(spawn, home)
        return other

    def player(self, player: Player) -> Body:
        """Return the one body of a player in its zone."""
        home = self.of(player.zone)
        found = home.players.get(player.id)
        # A player can be replaced by another object of the same character, after a second login.
        if found is None or found.player is not player:
            if found is not None:
                found.end()
            found = home.players[player.id] = Body(player.spawn, home, player)
        return found


def shown(text: str) -> str:
    """Return a script's text as players are shown it: UTF-8, or the bytes of cp1252."""
    data = text[: 4 * LONGEST_TEXT].encode("latin-1", "replace")
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError:
        decoded = data.decode("cp1252", "replace")
    return plain.text(decoded, "a text", LONGEST_TEXT, kept=BREAKS)


def given(text: str) -> str:
    """Return a text of the server's as scripts have it: a character for each byte of UTF-8."""
    return text.encode("utf-8", "replace").decode("latin-1")
