"""Makes the `ServerStatus` of the services in this process.

A status is made on request and kept for a second, so that many queries cost no more than one. All
callers within that second get the same object and can cache what they derive from it.
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
    ListedWorldStatus,
    PlayerStatus,
    ServerStatus,
    ZoneStatus,
)
from emu.appearance import class_name, race_name
from emu.login.ports import ConnectedWorlds
from emu.model import ANYBODY, Present, may_see
from emu.texts import counted
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.behaviors import Behaviors
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.minds.errors import ScriptErrors
from emu.world.world import World
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.zone import Zone
from emu.worlds import WorldEntry

GAME: Final = "EverQuest II"
HIDDEN: Final = Present(0, 0, 0, hidden=True)
"""A stand-in for any hidden player, where only that matters."""
MOST_TROUBLES: Final = 100
"""Maximum number of faults in one status."""
FRESH: Final = 1.0
"""Seconds for which a status is kept."""


class StatusSource:
    """The source of the status for all endpoints; services that do not run here are left out.

    `name` returns the server's name, `port` the UDP port for game clients; `sessions` is the
    maximum number of sessions.
    """

    def __init__(
        self,
        name: Callable[[], str],
        port: Callable[[], int],
        since: Monotonic,
        sessions: int = 0,
        *,
        directory: ConnectedWorlds | None = None,
        world: World | None = None,
        admission: WorldAdmissionRules | None = None,
        behaviors: Behaviors | None = None,
        script_errors: ScriptErrors | None = None,
        node_troubles: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._name = name
        self._port = port
        self._since = since
        self._sessions = sessions
        self._kept: dict[bool, ServerStatus] = {}
        """The kept status, by whether it includes hidden players."""
        self.directory = directory
        self.world = world
        self.admission = admission
        self.behaviors = behaviors
        self.script_errors = script_errors
        self._node_troubles = node_troubles

    def status(self, now: Monotonic, rank: int = ANYBODY) -> ServerStatus:
        """Return the status, at most a second old, as a caller of `rank` may see it."""
        sees_hidden = may_see(rank, HIDDEN)
        kept = self._kept.get(sees_hidden)
        if kept is None or not 0 <= now - kept.taken < FRESH:
            kept = self._kept[sees_hidden] = self._take(now, rank)
        return kept

    def changed(self) -> None:
        """Drop the kept status: a player was hidden or shown."""
        self._kept.clear()

    def _take(self, now: Monotonic, rank: int) -> ServerStatus:
        listed = self.directory.listed() if self.directory is not None else []
        players = list(self.world.players) if self.world is not None else []
        here = [player for player in players if may_see(rank, player.spawn)]
        concealed = [player for player in players if not may_see(rank, player.spawn)]
        running = [] if self.world is None else [
            # A zone that runs only for hidden players would betray them.
            zone for zone in self.world.zones if zone.is_listed or may_see(rank, HIDDEN)
        ]  # fmt: skip
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
            # This world may be in the directory too, so the two numbers are not added.
            online=max(len(here), sum(world.players for world in listed)),
            map=definition.description if definition is not None else "",
            map_file=definition.file if definition is not None else "",
            worlds=worlds_of(listed),
            zones=self._zones(running, here, concealed),
            players=self._players(here, running),
            rules=tuple(sorted((name, value) for name, (value, _) in rules.items())),
            rule_sources={name: source for name, (_, source) in rules.items() if source},
            add_ons=self._add_ons(),
            sessions=self._sessions,
            troubles=self._troubles(running, now),
        )

    def _busiest(self, players: Sequence[Player]) -> ZoneDefinition | None:
        """Return the zone with the most players, else the one where most characters start."""
        if self.world is None:
            return None
        table = self.world.zones.table
        # Players whom the reader may not see do not count.
        ids = [player.zone.zone_id for player in players]
        ids = ids or [start.zone_id for rows in table.starts for start in rows]
        return table.get(Counter(ids).most_common(1)[0][0]) if ids else None

    def _zones(
        self, running: Iterable[Zone], players: Sequence[Player], concealed: Sequence[Player]
    ) -> tuple[ZoneStatus, ...]:
        """Return the zones as if the `concealed` players were not there."""
        if self.world is None:
            return ()
        inside: dict[Zone, list[Player]] = defaultdict(list)
        for player in players:
            inside[player.zone].append(player)
        return tuple(
            zone_status(
                zone,
                zone.definition,
                inside[zone],
                # The number of spawns must not betray a hidden player.
                spawns=len(zone) - sum(zone.spawn(one.spawn.id) is not None for one in concealed),
            )
            for zone in running
        )

    def _players(
        self, players: Sequence[Player], running: Sequence[Zone]
    ) -> tuple[PlayerStatus, ...]:
        if self.world is None:
            return ()
        return players_of(players, running, self.world.rules.game_master)

    def _rules(self, listed: Sequence[WorldEntry]) -> dict[str, tuple[str, str]]:
        """Return the public rules and their sources by name."""
        rules = {"version": (emu.__version__, ""), "worlds": (str(len(listed)), "login")}
        if self.world is not None:
            rules["max_level"] = str(self.world.rules.max_level), "world"
            rules["motd"] = self.world.rules.motd, "world"
        if self.admission is not None:
            rules["locked"] = "yes" if self.admission.locked else "no", "world"
            rules["max_players"] = str(self.admission.rules.max_players), "world"
        return rules | {f"world {entry.name}": (_word(entry), "login") for entry in listed}

    def _troubles(self, running: Iterable[Zone], now: Monotonic) -> tuple[str, ...]:
        # A login node without a world reports the faults of the cluster's nodes, too.
        found = [*self._node_troubles()]
        if self.world is not None:
            found += [
                f"zone {zone.definition.description} is stalled: {why}"
                for zone, why in self.world.zones.stalled(now)
            ]
        found += [
            f"{actor} in {zone.definition.description} failed repeatedly and is paused"
            for zone in running
            for actor in zone.paused_actors()
        ]
        if self.behaviors is not None:
            found += self.behaviors.switched_off()
        if self.script_errors is not None and (summary := self.script_errors.summary()):
            found.append(summary)
        return tuple(found[:MOST_TROUBLES])

    def _add_ons(self) -> tuple[AddOnStatus, ...]:
        if self.behaviors is None:
            return ()
        library = self.behaviors.library
        return tuple(AddOnStatus(name, *library.describe(name), active=True) for name in library)


def worlds_of(entries: Iterable[WorldEntry]) -> tuple[ListedWorldStatus, ...]:
    """Return the worlds of a login server's directory."""
    return tuple(
        ListedWorldStatus(entry.name, entry.up, entry.locked, entry.players) for entry in entries
    )


def zone_status(
    zone: Zone, definition: ZoneDefinition, inside: Sequence[Player], *, spawns: int
) -> ZoneStatus:
    """Return the status of a zone; `inside` are its players, `spawns` the number of its spawns."""
    pings = [ping for player in inside if (ping := player.client.ping())]
    return ZoneStatus(
        id=zone.zone_id,
        instance=zone.instance,
        name=definition.description,
        file=definition.file,
        players=len(inside),
        places=definition.population,
        spawns=spawns,
        ping=round(sum(pings) / len(pings)) if pings else 0,
    )


def players_of(
    players: Iterable[Player], running: Sequence[Zone], game_master: int
) -> tuple[PlayerStatus, ...]:
    """Return all players in the world; `running` are its zones, in their order.

    From the admin status `game_master` on, a player is shown as a game master.
    """
    # A status names zones by their position in its list.
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


def _word(entry: WorldEntry) -> str:
    state = "locked" if entry.locked else "up" if entry.up else "down"
    return f"{state}, {counted(entry.players, 'player')}"
