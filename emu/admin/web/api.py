"""The JSON under `/api/`: status, the last hours, and the OpenAPI description.

Players' addresses are not told here, nor, to visitors who are not signed in, names of accounts:
whoever opens the page need not be an administrator.

All of it is bounded and gone with the process. Knows no page; moments are UTC.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from ipaddress import ip_address
from typing import Any, Final, get_type_hints

from emu.admin.status import NO_ZONE, PlayerStatus, ServerStatus, WorldStatus, ZoneStatus
from emu.admin.web import description
from emu.times import Moment

LOGINS: Final = 200
LINES: Final = 500
MINUTE: Final = 60.0
MINUTES: Final = 24 * 60
WITHHELD_TEXT: Final = "\N{HORIZONTAL ELLIPSIS}"
"""What stands in place of a text that a visitor may not read."""
UNKNOWN_NAME: Final = "no such account"
WRONG: Final = "bad password"
"""What a visitor reads for both, who would learn otherwise which accounts there are."""
_MAYBE_ADDRESS: Final = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|(?<![\w:])[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*\w"
)


@dataclass(frozen=True, slots=True)
class Login:
    """A login that was answered."""

    moment: Moment
    account: str
    client: int
    accepted: bool
    reason: str = ""

    def shown(self, *, to_staff: bool) -> dict[str, Any]:
        """Return what a visitor may read: staff everything, others no name that was typed."""
        told = asdict(self)
        if not to_staff:
            told["account"] = WITHHELD_TEXT
            if self.reason == UNKNOWN_NAME:
                told["reason"] = WRONG
        return told


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log."""

    moment: Moment
    level: str
    area: str
    text: str
    public: str = WITHHELD_TEXT
    """The text without names, addresses and commands."""

    def shown(self, *, to_staff: bool) -> dict[str, Any]:
        """Return what a visitor may read: staff the whole text, others the public one."""
        told = asdict(self)
        public = told.pop("public")
        return told if to_staff else told | {"text": public}


@dataclass(frozen=True, slots=True)
class PlayerCounts:
    """How many players there were at most within a minute."""

    moment: Moment
    players: int


def without_addresses(line: str) -> str:
    """Return a line of the log in which nobody's IP address stands; those of the machine itself do.

    Whoever opens the page need not be an administrator.
    """
    return _MAYBE_ADDRESS.sub(_withheld, line)


def _withheld(found: re.Match[str]) -> str:
    try:
        address = ip_address(found[0])
    except ValueError:
        return found[0]
    return found[0] if address.is_loopback or address.is_unspecified else WITHHELD_TEXT


class Recent:
    """Remembers the last of everything."""

    def __init__(self) -> None:
        self.logins: deque[Login] = deque(maxlen=LOGINS)
        self.lines: deque[Line] = deque(maxlen=LINES)
        self.population: deque[PlayerCounts] = deque(maxlen=MINUTES)

    def count_players(self, players: int, moment: Moment) -> None:
        """Note how many players there are."""
        minute = Moment(moment - moment % MINUTE)
        last = self.population[-1] if self.population else None
        if last is not None and last.moment == minute:
            self.population[-1] = PlayerCounts(minute, max(players, last.players))
        else:
            self.population.append(PlayerCounts(minute, players))


Json = dict[str, Any] | list[Any]
WITHHELD: Final = frozenset(("address", "account"))
TOLD: Final = tuple(
    field.name for field in fields(PlayerStatus) if field.name not in (*WITHHELD, "since")
)
"""What is told of a player as it is; a thousand of them are told every other second."""
SUMMARY: Final = (
    "name", "game", "version", "platform", "port", "locked", "places", "online", "map", "map_file",
)  # fmt: skip


def summary(status: ServerStatus) -> dict[str, Any]:
    """Return the server as a whole."""
    told: dict[str, Any] = {name: getattr(status, name) for name in SUMMARY}
    told["uptime"] = math.floor(status.uptime)
    told["players"] = len(status.players)
    told["zones"] = len(status.zones)
    told["rules"] = dict(status.rules)
    told["behaviors"] = [asdict(one) for one in status.add_ons]
    return told


def worlds(status: ServerStatus) -> list[dict[str, Any]]:
    """Return the worlds that are registered here."""
    return [asdict(world) for world in status.worlds]


def zones(status: ServerStatus) -> list[dict[str, Any]]:
    """Return the zones that run."""
    return [asdict(zone) for zone in status.zones]


def players(status: ServerStatus) -> list[dict[str, Any]]:
    """Return who is in the world, with the zone by its name."""
    return [_player(status, player) for player in status.players]


def _player(status: ServerStatus, player: PlayerStatus) -> dict[str, Any]:
    told = {name: getattr(player, name) for name in TOLD}
    zone = status.zones[player.zone] if player.zone != NO_ZONE else None
    told["zone"] = zone.name if zone is not None else ""
    told["zone_id"] = zone.id if zone is not None else None
    told["instance"] = zone.instance if zone is not None else None
    told["online"] = math.floor(status.taken - player.since)
    return told


def logins(entries: Sequence[Login], *, to_staff: bool = False) -> list[dict[str, Any]]:
    """Return the last logins and refusals, the newest first."""
    return [entry.shown(to_staff=to_staff) for entry in reversed(entries)]


_TYPES: Final = {int: "integer", float: "number", str: "string", bool: "boolean"}


def _schema(kind: type, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON schema of a plain record."""
    hints = get_type_hints(kind)
    properties = {
        field.name: {"type": _TYPES.get(hints[field.name], "number")}
        for field in fields(kind)
        if field.name not in without
    }
    return {"type": "object", "properties": properties}


def openapi(version: str) -> dict[str, Any]:
    """Return the description of `/api/` in OpenAPI 3.1."""
    listed: dict[str, tuple[str, dict[str, Any]]] = {
        "/api/status": ("The server as a whole.", {"type": "object"}),
        "/api/worlds": ("The worlds registered here.", _list(_schema(WorldStatus))),
        "/api/zones": ("The zones that run.", _list(_schema(ZoneStatus))),
        "/api/players": ("Who is in the world.", _list(_schema(PlayerStatus, WITHHELD))),
        "/api/logins": ("The last logins and refusals.", _list(_schema(Login))),
        "/api/population": ("Players by minute.", _list({"type": "object"})),
        "/api/opcodes/history": ("Changes of the opcode tables.", _list({"type": "object"})),
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "emu", "version": version},
        "paths": {path: _path(about, schema) for path, (about, schema) in listed.items()}
        | description.paths(),
        "components": {"securitySchemes": description.SECURITY},
    }


def _list(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def _path(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"get": {"summary": about, "responses": {"200": {"description": about,
                                                            "content": content}}}}  # fmt: skip


PARTS: Final[dict[str, Callable[[ServerStatus], Json]]] = {
    "status": summary,
    "worlds": worlds,
    "zones": zones,
    "players": players,
}
"""What follows from the status alone, by the last part of its address."""
