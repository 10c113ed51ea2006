"""SSQ's tables and columns, and the selection of rows.

Names that begin with ``x-`` are ours; the others are the protocol's. Source:
docs/protocol/administration/ssq.md#columns.

Columns of the table with one row stand in every row; rows of two lists stand one after another and
are never multiplied. A column that a row has not is an empty cell, and no comparison with it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from emu.admin.ssq.query import NOTHING, NULL_HEADER, Cell, Headers, Select, push_row
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


class SsqContent(NamedTuple):
    """What answers are made of."""

    status: ServerStatus
    host: str
    """Where clients of the game are told to go."""


@dataclass(frozen=True, slots=True)
class SsqColumn:
    """One thing that can be asked of each row of a table.

    `value` is given what all answers are made of and the table's own row.
    """

    name: str
    about: str
    value: Callable[[SsqContent, Any], Cell]
    is_private: bool = False
    """Whether only those who are identified are told."""


@dataclass(frozen=True, slots=True)
class SsqTable:
    """Columns that belong together; `is_list` unless it has one row, which all others share."""

    name: str
    columns: tuple[SsqColumn, ...]
    rows: Callable[[SsqContent], Sequence[Any]]
    is_list: bool = True


def _flag(value: bool) -> Cell:
    return int(value)


def _zone_of(told: SsqContent, zone: int) -> str:
    return "" if zone == NO_ZONE else told.status.zones[zone].name


INFO: Final = SsqTable(
    "info",
    (
        SsqColumn("hostname", "name of this server", lambda told, _: told.status.name),
        SsqColumn("hostip", "address", lambda told, _: f"{told.host}:{told.status.port}"),
        SsqColumn("numplayers", "players", lambda told, _: told.status.online),
        SsqColumn("maxplayers", "most players", lambda told, _: told.status.room),
        SsqColumn("map", "current zone", lambda told, _: told.status.map),
        SsqColumn("x-version", "program", lambda told, _: told.status.version),
        SsqColumn("x-uptime", "seconds", lambda told, _: int(told.status.uptime)),
        SsqColumn("x-locked", "1 if locked", lambda told, _: _flag(told.status.locked)),
    ),
    lambda told: (told,),
    is_list=False,
)
PLAYERS: Final = SsqTable(
    "players",
    (
        SsqColumn("playername", "name", lambda _, player: player.name),
        # The world counts neither yet: nobody can be killed in it.
        SsqColumn("frags", "kills", lambda _, _player: 0),
        SsqColumn("deaths", "deaths", lambda _, _player: 0),
        SsqColumn("playerping", "milliseconds", lambda _, player: player.ping),
        SsqColumn(
            "playertime", "seconds", lambda told, player: int(told.status.taken - player.since)
        ),
        SsqColumn("x-level", "level", lambda _, player: player.level),
        SsqColumn("x-race", "race", lambda _, player: player.race),
        SsqColumn("x-class", "class", lambda _, player: player.class_),
        SsqColumn("x-zone", "zone", lambda told, player: _zone_of(told, player.zone)),
        SsqColumn("x-linkdead", "1 if so", lambda _, player: _flag(player.link_dead)),
        SsqColumn("x-gm", "1 if so", lambda _, player: _flag(player.game_master)),
        SsqColumn(
            "playerip", "address (private)", lambda _, player: player.address, is_private=True
        ),
        SsqColumn("x-account", "id (private)", lambda _, player: player.account, is_private=True),
    ),
    lambda told: told.status.players,
)
RULES: Final = SsqTable(
    "rules",
    (
        SsqColumn("rulename", "name", lambda _, rule: rule[0]),
        SsqColumn("rulevalue", "value", lambda _, rule: rule[1]),
        SsqColumn(
            "source", "part", lambda told, rule: told.status.rule_sources.get(rule[0], SERVER)
        ),
    ),
    lambda told: told.status.rules,
)
ZONES: Final = SsqTable(
    "x-zones",
    (
        SsqColumn("x-zonename", "name", lambda _, zone: zone.name),
        SsqColumn("x-zonefile", "file", lambda _, zone: zone.file),
        SsqColumn("x-zoneinstance", "number", lambda _, zone: zone.instance),
        SsqColumn("x-zoneplayers", "players", lambda _, zone: zone.players),
        SsqColumn("x-zonemax", "most players", lambda _, zone: zone.places),
        SsqColumn("x-zonespawns", "spawns", lambda _, zone: zone.spawns),
        SsqColumn("x-zoneping", "milliseconds", lambda _, zone: zone.ping),
    ),
    lambda told: told.status.zones,
)
WORLDS: Final = SsqTable(
    "x-worlds",
    (
        SsqColumn("x-worldname", "name", lambda _, world: world.name),
        SsqColumn("x-worldup", "1 if up", lambda _, world: _flag(world.up)),
        SsqColumn("x-worldlocked", "1 if locked", lambda _, world: _flag(world.locked)),
        SsqColumn("x-worldplayers", "players", lambda _, world: world.players),
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


Known = dict[str, tuple[SsqTable, SsqColumn]]
"""Columns by name, aliases too."""


def known_columns(tables: Sequence[SsqTable], *, private: bool) -> Known:
    """Return the columns that somebody may see, `private` ones too or not."""
    known: Known = {
        column.name: (table, column)
        for table in tables
        for column in table.columns
        if private or not column.is_private
    }
    return known | {alias: known[name] for alias, name in ALIASES.items() if name in known}


class Selection:
    """One selection with the columns it means."""

    __slots__ = ("_asked", "_headers", "_known", "_select", "_shown", "_tables")

    def __init__(self, select: Select, known: Known, preferred: Headers = Headers.NORMAL) -> None:
        """`preferred` is the form of the header row where the selection names none."""
        self._select = select
        self._headers = select.headers or preferred
        self._known = known
        self._asked = [known.get(name) for name in select.columns]
        self._shown = [found for found in self._asked if found is not None]
        self._tables = list({table.name: table for table, _ in self._shown}.values())

    def body(self, told: SsqContent, room: int, most_cells: int) -> tuple[bytes, bool]:
        """Return the answer's body, and whether something was left out.

        Only whole rows that fit into `room` bytes; no more rows are looked at than have
        `most_cells` cells, compared ones counted.
        """
        if not self._shown:
            return NOTHING, False
        body = [self._header()]
        size = len(body[0])
        where = self._select.where
        left = most_cells // (len(self._shown) + (where.size if where is not None else 0))
        for own, row in self._rows(told):
            left -= 1
            if left < 0:
                return b"".join(body), True
            if where is not None and not where.holds(partial(self._find, told, own, row)):
                continue
            written = push_row(self._cells(told, own, row))
            size += len(written)
            if size > room:
                return b"".join(body), True
            body.append(written)
        return (b"".join(body), False) if size <= room else (NOTHING, True)

    def _header(self) -> bytes:
        form = self._headers
        if form is Headers.NORMAL:
            asked = zip(self._select.columns, self._asked, strict=True)
            return push_row([name for name, found in asked if found is not None])
        if form is Headers.NULL and len(self._shown) == len(self._asked):
            return NULL_HEADER
        return push_row([int(found is not None) for found in self._asked])

    def _rows(self, told: SsqContent) -> Iterator[tuple[SsqTable | None, Any]]:
        """Yield each row with the list it is of; None for the table with one row, told alone."""
        anything = False
        for table in self._tables:
            if table.is_list:
                for row in table.rows(told):
                    anything = True
                    yield table, row
        if not anything and any(not table.is_list for table in self._tables):
            yield None, None

    def _cells(self, told: SsqContent, own: SsqTable | None, row: Any) -> Iterator[Cell]:
        for table, column in self._shown:
            if table.is_list and table is not own:
                yield ""
            else:
                yield column.value(told, row)

    def _find(self, told: SsqContent, own: SsqTable | None, row: Any, name: str) -> Cell | None:
        """Return the cell of a row for a condition, None for what it has not."""
        table, column = self._known.get(name, _UNKNOWN)
        if column is None or (table is not None and table.is_list and table is not own):
            return None
        return column.value(told, row)


_UNKNOWN: Final[tuple[SsqTable | None, SsqColumn | None]] = (None, None)
