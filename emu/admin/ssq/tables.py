"""SSQ's tables and columns, and the selection of rows.

Names that begin with ``x-`` are this server's; the others are the protocol's. Columns of the table
with one row are in every row. The rows of two lists follow each other and are never multiplied. If
a row lacks a column, its cell is empty and every comparison with it is false.

Source: docs/protocol/administration/ssq.md#columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from emu.admin.ssq.query import NOTHING, NULL_HEADER, Cell, Headers, Select, push_row
from emu.admin.status import NO_ZONE, ServerStatus
from emu.limits.addresses import host_port

ALIASES: Final[Mapping[str, str]] = {
    "ping": "playerping",
    "name": "playername",
    "players": "numplayers",
    "max": "maxplayers",
}
"""Names that the protocol's examples use in addition to those of its tables."""


SERVER: Final = "server"
"""The source of rules of the server itself."""


class SsqContent(NamedTuple):
    """The content of answers."""

    status: ServerStatus
    host: str
    """The address that game clients connect to."""


@dataclass(frozen=True, slots=True)
class SsqColumn:
    """One column of a table. `value` gets the content and the table's row."""

    name: str
    about: str
    value: Callable[[SsqContent, Any], Cell]
    is_private: bool = False
    """Whether only senders with a token get it."""


@dataclass(frozen=True, slots=True)
class SsqTable:
    """A table of columns; `is_list` unless it has one row, which all other rows share."""

    name: str
    columns: tuple[SsqColumn, ...]
    rows: Callable[[SsqContent], Sequence[Any]]
    is_list: bool = True


def _flag(value: bool) -> Cell:
    return int(value)


def _zone_of(content: SsqContent, zone: int) -> str:
    return "" if zone == NO_ZONE else content.status.zones[zone].name


INFO: Final = SsqTable(
    "info",
    (
        SsqColumn("hostname", "name of this server", lambda content, _: content.status.name),
        SsqColumn(
            "hostip", "address", lambda content, _: host_port(content.host, content.status.port)
        ),
        SsqColumn("numplayers", "players", lambda content, _: content.status.online),
        SsqColumn("maxplayers", "most players", lambda content, _: content.status.capacity),
        SsqColumn("map", "current zone", lambda content, _: content.status.map),
        SsqColumn("x-version", "program", lambda content, _: content.status.version),
        SsqColumn("x-uptime", "seconds", lambda content, _: int(content.status.uptime)),
        SsqColumn("x-locked", "1 if locked", lambda content, _: _flag(content.status.locked)),
    ),
    lambda content: (content,),
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
            "playertime",
            "seconds",
            lambda content, player: int(content.status.taken - player.since),
        ),
        SsqColumn("x-level", "level", lambda _, player: player.level),
        SsqColumn("x-race", "race", lambda _, player: player.race),
        SsqColumn("x-class", "class", lambda _, player: player.class_),
        SsqColumn("x-zone", "zone", lambda content, player: _zone_of(content, player.zone)),
        SsqColumn("x-linkdead", "1 if so", lambda _, player: _flag(player.link_dead)),
        SsqColumn("x-gm", "1 if so", lambda _, player: _flag(player.game_master)),
        SsqColumn(
            "playerip", "address (private)", lambda _, player: player.address, is_private=True
        ),
        SsqColumn("x-account", "id (private)", lambda _, player: player.account, is_private=True),
    ),
    lambda content: content.status.players,
)
RULES: Final = SsqTable(
    "rules",
    (
        SsqColumn("rulename", "name", lambda _, rule: rule[0]),
        SsqColumn("rulevalue", "value", lambda _, rule: rule[1]),
        SsqColumn(
            "source", "part", lambda content, rule: content.status.rule_sources.get(rule[0], SERVER)
        ),
    ),
    lambda content: content.status.rules,
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
    lambda content: content.status.zones,
)
WORLDS: Final = SsqTable(
    "x-worlds",
    (
        SsqColumn("x-worldname", "name", lambda _, world: world.name),
        SsqColumn("x-worldup", "1 if up", lambda _, world: _flag(world.up)),
        SsqColumn("x-worldlocked", "1 if locked", lambda _, world: _flag(world.locked)),
        SsqColumn("x-worldplayers", "players", lambda _, world: world.players),
    ),
    lambda content: content.status.worlds,
)
TABLES: Final = (INFO, PLAYERS, RULES, ZONES, WORLDS)

PROCEDURES: Final[Mapping[str, str]] = {
    "players": "playername,ping,frags,deaths",
    "rules": "rulename,rulevalue",
    "info": "hostname,hostip,numplayers,maxplayers,map",
    "x-zones": ",".join(column.name for column in ZONES.columns),
    "x-worlds": ",".join(column.name for column in WORLDS.columns),
}
"""The stored procedures by name: the columns that each selects."""


Known = dict[str, tuple[SsqTable, SsqColumn]]
"""Columns by name, aliases included."""


def known_columns(tables: Sequence[SsqTable], *, private: bool) -> Known:
    """Return the columns that a sender may see, with or without the `private` ones."""
    known: Known = {
        column.name: (table, column)
        for table in tables
        for column in table.columns
        if private or not column.is_private
    }
    return known | {alias: known[name] for alias, name in ALIASES.items() if name in known}


class Selection:
    """One selection with its columns."""

    __slots__ = ("_asked", "_headers", "_known", "_select", "_shown", "_tables")

    def __init__(self, select: Select, known: Known, preferred: Headers = Headers.NORMAL) -> None:
        """`preferred` is the form of the header row if the selection names none."""
        self._select = select
        self._headers = select.headers or preferred
        # The order of the question is kept, also for columns that do not exist.
        self._known = known
        self._asked = [known.get(name) for name in select.columns]
        # Private columns are unknown to a sender without a token, so they are not shown.
        self._shown = [found for found in self._asked if found is not None]
        # Each table once, in the order of its first column.
        self._tables = list({table.name: table for table, _ in self._shown}.values())

    def body(self, content: SsqContent, most_bytes: int, most_cells: int) -> tuple[bytes, bool]:
        """Return the answer's body, and whether rows were left out.

        The body has whole rows, at most `most_bytes`. At most `most_cells` cells are read,
        including those of conditions: a query must not cost more time than its answer is worth.
        """
        if not self._shown:
            return NOTHING, False
        body = [self._header()]
        size = len(body[0])
        where = self._select.where
        # The conditions are computed for each row, so their comparisons count like cells.
        left = most_cells // (len(self._shown) + (where.size if where is not None else 0))
        for own, row in self._rows(content):
            left -= 1
            if left < 0:
                return b"".join(body), True
            # A row that does not match has been paid for above.
            if where is not None and not where.holds(partial(self._find, content, own, row)):
                continue
            written = push_row(self._cells(content, own, row))
            size += len(written)
            # Whole rows only: a client cannot read half a row.
            if size > most_bytes:
                return b"".join(body), True
            body.append(written)
        return (b"".join(body), False) if size <= most_bytes else (NOTHING, True)

    def _header(self) -> bytes:
        form = self._headers
        if form is Headers.NORMAL:
            asked = zip(self._select.columns, self._asked, strict=True)
            return push_row([name for name, found in asked if found is not None])
        if form is Headers.NULL and len(self._shown) == len(self._asked):
            return NULL_HEADER
        return push_row([int(found is not None) for found in self._asked])

    def _rows(self, content: SsqContent) -> Iterator[tuple[SsqTable | None, Any]]:
        """Yield each row with its list; None for the table with one row, if no list is selected."""
        anything = False
        for table in self._tables:
            if table.is_list:
                for row in table.rows(content):
                    anything = True
                    yield table, row
        # Without any list, the shared columns make one row of their own.
        if not anything and any(not table.is_list for table in self._tables):
            yield None, None

    def _cells(self, content: SsqContent, own: SsqTable | None, row: Any) -> Iterator[Cell]:
        for table, column in self._shown:
            # A column of another list has no value in this row.
            if table.is_list and table is not own:
                yield ""
            else:
                yield column.value(content, row)

    def _find(self, content: SsqContent, own: SsqTable | None, row: Any, name: str) -> Cell | None:
        """Return the cell that a condition compares; None if the row has none."""
        table, column = self._known.get(name, _UNKNOWN)
        if column is None or (table is not None and table.is_list and table is not own):
            return None
        return column.value(content, row)


_UNKNOWN: Final[tuple[SsqTable | None, SsqColumn | None]] = (None, None)
