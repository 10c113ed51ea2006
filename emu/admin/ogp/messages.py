"""OGP's datagrams: prefix, type and flags, and the bodies of the default query.

All numbers are little-endian. Raises `MalformedMessage`.

Source: docs/protocol/administration/ogp.md#head, docs/protocol/administration/ogp.md#body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, NamedTuple

from emu.admin.ogp.elements import bit, pull_bits, push_bits
from emu.admin.ogp.fields import (
    ADD_ON_FIELDS,
    ADD_ONS,
    COLORED,
    LIMITS,
    MAP_FIELDS,
    MOD_FIELDS,
    PLAYERS,
    RULES,
    SERVER,
    TEAM_FIELDS,
    TEAMS,
    OgpField,
    OgpVersion,
    Row,
    Style,
    all_flags,
    flags_of,
    pull_row,
    push_row,
)
from emu.admin.reader import Reader, clamped, text_bytes
from emu.binary import LITTLE, U8, U16, U32, RecordLayout
from emu.errors import MalformedDatagram, MalformedMessage

PREFIX: Final = b"\xff\xff\xff\xffOGP\0"
SIZE_AT: Final = len(PREFIX)
"""The position of HeadSize, which counts from itself on."""
SMALLEST_HEAD: Final = 3
TYPE_AT: Final = SIZE_AT + 1
FLAGS_AT: Final = SIZE_AT + 2
MORE: Final = 0x80
"""In a byte of flags: another byte follows."""

ANSWER: Final = bit(0, 0)
CHALLENGE: Final = bit(0, 1)
REQUEST_ID: Final = bit(0, 2)
SPLIT: Final = bit(0, 3)
_OPTIONAL: Final = CHALLENGE | REQUEST_ID | SPLIT


def _head_layouts(**split: Any) -> Mapping[int, RecordLayout]:
    """Return the layouts of a head's optional fields, by the set flags."""
    fields = {CHALLENGE: {"challenge": U32}, REQUEST_ID: {"request_id": U32}, SPLIT: split}
    layouts = {}
    # One layout for each combination of flags, so that a head is read by one call.
    for flags in range(_OPTIONAL + 1):
        present = {
            name: kind for flag in fields if flags & flag for name, kind in fields[flag].items()
        }
        layouts[flags & _OPTIONAL] = RecordLayout("OGP head", LITTLE, **present)
    return layouts


_CHALLENGE: Final = RecordLayout("OGP challenge", LITTLE, number=U32)
_QUERY_HEADS: Final = _head_layouts(most_bytes=U16)
_ANSWER_HEADS: Final = _head_layouts(total=U8, index=U8)


class Type(IntEnum):
    """The types of datagrams."""

    PING = 0
    DEFAULT = 1
    RCON = 2
    """Reserved; its content was never defined."""
    MASTER = 3
    """Only as an answer: a server's heartbeat to a master server."""
    ERROR = 0xFF
    """Only as an answer."""


class Error(IntEnum):
    """The reasons for an error answer."""

    BANNED = 0
    TYPE = 1
    HEAD = 2
    CHALLENGE = 3
    BODY = 4


class QueryHead(NamedTuple):
    """The head of a query; missing fields are None."""

    type: int
    challenge: int | None = None
    request_id: int | None = None
    most_bytes: int | None = None
    """Maximum length of an answer datagram, its head included."""


class AnswerHead(NamedTuple):
    """The head of an answer; missing fields are None."""

    type: int
    challenge: int | None = None
    """A new challenge, because the query's is not valid."""
    request_id: int | None = None
    split: tuple[int, int] | None = None
    """The number of datagrams, and the index of this one, from 0."""


_Head = tuple[int, int | None, int | None, Sequence[int]]
"""Type, challenge, request id, and the numbers of a split; None and () for missing fields."""


def find_body(data: bytes) -> int:
    """Return the position of the body. Raises `MalformedDatagram` if it is not OGP."""
    if len(data) < SIZE_AT + SMALLEST_HEAD or not data.startswith(PREFIX):
        raise MalformedDatagram("no OGP head")
    end = SIZE_AT + data[SIZE_AT]
    # HeadSize comes from the wire: a wrong one would place the body outside of the datagram.
    if data[SIZE_AT] < SMALLEST_HEAD or end > len(data):
        raise MalformedDatagram("wrong head size")
    return end


def is_answer(data: bytes) -> bool:
    """Return whether a datagram, accepted by `find_body`, is an answer."""
    return bool(data[FLAGS_AT] & ANSWER)


def push_query_head(head: QueryHead) -> bytes:
    """Return the head of a query."""
    kind, challenge, request_id, most = head
    split = () if most is None else (most,)
    return _push(0, (kind, challenge, request_id, split), _QUERY_HEADS)


def push_answer_head(head: AnswerHead) -> bytes:
    """Return the head of an answer."""
    kind, challenge, request_id, split = head
    return _push(ANSWER, (kind, challenge, request_id, split or ()), _ANSWER_HEADS)


def pull_query_head(data: bytes, body: int) -> QueryHead:
    """Read the head of a query; `body` is its end, from `find_body`.

    Unknown flags and bytes after the known fields are ignored. Raises `MalformedMessage`.
    """
    kind, challenge, request_id, split = _pull(data, body, _QUERY_HEADS)
    return QueryHead(kind, challenge, request_id, split[0] if split else None)


def pull_answer_head(data: bytes, body: int) -> AnswerHead:
    """Read the head of an answer, as `pull_query_head` does."""
    if not is_answer(data):
        raise MalformedMessage("not an answer")
    kind, challenge, request_id, split = _pull(data, body, _ANSWER_HEADS)
    return AnswerHead(kind, challenge, request_id, (split[0], split[1]) if split else None)


def with_challenge(data: bytes, body: int, number: int) -> bytes:
    """Return a query with a challenge, ready to be sent again.

    Raises `MalformedMessage` if the head cannot grow.
    """
    reader = Reader(data[:body], FLAGS_AT)
    flags = pull_bits(reader)
    had = _CHALLENGE.size if flags & CHALLENGE else 0
    size = data[SIZE_AT] + _CHALLENGE.size - had
    # HeadSize is one byte.
    if size > 0xFF:
        raise MalformedMessage("head too long")
    changed = bytearray(data)
    # An old challenge is replaced, a missing one is inserted.
    changed[reader.at : reader.at + had] = _CHALLENGE.pack(number)
    changed[SIZE_AT] = size
    changed[FLAGS_AT] |= CHALLENGE
    return bytes(changed)


def _pull(data: bytes, body: int, layouts: Mapping[int, RecordLayout]) -> _Head:
    """Return the fields of a head.

    Every query passes here, most of them from unauthenticated peers. So it calls neither `Reader`
    nor `unpack`.
    """
    flags, at = data[FLAGS_AT], FLAGS_AT + 1
    if flags & MORE:
        reader = Reader(data[:body], FLAGS_AT)
        flags, at = pull_bits(reader), reader.at
    layout = layouts[flags & _OPTIONAL]
    if at + layout.size > body:
        raise MalformedMessage("message too short")
    values: Sequence[int] = layout.codec.unpack_from(data, at)
    challenge = request_id = None
    if flags & CHALLENGE:
        challenge, values = values[0], values[1:]
    if flags & REQUEST_ID:
        request_id, values = values[0], values[1:]
    return data[TYPE_AT], challenge, request_id, values


def _push(flags: int, head: _Head, layouts: Mapping[int, RecordLayout]) -> bytes:
    kind, challenge, request_id, split = head
    values: tuple[int, ...] = ()
    if challenge is not None:
        flags |= CHALLENGE
        values = (challenge,)
    if request_id is not None:
        flags |= REQUEST_ID
        values += (request_id,)
    if split:
        flags |= SPLIT
        values += tuple(split)
    fields = layouts[flags & _OPTIONAL].codec.pack(*values)
    return PREFIX + bytes((SMALLEST_HEAD + len(fields), kind, flags)) + fields


LIMIT_LEFT: Final = bit(0, 0)
MOST_ARRAYS: Final = 8
MOST_EMPTY: Final = 4096
"""Maximum number of entries without fields.

They take no bytes, so a short answer could claim any number.
"""


@dataclass(frozen=True, slots=True)
class DefaultQuery:
    """The default query: RequestFlags, and the fields of each section."""

    requests: int
    server: int = 0
    mod: int = 0
    map: int = 0
    teams: int = 0
    players: int = 0
    add_ons: int = 0


@dataclass(frozen=True)
class OgpContent:
    """The content of an answer; a section that is None is unknown.

    All rows of a list have the same fields.
    """

    game_id: int = 0
    server: Row | None = None
    teams: Sequence[Row] | None = None
    players: Sequence[Row] | None = None
    rules: Sequence[tuple[str, str]] | None = None
    add_ons: Sequence[Row] | None = None
    limits: Sequence[Row] | None = None
    """``type`` (0 time in seconds, 1 player score, 2 round, 3 team score, more are ours), ``limit``
    and, if known, ``left``."""
    columns: dict[tuple[Any, ...], list[bytes]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Encoded fields of lists, for queries that select other combinations of fields."""


def everything(dialect: OgpVersion) -> DefaultQuery:
    """Return the query for everything that a version has."""
    arrays = dict.fromkeys(dialect.arrays, (1 << 7 * 4) - 1)
    flags = SERVER | TEAMS | PLAYERS | RULES | ADD_ONS | LIMITS
    return _known(DefaultQuery(flags | (COLORED if dialect.colors else 0), **arrays), dialect)


def push_query(query: DefaultQuery, dialect: OgpVersion) -> bytes:
    """Return the body of a query."""
    arrays = [
        getattr(query, name)
        for name, (holder, flag) in dialect.arrays.items()
        if dialect.all_arrays or getattr(query, holder) & flag
    ]
    return push_bits(query.requests) + b"".join(map(push_bits, arrays))


def pull_query(body: bytes, dialects: Sequence[OgpVersion]) -> tuple[OgpVersion, DefaultQuery]:
    """Return the query of a body, in the first version that uses up all of its bytes.

    Fields that the version lacks are removed.
    """
    reader = Reader(body)
    arrays: list[int] = []
    while not reader.is_done:
        # The number is bounded before the versions are tried.
        if len(arrays) >= MOST_ARRAYS:
            raise MalformedMessage("too many bit arrays")
        arrays.append(pull_bits(reader))
    if not arrays:
        raise MalformedMessage("no request flags")
    # The first version that uses all bytes wins: the protocol has no field for the version.
    for dialect in dialects:
        values = _named(arrays, dialect)
        if values is not None:
            return dialect, _known(DefaultQuery(**values), dialect)
    raise MalformedMessage("wrong number of bit arrays")


def _named(arrays: Sequence[int], dialect: OgpVersion) -> dict[str, int] | None:
    """Return the arrays of a query by name, None if their number is wrong.

    The first is RequestFlags.
    """
    if dialect.all_arrays and len(arrays) == 1 + len(dialect.arrays):
        return dict(zip(("requests", *dialect.arrays), arrays, strict=True))
    found, at = {"requests": arrays[0]}, 1
    for name, (holder, flag) in dialect.arrays.items():
        if found.get(holder, 0) & flag:
            if at == len(arrays):
                return None
            found[name] = arrays[at]
            at += 1
    return found if at == len(arrays) else None


def _known(query: DefaultQuery, dialect: OgpVersion) -> DefaultQuery:
    """Return a query without the fields that a version lacks, so that equal queries are equal."""
    # Without this, the cache of bodies would have an entry for each combination of unknown bits.
    tables = _tables(dialect)
    known = {
        name: getattr(query, name) & sum(one.flag for one in table)
        for name, table in tables.items()
    }
    flags = SERVER | TEAMS | PLAYERS | RULES | ADD_ONS | LIMITS
    flags |= COLORED if dialect.colors else 0
    return replace(
        query,
        requests=query.requests & flags,
        mod=query.mod & all_flags(MOD_FIELDS),
        map=query.map & all_flags(MAP_FIELDS),
        **known,
    )


def _tables(dialect: OgpVersion) -> dict[str, Sequence[OgpField]]:
    return {
        "server": dialect.server,
        "teams": TEAM_FIELDS,
        "players": dialect.players,
        "add_ons": ADD_ON_FIELDS,
    }


@dataclass(slots=True)
class _List:
    """A section with a count, while it is encoded."""

    flag: int
    head: bytes
    """The bytes between the count and the entries."""
    entries: list[bytes]

    def bytes(self, dialect: OgpVersion) -> bytes:
        if not self.entries:
            return dialect.numbers.push_uint(0)
        return dialect.numbers.push_uint(len(self.entries)) + self.head + b"".join(self.entries)


# Bytes of the longest count: the number with its prefix.
_LONGEST_COUNT: Final = 7


def push_answer(content: OgpContent, query: DefaultQuery, dialect: OgpVersion, size: int) -> bytes:
    """Return the body of an answer, at most `size` bytes long.

    Fields that the content lacks are left out. If `size` is too small, players are dropped, the
    last first, then rules, add-ons, teams and limits.
    """
    asked = query.requests
    style = Style(dialect.numbers, bool(asked & COLORED), query.map, query.mod)
    server = b""
    flags = asked & COLORED
    if asked & SERVER and content.server is not None:
        flags |= SERVER
        there = query.server & flags_of(content.server, dialect.server)
        for flag, needed in dialect.needs.items():
            # A field whose required one is missing would be unreadable.
            there &= ~flag if not there & needed else -1
        server = push_bits(there) + push_row(content.server, dialect.server, there, style)
    lists = [one for one in _lists(content, query, dialect, style) if one.flag & asked]
    # Heads and counts are paid for first, because they stay when entries are dropped.
    left = size - 8 - len(server) - sum(len(one.head) + _LONGEST_COUNT for one in lists)
    _fit(lists, left)
    flags |= sum(one.flag for one in lists)
    written = [one.bytes(dialect) for one in lists]
    return clamped(content.game_id, 2) + push_bits(flags) + server + b"".join(written)


def _lists(
    content: OgpContent, query: DefaultQuery, dialect: OgpVersion, style: Style
) -> list[_List]:
    lists = []
    if content.teams is not None:
        lists.append(_rows(content, "teams", TEAM_FIELDS, query.teams, style))
    if content.players is not None:
        lists.append(_rows(content, "players", dialect.players, query.players, style))
    if content.rules is not None:
        rules = [text_bytes(name) + text_bytes(value) for name, value in content.rules]
        lists.append(_List(RULES, b"", rules))
    if content.add_ons is not None:
        lists.append(_rows(content, "add_ons", ADD_ON_FIELDS, query.add_ons, style))
    if content.limits is not None:
        lists.append(_List(LIMITS, b"", [_push_limit(row, style) for row in content.limits]))
    return lists


_FLAGS: Final = {"teams": TEAMS, "players": PLAYERS, "add_ons": ADD_ONS}


def _rows(
    content: OgpContent, section: str, table: Sequence[OgpField], asked: int, style: Style
) -> _List:
    rows: Sequence[Row] = getattr(content, section)
    # All rows have the same fields, so the first one stands for all.
    there = asked & flags_of(rows[0], table) if rows else 0
    columns = [_column(content, section, one, style) for one in table if there & one.flag]
    entries = list(map(b"".join, zip(*columns, strict=True))) if columns else [b""] * len(rows)
    return _List(_FLAGS[section], push_bits(there), entries)


def _column(content: OgpContent, section: str, one: OgpField, style: Style) -> list[bytes]:
    """Return one encoded field of all rows, cached in the content."""
    key = (section, one.name, style.numbers, style.colored)
    written = content.columns.get(key)
    if written is None:
        # Cached by field and not by row: queries select different combinations of the same fields.
        push = one.kind.push
        rows: Sequence[Row] = getattr(content, section)
        written = content.columns[key] = [push(row[one.name], style) for row in rows]
    return written


def _fit(lists: Sequence[_List], size: int) -> None:
    """Drop entries until the rest fits."""
    over = sum(len(entry) for one in lists for entry in one.entries) - size
    # Players first, because they are the longest list.
    for flag in (PLAYERS, RULES, ADD_ONS, TEAMS, LIMITS):
        for one in lists:
            while one.flag == flag and one.entries and over > 0:
                over -= len(one.entries.pop())


def _push_limit(row: Row, style: Style) -> bytes:
    left = row.get("left")
    bits = (row["type"] & 0xF) << 1 | (LIMIT_LEFT if left is not None else 0)
    numbers = [row["limit"]] if left is None else [row["limit"], left]
    return push_bits(bits) + b"".join(map(style.numbers.push_uint, numbers))


def _pull_limit(reader: Reader, style: Style) -> dict[str, Any]:
    bits = pull_bits(reader)
    row = {"type": bits >> 1 & 0xF, "limit": style.numbers.pull_uint(reader)}
    return row | ({"left": style.numbers.pull_uint(reader)} if bits & LIMIT_LEFT else {})


def pull_answer(body: bytes, dialect: OgpVersion) -> OgpContent:
    """Return the content of an answer; missing sections are None."""
    reader = Reader(body)
    game_id, flags = reader.unsigned(2), pull_bits(reader)
    style = Style(dialect.numbers, bool(flags & COLORED))
    content: dict[str, Any] = {}
    if flags & SERVER:
        content["server"] = pull_row(reader, dialect.server, pull_bits(reader), style)
    if flags & TEAMS:
        content["teams"] = _pull_rows(reader, TEAM_FIELDS, style)
    if flags & PLAYERS:
        content["players"] = _pull_rows(reader, dialect.players, style)
    if flags & RULES:
        content["rules"] = _pull_list(reader, style, lambda: (reader.text(), reader.text()))
    if flags & ADD_ONS:
        content["add_ons"] = _pull_rows(reader, ADD_ON_FIELDS, style)
    if flags & LIMITS:
        content["limits"] = _pull_list(reader, style, lambda: _pull_limit(reader, style))
    if not reader.is_done:
        raise MalformedMessage("more than was announced")
    return OgpContent(game_id, **content)


def _pull_rows(reader: Reader, table: Sequence[OgpField], style: Style) -> list[Row]:
    count = style.numbers.pull_uint(reader)
    flags = pull_bits(reader) if count else 0
    if not flags:
        # Entries without fields take no bytes, so the bytes do not bound their number.
        return [{} for _ in range(min(count, MOST_EMPTY))]
    return _pull_times(reader, count, lambda: pull_row(reader, table, flags, style))


def _pull_list(reader: Reader, style: Style, pull: Callable[[], Any]) -> list[Any]:
    return _pull_times(reader, style.numbers.pull_uint(reader), pull)


def _pull_times(reader: Reader, count: int, pull: Callable[[], Any]) -> list[Any]:
    """Read `count` entries; raise if there are fewer bytes, as each takes at least one."""
    # Checked before the loop, so that a short answer cannot start a long one.
    if count > len(reader.data) - reader.at:
        raise MalformedMessage("count too large")
    return [pull() for _ in range(count)]
