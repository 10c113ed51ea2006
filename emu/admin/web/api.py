"""The JSON that `/api/` gives: the status of the server in parts, and its description (OpenAPI).

Players' addresses are not told here: whoever opens the page need not be an administrator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any, Final, get_type_hints

from emu.admin.status import NO_ZONE, PlayerStatus, ServerStatus, WorldStatus, ZoneStatus
from emu.admin.web.desk import description
from emu.admin.web.recent import Login

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
