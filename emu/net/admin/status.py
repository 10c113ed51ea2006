"""Makes the `ServerStatus` of the services that run in this process.

It is made when somebody asks, and kept for a second: however many ask, the players are counted
once. Who asks twice gets the same object, so that what is made of it can be kept as long.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import emu
from emu.admin.status import (
    NO_ZONE,
    AddOnStatus,
    PlayerStatus,
    ServerStatus,
    WorldStatus,
    ZoneStatus,
)
from emu.counts import counted
from emu.login.directory.directory import WorldDirectory
from emu.looks.names import class_name, race_name
from emu.model import WorldEntry
from emu.times import Monotonic
from emu.world.behaviors import Behaviors
from emu.world.door.admission import Admission
from emu.world.places.zones import ZoneDefinition
from emu.world.players.player import Player
from emu.world.world import World
from emu.world.zone import Zone

GAME: Final = "EverQuest II"
FRESH: Final = 1.0
"""Seconds for which a status is told."""


class StatusSource:
    """Where endpoints get the status from; the services that are not here are left out.

    `name` is what the server calls itself, `port` returns the UDP port where clients begin, and
    `sessions` is how many of them it takes at once.
    """

    def __init__(
        self,
        name: Callable[[], str],
        port: Callable[[], int],
        since: Monotonic,
        sessions: int = 0,
    ) -> None:
        self._name = name
        self._port = port
        self._since = since
        self._sessions = sessions
        self._kept: ServerStatus | None = None
        self.directory: WorldDirectory | None = None
        self.world: World | None = None
        self.admission: Admission | None = None
        self.behaviors: Behaviors | None = None

    def status(self, now: Monotonic) -> ServerStatus:
        """Return how the server is, a second ago at most."""
        kept = self._kept
        if kept is None or not 0 <= now - kept.taken < FRESH:
            kept = self._kept = self._take(now)
        return kept

    def _take(self, now: Monotonic) -> ServerStatus:
        listed = self.directory.listed() if self.directory is not None else []
        here = list(self.world.players) if self.world is not None else []
        running = list(self.world.zones) if self.world is not None else []
        places = max(self.admission.rules.max_players, 0) if self.admission is not None else 0
        definition = self._busiest(here)
        rules = self._rules(listed)
        return ServerStatus(
            taken=now,
            name=self._name(),
            game=GAME,
            version=emu.__version__,
            platform=sys.platform,
            port=self._port(),
            since=self._since,
            locked=self.admission is not None and self.admission.locked,
            places=places,
            online=max(len(here), sum(world.players for world in listed)),
            map=definition.description if definition is not None else "",
            map_file=definition.file if definition is not None else "",
            worlds=worlds_of(listed),
            zones=self._zones(running, here),
            players=self._players(here, running),
            rules=tuple(sorted((name, value) for name, (value, _) in rules.items())),
            rule_sources={name: source for name, (_, source) in rules.items() if source},
            add_ons=self._add_ons(),
            sessions=self._sessions,
        )

    def _busiest(self, players: Sequence[Player]) -> ZoneDefinition | None:
        """Return the zone with most players, else the one where most characters begin."""
        if self.world is None:
            return None
        table = self.world.zones.table
        ids = [player.zone.zone_id for player in players]
        ids = ids or [start.zone_id for rows in table.starts for start in rows]
        return table.get(Counter(ids).most_common(1)[0][0]) if ids else None

    def _zones(self, running: Iterable[Zone], players: Sequence[Player]) -> tuple[ZoneStatus, ...]:
        if self.world is None:
            return ()
        inside: dict[Zone, list[Player]] = defaultdict(list)
        for player in players:
            inside[player.zone].append(player)
        return tuple(
            zone_status(zone, self.world.zones.definition(zone.zone_id), inside[zone])
            for zone in running
        )

    def _players(
        self, players: Sequence[Player], running: Sequence[Zone]
    ) -> tuple[PlayerStatus, ...]:
        if self.world is None:
            return ()
        return players_of(players, running, self.world.rules.game_master)

    def _rules(self, listed: Sequence[WorldEntry]) -> dict[str, tuple[str, str]]:
        """Return values and sources by name."""
        rules = {"version": (emu.__version__, ""), "worlds": (str(len(listed)), "login")}
        if self.world is not None:
            rules["max_level"] = str(self.world.rules.max_level), "world"
            rules["motd"] = self.world.motd, "world"
        if self.admission is not None:
            rules["locked"] = "yes" if self.admission.locked else "no", "world"
            rules["max_players"] = str(self.admission.rules.max_players), "world"
        return rules | {f"world {entry.name}": (_word(entry), "login") for entry in listed}

    def _add_ons(self) -> tuple[AddOnStatus, ...]:
        if self.behaviors is None:
            return ()
        library = self.behaviors.library
        return tuple(add_on(name, library.find(name)) for name in library)


def worlds_of(entries: Iterable[WorldEntry]) -> tuple[WorldStatus, ...]:
    """Return the worlds of a login server's directory."""
    return tuple(
        WorldStatus(entry.name, entry.up, entry.locked, entry.players) for entry in entries
    )


def zone_status(zone: Zone, definition: ZoneDefinition, inside: Sequence[Player]) -> ZoneStatus:
    """Return how a running zone is; `inside` are its players."""
    pings = [ping for player in inside if (ping := player.client.ping())]
    return ZoneStatus(
        id=zone.zone_id,
        instance=zone.instance,
        name=definition.description,
        file=definition.file,
        players=len(inside),
        places=definition.population,
        spawns=len(zone),
        ping=round(sum(pings) / len(pings)) if pings else 0,
    )


def players_of(
    players: Iterable[Player], running: Sequence[Zone], game_master: int
) -> tuple[PlayerStatus, ...]:
    """Return everybody who is in the world; `running` are its zones, in their order.

    From a status of `game_master` on somebody is one.
    """
    index = {zone: number for number, zone in enumerate(running)}
    return tuple(
        PlayerStatus(
            id=player.id,
            name=player.name,
            level=player.character.level,
            race=race_name(player.character.race),
            class_=class_name(player.character.class_),
            zone=index.get(player.zone, NO_ZONE),
            since=player.since,
            ping=player.client.ping(),
            address=player.client.address,
            link_dead=not player.is_online,
            game_master=player.character.admin_status >= game_master,
            account=player.character.account_id,
            x=round(player.position.x, 2),
            y=round(player.position.y, 2),
            z=round(player.position.z, 2),
        )
        for player in players
    )


def add_on(name: str, behavior: type | None) -> AddOnStatus:
    """Return what is told of a behavior: the first line of its docstring is its title."""
    title = (getattr(behavior, "__doc__", None) or name).strip().splitlines()[0]
    package = (getattr(behavior, "__module__", "") or "").partition(".")[0]
    version = emu.__version__ if package == "emu" else str(getattr(behavior, "version", ""))
    return AddOnStatus(name, title, version, active=behavior is not None)


def _word(entry: WorldEntry) -> str:
    state = "locked" if entry.locked else "up" if entry.up else "down"
    return f"{state}, {counted(entry.players, 'player')}"
