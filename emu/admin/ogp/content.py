"""What OGP tells of our server: zones are its teams, behaviors its add-ons.

Fields that mean nothing in this game (frags, team scores, ...) are not told, and neither are
players' addresses: the protocol has no way yet to ask for them with a password. Source:
docs/protocol/administration/ogp.md#ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.ogp.body import Content
from emu.admin.ogp.colors import ColorChange, Name
from emu.admin.ogp.fields import NOT_ASSIGNED
from emu.admin.ogp.kinds import AddOnFlag, PlayerFlag, ServerFlags
from emu.admin.status import NO_ZONE, PlayerStatus, ServerStatus, ZoneStatus
from emu.times import Monotonic

POPULATION: Final = 15
"""Our type of limit, the last one that fits: players at once, and how many more may come."""
SYSTEMS: Final[Mapping[str, int]] = {"win32": 1, "cygwin": 1, "linux": 2, "darwin": 3}
"""Numbers of operating systems; 0 is any other."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """How an operator wants the server to appear."""

    game_id: int = 0
    host_name_colors: tuple[ColorChange, ...] = ()


class ContentSource:
    """Makes the content of the status, once for each that `status` returns."""

    def __init__(
        self, status: Callable[[Monotonic], ServerStatus], presentation: Presentation
    ) -> None:
        self._status = status
        self._presentation = presentation
        self._seen: ServerStatus | None = None
        self._kept = Content()

    def content(self, now: Monotonic) -> Content:
        """Return what is to be told now; the same object while it is the same."""
        status = self._status(now)
        if status is not self._seen:
            self._seen = status
            self._kept = content_of(status, self._presentation)
        return self._kept


def content_of(status: ServerStatus, presentation: Presentation) -> Content:
    """Return a status in the words of OGP."""
    return Content(
        game_id=presentation.game_id,
        server=_server(status, presentation),
        teams=[_team(zone) for zone in status.zones],
        players=[_player(status, slot, one) for slot, one in enumerate(status.players)],
        rules=status.rules,
        add_ons=[
            {
                "flags": AddOnFlag.ACTIVE if one.active else AddOnFlag(0),
                "short_name": one.name,
                "long_name": one.title,
                "version": one.version,
            }
            for one in status.add_ons
        ],
        limits=_limits(status),
    )


def _server(status: ServerStatus, presentation: Presentation) -> dict[str, Any]:
    return {
        "game_name": status.game,
        "server_flags": ServerFlags(system=SYSTEMS.get(status.platform, 0), password=status.locked),
        "mod": {"name": "", "dir": ""},
        "connect_port": status.port,
        "host_name": Name(status.name, presentation.host_name_colors),
        "map": {"name": status.map, "file": status.map_file},
        "next_map": {"name": "", "file": ""},
        "game_type": "MMORPG",
        "game_mode": "PvE",
        "player_count": status.online,
        "slot_max": status.room,
        "bot_count": 0,
        "reserved_slots": 0,
    }


def _team(zone: ZoneStatus) -> dict[str, Any]:
    name = f"{zone.name} {zone.instance + 1}" if zone.instance else zone.name
    return {"name": Name(name), "average_ping": zone.ping, "player_count": zone.players}


def _player(status: ServerStatus, slot: int, player: PlayerStatus) -> dict[str, Any]:
    flags = PlayerFlag.ALIVE | (PlayerFlag.VIP if player.game_master else PlayerFlag(0))
    return {
        "flags": flags,
        "slot": slot,
        "name": Name(player.name),
        "team": NOT_ASSIGNED if player.zone == NO_ZONE else player.zone,
        "class": player.class_,
        "race": player.race,
        "score": player.level,
        "id": player.id,
        "global_id": f"eq2:{player.id}",
        "ping": player.ping,
        "time": int(status.taken - player.since),
    }


def _limits(status: ServerStatus) -> list[dict[str, Any]]:
    if not status.places:
        return []
    left = max(0, status.places - len(status.players))
    return [{"type": POPULATION, "limit": status.places, "left": left}]
