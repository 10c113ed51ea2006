"""What can be asked: the tables, their columns, and where a status has their values.

Names that begin with ``x-`` are ours; the others are the protocol's. Source:
docs/protocol/administration/ssq.md#columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from emu.admin.ssq.rows import Cell
from emu.admin.status import NO_ZONE, ServerStatus

ALIASES: Final[Mapping[str, str]] = {
    "ping": "playerping",
    "name": "playername",
    "players": "numplayers",
    "max": "maxplayers",
}
"""Names that the protocol's examples use, beside those of its tables."""


SERVER: Final = "server"
"""The source of rules that no part of the server has brought along."""


class Told(NamedTuple):
    """What answers are made of."""

    status: ServerStatus
    host: str
    """Where clients of the game are told to go."""


@dataclass(frozen=True, slots=True)
class Column:
    """One thing that can be asked of each row of a table.

    `value` is given what all answers are made of and the table's own row.
    """

    name: str
    about: str
    value: Callable[[Told, Any], Cell]
    is_private: bool = False
    """Whether only those who are identified are told."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns that belong together; `is_list` unless it has one row, which all others share."""

    name: str
    columns: tuple[Column, ...]
    rows: Callable[[Told], Sequence[Any]]
    is_list: bool = True


def _flag(value: bool) -> Cell:
    return int(value)


def _zone_of(told: Told, zone: int) -> str:
    return "" if zone == NO_ZONE else told.status.zones[zone].name


INFO: Final = Table(
    "info",
    (
        Column("hostname", "name of this server", lambda told, _: told.status.name),
        Column("hostip", "address", lambda told, _: f"{told.host}:{told.status.port}"),
        Column("numplayers", "players", lambda told, _: told.status.online),
        Column("maxplayers", "most players", lambda told, _: told.status.room),
        Column("map", "current zone", lambda told, _: told.status.map),
        Column("x-version", "program", lambda told, _: told.status.version),
        Column("x-uptime", "seconds", lambda told, _: int(told.status.uptime)),
        Column("x-locked", "1 if locked", lambda told, _: _flag(told.status.locked)),
    ),
    lambda told: (told,),
    is_list=False,
)
PLAYERS: Final = Table(
    "players",
    (
        Column("playername", "name", lambda _, player: player.name),
        # The world counts neither yet: nobody can be killed in it.
        Column("frags", "kills", lambda _, _player: 0),
        Column("deaths", "deaths", lambda _, _player: 0),
        Column("playerping", "milliseconds", lambda _, player: player.ping),
        Column("playertime", "seconds", lambda told, player: int(told.status.taken - player.since)),
        Column("x-level", "level", lambda _, player: player.level),
        Column("x-race", "race", lambda _, player: player.race),
        Column("x-class", "class", lambda _, player: player.class_),
        Column("x-zone", "zone", lambda told, player: _zone_of(told, player.zone)),
        Column("x-linkdead", "1 if so", lambda _, player: _flag(player.link_dead)),
        Column("x-gm", "1 if so", lambda _, player: _flag(player.game_master)),
        Column("playerip", "address (private)", lambda _, player: player.address, is_private=True),
        Column("x-account", "id (private)", lambda _, player: player.account, is_private=True),
    ),
    lambda told: told.status.players,
)
RULES: Final = Table(
    "rules",
    (
        Column("rulename", "name", lambda _, rule: rule[0]),
        Column("rulevalue", "value", lambda _, rule: rule[1]),
        Column("source", "part", lambda told, rule: told.status.rule_sources.get(rule[0], SERVER)),
    ),
    lambda told: told.status.rules,
)
ZONES: Final = Table(
    "x-zones",
    (
        Column("x-zonename", "name", lambda _, zone: zone.name),
        Column("x-zonefile", "file", lambda _, zone: zone.file),
        Column("x-zoneinstance", "number", lambda _, zone: zone.instance),
        Column("x-zoneplayers", "players", lambda _, zone: zone.players),
        Column("x-zonemax", "most players", lambda _, zone: zone.places),
        Column("x-zonespawns", "spawns", lambda _, zone: zone.spawns),
        Column("x-zoneping", "milliseconds", lambda _, zone: zone.ping),
    ),
    lambda told: told.status.zones,
)
WORLDS: Final = Table(
    "x-worlds",
    (
        Column("x-worldname", "name", lambda _, world: world.name),
        Column("x-worldup", "1 if up", lambda _, world: _flag(world.up)),
        Column("x-worldlocked", "1 if locked", lambda _, world: _flag(world.locked)),
        Column("x-worldplayers", "players", lambda _, world: world.players),
    ),
    lambda told: told.status.worlds,
)
TABLES: Final = (INFO, PLAYERS, RULES, ZONES, WORLDS)

PROCEDURES: Final[Mapping[str, str]] = {
    "players": "playername,ping,frags,deaths",
    "rules": "rulename,rulevalue",
    "info": "hostname,hostip,numplayers,maxplayers,map",
    "x-zones": ",".join(column.name for column in ZONES.columns),
    "x-worlds": ",".join(column.name for column in WORLDS.columns),
}
"""The questions kept here, by name: the columns that each selects."""
