"""A running server's status: one value, the same for every protocol, and its Source form.

`emu.net.admin.status` makes it of the services; the protocols' rooms say it in their own words.
Players' addresses are in it: what an endpoint tells strangers is that endpoint's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emu.texts import counted
from emu.times import Monotonic

NO_ZONE = -1
"""Zone of a player who is on the way from one to another."""


@dataclass(frozen=True, slots=True)
class WorldStatus:
    """A world that is registered with the login service here."""

    name: str
    up: bool
    locked: bool
    players: int


@dataclass(frozen=True, slots=True)
class ZoneStatus:
    """A running instance of a zone."""

    id: int
    instance: int
    name: str
    """As people know it."""
    file: str
    """What clients load it by."""
    players: int
    places: int
    """Players that the instance has room for; 0 is no limit."""
    spawns: int
    ping: int
    """Milliseconds, the mean of its players'."""


@dataclass(frozen=True, slots=True)
class PlayerStatus:
    """Somebody who is in the world."""

    id: int
    """The character's."""
    name: str
    level: int
    race: str
    class_: str
    zone: int
    """Index in `ServerStatus.zones`, or `NO_ZONE`."""
    since: Monotonic
    """When it came in."""
    ping: int
    """Milliseconds; 0 while not measured."""
    address: str
    """The client's IP address."""
    link_dead: bool
    game_master: bool
    account: int = 0
    """Number of the account it belongs to."""
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    """Where it stands; Y is up."""


@dataclass(frozen=True, slots=True)
class AddOnStatus:
    """Something that was added to the server: a behavior."""

    name: str
    title: str
    version: str
    active: bool


@dataclass(frozen=True, slots=True)
class OpenPort:
    """A port or socket that listens.

    `key` is its setting, `protocol` UDP, TCP or UNIX, `address` where it is bound; `counters` is
    what came of those who came, by reason or result.
    """

    key: str
    protocol: str
    address: str
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The whole server at one time."""

    taken: Monotonic
    """When it was so."""
    name: str
    game: str
    version: str
    """The server program's."""
    platform: str
    """As `sys.platform`."""
    port: int
    """UDP port that clients of the game begin at; 0 while none is open."""
    since: Monotonic
    """When the server started."""
    locked: bool
    """Whether only game masters may come in."""
    places: int
    """Players that the world has room for; 0 is no limit."""
    online: int
    """Players in all worlds that are known here."""
    map: str
    """The zone that most players are in; with nobody there, the one where characters begin."""
    map_file: str
    worlds: tuple[WorldStatus, ...] = ()
    zones: tuple[ZoneStatus, ...] = ()
    players: tuple[PlayerStatus, ...] = ()
    """In the world of this process, the first who came in first."""
    rules: tuple[tuple[str, str], ...] = ()
    """Names and values of settings that anybody may know, by name."""
    rule_sources: Mapping[str, str] = field(default_factory=dict)
    """Which part of the server a rule comes from, by its name; the server itself is not named."""
    add_ons: tuple[AddOnStatus, ...] = ()
    sessions: int = 0
    """Clients that the port takes at once."""
    troubles: tuple[str, ...] = ()
    """What does not work as it should, for operators only: zones that are stalled, spawns and
    players' views that are paused, behaviors that are switched off."""

    @property
    def room(self) -> int:
        """Players that can be here, for protocols in which 0 would say that it is full."""
        return self.places or self.sessions

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return self.taken - self.since


def in_short(status: ServerStatus) -> str:
    """Return the status as one line."""
    players, zones = counted(len(status.players), "player"), counted(len(status.zones), "zone")
    return f"{players} in {zones}, {counted(len(status.worlds), 'world')}"


COLUMNS = "# userid name uniqueid connected ping loss state adr"


def status_lines(status: ServerStatus) -> list[str]:
    """Return the lines of a status: the server, then its players.

    The map is a file and a point, as there; nobody looks at a dedicated server's point.
    """
    head = {
        "hostname": status.name,
        "version": f"{status.version} ({status.game})",
        "port": str(status.port),
        "map": f"{status.map_file or 'none'} at: 0 x, 0 y, 0 z",
        "uptime": duration(status.uptime),
        "worlds": ", ".join(world.name for world in status.worlds) or "none",
        "zones": _zones(status),
        "locked": "yes" if status.locked else "no",
        "players": f"{len(status.players)} humans, 0 bots ({status.room} max)",
    }
    lines = [f"{name:<8}: {value}" for name, value in head.items()]
    return [*lines, "", COLUMNS, *(_row(status, player) for player in status.players)]


def _zones(status: ServerStatus) -> str:
    """Return how many zones run, and the one where most players are."""
    busiest = f", most players in {status.map}" if status.players else ""
    return f"{len(status.zones)}{busiest}"


def duration(seconds: float) -> str:
    """Return a duration as ``[hours:]minutes:seconds``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _row(status: ServerStatus, player: PlayerStatus) -> str:
    """Return a player's line; the state of one whose link is gone is "spawning", as there."""
    connected = duration(status.taken - player.since)
    state = "spawning" if player.link_dead else "active"
    return (
        f'#{player.id:>7} "{player.name}" EQ2:{player.id} {connected} {player.ping} 0 {state}'
        f" {player.address}"
    )
