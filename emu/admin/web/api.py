"""The JSON under `/api/`: status, recent events, and the OpenAPI description.

Anybody can open the page. So players' addresses are left out, and for visitors who are not signed
in also the names of accounts. The recent events are bounded and kept in memory only. Timestamps are
UTC.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from ipaddress import ip_address
from typing import Any, Final, get_type_hints

from emu.admin.status import NO_ZONE, ListedWorldStatus, PlayerStatus, ServerStatus, ZoneStatus
from emu.admin.web import description
from emu.times import Moment

LOGINS: Final = 200
LINES: Final = 500
MINUTE: Final = 60.0
MINUTES: Final = 24 * 60
WITHHELD_TEXT: Final = "\N{HORIZONTAL ELLIPSIS}"
"""The replacement of a text that a visitor may not read."""
UNKNOWN_NAME: Final = "no such account"
WRONG: Final = "bad password"
"""The reason that visitors read for a wrong name and for a wrong password.

Two reasons would show which accounts exist.
"""
_MAYBE_ADDRESS: Final = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|(?<![\w:])[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*\w"
)


@dataclass(frozen=True, slots=True)
class Login:
    """A login attempt that was answered."""

    moment: Moment
    account: str
    client: int
    accepted: bool
    reason: str = ""

    def shown(self, *, to_staff: bool) -> dict[str, Any]:
        """Return the entry as JSON; only staff gets the name that was typed."""
        value = asdict(self)
        if not to_staff:
            value["account"] = WITHHELD_TEXT
            if self.reason == UNKNOWN_NAME:
                value["reason"] = WRONG
        return value


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
        """Return the line as JSON: the whole text for staff, the public text for others."""
        value = asdict(self)
        public = value.pop("public")
        return value if to_staff else value | {"text": public}


@dataclass(frozen=True, slots=True)
class PlayerCounts:
    """The maximum number of players in each minute."""

    moment: Moment
    players: int


def without_addresses(line: str) -> str:
    """Return a line of the log with IP addresses replaced, except loopback addresses.

    Anybody can open the page.
    """
    return _MAYBE_ADDRESS.sub(_withheld, line)


def _withheld(found: re.Match[str]) -> str:
    try:
        address = ip_address(found[0])
    except ValueError:
        return found[0]
    return found[0] if address.is_loopback or address.is_unspecified else WITHHELD_TEXT


class Recent:
    """The recent events, bounded."""

    def __init__(self) -> None:
        self.logins: deque[Login] = deque(maxlen=LOGINS)
        self.lines: deque[Line] = deque(maxlen=LINES)
        self.population: deque[PlayerCounts] = deque(maxlen=MINUTES)

    def count_players(self, players: int, moment: Moment) -> None:
        """Record the present number of players."""
        minute = Moment(moment - moment % MINUTE)
        last = self.population[-1] if self.population else None
        if last is not None and last.moment == minute:
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
