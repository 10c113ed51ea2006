"""The JSON under `/api/`: status, recent events, and the OpenAPI description.

Only signed-in users with a rank read it; players' addresses are left out even so. The recent events
are bounded and kept in memory only. Timestamps are UTC.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, get_type_hints

from emu.admin.status import NO_ZONE, ListedWorldStatus, PlayerStatus, ServerStatus, ZoneStatus
from emu.admin.web import description
from emu.times import Moment

LOGINS: Final = 200
LINES: Final = 500
MINUTE: Final = 60.0
MINUTES: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Login:
    """A login attempt that was answered."""

    moment: Moment
    account: str
    client: int
    accepted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log."""

    moment: Moment
    level: str
    area: str
    text: str


@dataclass(frozen=True, slots=True)
class PlayerCounts:
    """The maximum number of players in each minute."""

    moment: Moment
    players: int


class Recent:
    """The recent events, bounded."""

    def __init__(self) -> None:
        self.logins: deque[Login] = deque(maxlen=LOGINS)
        self.lines: deque[Line] = deque(maxlen=LINES)
        self.population: deque[PlayerCounts] = deque(maxlen=MINUTES)

    def count_players(self, players: int, moment: Moment) -> None:
        """Record the present number of players."""
        # The start of the minute, so that all counts of a minute have one entry.
        minute = Moment(moment - moment % MINUTE)
        last = self.population[-1] if self.population else None
        if last is not None and last.moment == minute:
            # The maximum: a minute with a short peak must show the peak.
            self.population[-1] = PlayerCounts(minute, max(players, last.players))
        else:
            self.population.append(PlayerCounts(minute, players))


Json = dict[str, Any] | list[Any]
WITHHELD: Final = frozenset(("address", "account"))
COPIED: Final = tuple(
    field.name for field in fields(PlayerStatus) if field.name not in (*WITHHELD, "since")
)
"""The fields that a player's JSON copies.

It is a constant because a thousand players are serialized every other second.
"""
SUMMARY: Final = (
    "name", "game", "version", "platform", "port", "locked", "places", "online", "map", "map_file",
)  # fmt: skip


def summary(status: ServerStatus) -> dict[str, Any]:
    """Return the server's status."""
    value: dict[str, Any] = {name: getattr(status, name) for name in SUMMARY}
    value["uptime"] = math.floor(status.uptime)
    value["players"] = len(status.players)
    value["zones"] = len(status.zones)
    value["rules"] = dict(status.rules)
    value["behaviors"] = [asdict(one) for one in status.add_ons]
    return value


def worlds(status: ServerStatus) -> list[dict[str, Any]]:
    """Return the worlds that are registered here."""
    return [asdict(world) for world in status.worlds]


def zones(status: ServerStatus) -> list[dict[str, Any]]:
    """Return the running zones."""
    return [asdict(zone) for zone in status.zones]


def players(status: ServerStatus) -> list[dict[str, Any]]:
    """Return the players in the world, with the names of their zones."""
    return [_player(status, player) for player in status.players]


def _player(status: ServerStatus, player: PlayerStatus) -> dict[str, Any]:
    value = {name: getattr(player, name) for name in COPIED}
    zone = status.zones[player.zone] if player.zone != NO_ZONE else None
    value["zone"] = zone.name if zone is not None else ""
    value["zone_id"] = zone.id if zone is not None else None
    value["instance"] = zone.instance if zone is not None else None
    value["online"] = math.floor(status.taken - player.since)
    return value


def logins(entries: Sequence[Login]) -> list[dict[str, Any]]:
    """Return the last logins and refusals, the newest first."""
    return [asdict(entry) for entry in reversed(entries)]


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
        "/api/status": ("The status of the server.", {"type": "object"}),
        "/api/worlds": ("The worlds registered here.", _list(_schema(ListedWorldStatus))),
        "/api/zones": ("The running zones.", _list(_schema(ZoneStatus))),
        "/api/players": ("The players in the world.", _list(_schema(PlayerStatus, WITHHELD))),
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


STATUS_ANSWERS: Final[dict[str, Callable[[ServerStatus], Json]]] = {
    "status": summary,
    "worlds": worlds,
    "zones": zones,
    "players": players,
}
"""The answers that depend only on the status, by the last component of their path."""
