"""A running server's status: one value that every protocol reports, and its Source form.

`emu.net.admin.status` makes it from the services; each protocol's package serializes it. It
contains players' addresses: each protocol decides which fields anonymous senders may see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emu.texts import counted
from emu.times import Monotonic

NO_ZONE = -1
"""The zone index of a player who is changing zones."""


@dataclass(frozen=True, slots=True)
class ListedWorldStatus:
    """A world that is registered with this login server."""

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
    """The name that players know."""
    file: str
    """The file name that clients load."""
    players: int
    places: int
    """Maximum number of players in the instance; 0 for no limit."""
    spawns: int
    ping: int
    """The mean ping of its players, in milliseconds."""


@dataclass(frozen=True, slots=True)
class PlayerStatus:
    """A player in the world."""

    id: int
    """The character's id."""
    name: str
    level: int
    race: str
    class_: str
    zone: int
    """Index in `ServerStatus.zones`, or `NO_ZONE`."""
    since: Monotonic
    """When the player entered."""
    ping: int
    """Milliseconds; 0 while not measured."""
    address: str
    """The client's IP address."""
    link_dead: bool
    game_master: bool
    account: int = 0
    """The id of the character's account."""
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    """The position; Y is up."""


@dataclass(frozen=True, slots=True)
class AddOnStatus:
    """An extension of the server: a behavior."""

    name: str
    title: str
    version: str
    active: bool


@dataclass(frozen=True, slots=True)
class OpenPort:
    """An open listener.

    `key` is its setting, `protocol` UDP, TCP or UNIX, `address` the bound address. `counters` has
    the numbers of requests by reason or result.
    """

    key: str
    protocol: str
    address: str
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The whole server at one moment."""

    taken: Monotonic
    """When the status was made."""
    name: str
    game: str
    version: str
    """The version of the server program."""
    platform: str
    """The operating system, as `sys.platform`."""
    port: int
    """The UDP port to which game clients connect first; 0 while none is open."""
    since: Monotonic
    """When the server started."""
    locked: bool
    """Whether the world admits only game masters."""
    places: int
    """Maximum number of players in the world; 0 for no limit."""
    online: int
    """Players in all worlds that this server knows."""
    map: str
    """The zone with the most players; without players, the zone where new characters start."""
    map_file: str
    worlds: tuple[ListedWorldStatus, ...] = ()
    zones: tuple[ZoneStatus, ...] = ()
    players: tuple[PlayerStatus, ...] = ()
    """The players in this process's world, in the order in which they entered."""
    rules: tuple[tuple[str, str], ...] = ()
    """Names and values of the settings that are public, sorted by name."""
    rule_sources: Mapping[str, str] = field(default_factory=dict)
    """The component that a rule comes from, by the rule's name; rules of the server itself are
    absent.
    """
    add_ons: tuple[AddOnStatus, ...] = ()
    sessions: int = 0
    """Maximum number of client sessions at the port."""
    troubles: tuple[str, ...] = ()
    """Present faults, only for operators: stalled zones, paused spawns and viewers, behaviors that
    are switched off.
    """

    @property
    def capacity(self) -> int:
        """The maximum number of players, for protocols in which 0 would mean a full server."""
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
    """Return the lines of a ``status`` command: the server, then its players.

    A Source server shows its map as a file and a point; the point is always 0 here.
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
        "players": f"{len(status.players)} humans, 0 bots ({status.capacity} max)",
    }
    lines = [f"{name:<8}: {value}" for name, value in head.items()]
    return [*lines, "", COLUMNS, *(_row(status, player) for player in status.players)]


def _zones(status: ServerStatus) -> str:
    """Return the number of running zones, and the zone with the most players."""
    busiest = f", most players in {status.map}" if status.players else ""
    return f"{len(status.zones)}{busiest}"


def duration(seconds: float) -> str:
    """Return a duration as ``[hours:]minutes:seconds``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _row(status: ServerStatus, player: PlayerStatus) -> str:
    """Return a player's line. A link-dead player is "spawning", as on Source servers."""
    connected = duration(status.taken - player.since)
    state = "spawning" if player.link_dead else "active"
    return (
        f'#{player.id:>7} "{player.name}" EQ2:{player.id} {connected} {player.ping} 0 {state}'
        f" {player.address}"
    )
