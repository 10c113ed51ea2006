"""The messages of A2S, and answers that are too long for one datagram.

Source: docs/protocol/administration/a2s.md. Numbers are little-endian; counts are bytes, so what
is larger is told as 255. Raises `MalformedMessage`.

Source: docs/protocol/administration/a2s.md#splits. Raises `MalformedMessage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.admin.reader import Reader, clamped, text_bytes
from emu.binary import F32, I32, LITTLE, U8, U16, U32, BytesField, RecordLayout
from emu.errors import MalformedMessage

PREFIX: Final = b"\xff\xff\xff\xff"
INFO_QUERY: Final = PREFIX + b"TSource Engine Query\0"
NO_CHALLENGE: Final = 0xFFFFFFFF
PROTOCOL: Final = 17

_PORT: Final = 0x80
_STEAM_ID: Final = 0x10
_SPECTATORS: Final = 0x40
_KEYWORDS: Final = 0x20
_GAME_ID: Final = 0x01
"""What follows the version of an info."""
_QUERY_SIZE: Final = len(PREFIX) + 1
_CHALLENGE: Final = RecordLayout("A2sChallenge", LITTLE, number=U32)
_COUNTS: Final = RecordLayout(
    "A2sInfo", LITTLE, app_id=U16, players=U8, places=U8, bots=U8, kind=BytesField(1),
    system=BytesField(1), private=U8, secured=U8,
)  # fmt: skip
_SCORE_AND_TIME: Final = RecordLayout("A2sPlayer", LITTLE, score=I32, time=F32)
_RULE_COUNT: Final = RecordLayout("A2sRules", LITTLE, count=U16)


class A2sQuery(IntEnum):
    """What is asked: the byte behind the prefix."""

    INFO = 0x54
    PLAYERS = 0x55
    RULES = 0x56
    CHALLENGE = 0x57


class A2sAnswer(IntEnum):
    """What is told."""

    CHALLENGE = 0x41
    INFO = 0x49
    PLAYERS = 0x44
    RULES = 0x45


@dataclass(frozen=True, slots=True)
class A2sInfo:
    """A server in a line of a list."""

    name: str
    map: str
    folder: str
    game: str
    players: int
    places: int
    version: str
    app_id: int = 0
    bots: int = 0
    kind: str = "d"
    """d dedicated, l listen, p proxy."""
    system: str = "l"
    """l Linux, w Windows, m Mac."""
    private: bool = False
    """Whether a password is needed."""
    secured: bool = False
    port: int = 0
    keywords: str = ""
    game_id: int = 0


@dataclass(frozen=True, slots=True)
class A2sPlayer:
    """A player; `time` is in seconds."""

    name: str
    score: int
    time: float


def push_query(query: A2sQuery, challenge: int | None) -> bytes:
    """Return a question; without a challenge it asks for one."""
    if query is A2sQuery.CHALLENGE:
        return PREFIX + bytes((query,))
    if query is A2sQuery.INFO:
        return INFO_QUERY + (b"" if challenge is None else _CHALLENGE.pack(challenge))
    number = NO_CHALLENGE if challenge is None else challenge
    return PREFIX + bytes((query,)) + _CHALLENGE.pack(number)


def pull_query(data: bytes) -> tuple[A2sQuery, int | None]:
    """Read a question and its challenge, None for none; what stands behind it is ignored."""
    if not data.startswith(PREFIX) or len(data) < _QUERY_SIZE:
        raise MalformedMessage("no question")
    kind = data[4]
    if kind == A2sQuery.CHALLENGE:
        return A2sQuery.CHALLENGE, None
    if kind == A2sQuery.INFO and data.startswith(INFO_QUERY):
        return A2sQuery.INFO, _challenge(data, len(INFO_QUERY))
    if kind in (A2sQuery.PLAYERS, A2sQuery.RULES) and len(data) >= _QUERY_SIZE + _CHALLENGE.size:
        return A2sQuery(kind), _challenge(data, _QUERY_SIZE)
    raise MalformedMessage("unknown question")


def _challenge(data: bytes, at: int) -> int | None:
    if len(data) < at + _CHALLENGE.size:
        return None
    # Every question passes here, most of them from unauthenticated peers: no call in Python for one
    # number.
    (number,) = _CHALLENGE.codec.unpack_from(data, at)
    return None if number == NO_CHALLENGE else int(number)


def pull_answer(data: bytes) -> tuple[A2sAnswer, Reader]:
    """Read the beginning of an answer; its reader stands at what is told."""
    try:
        kind = A2sAnswer(data[4]) if data.startswith(PREFIX) else None
    except (IndexError, ValueError):
        kind = None
    if kind is None:
        raise MalformedMessage("no answer")
    return kind, Reader(data, 5)


def push_challenge(number: int) -> bytes:
    """Return the answer that gives a challenge."""
    return PREFIX + bytes((A2sAnswer.CHALLENGE,)) + _CHALLENGE.pack(number)


def pull_challenge(reader: Reader) -> int:
    """Read a challenge."""
    return reader.unsigned(4)


def push_info(info: A2sInfo) -> bytes:
    """Return the answer that tells of the server."""
    texts = b"".join(map(text_bytes, (info.name, info.map, info.folder, info.game)))
    return b"".join(
        (
            PREFIX, bytes((A2sAnswer.INFO, PROTOCOL)), texts,
            _COUNTS.pack_nearest(
                info.app_id, info.players, info.places, info.bots,
                info.kind.encode("latin-1"), info.system.encode("latin-1"),
                info.private, info.secured,
            ),
            text_bytes(info.version), bytes((_PORT | _KEYWORDS | _GAME_ID,)),
            clamped(info.port, 2), text_bytes(info.keywords), clamped(info.game_id, 8),
        )
    )  # fmt: skip


def pull_info(reader: Reader) -> A2sInfo:
    """Read what is told of a server; the addresses of Steam and of spectators are left out."""
    reader.unsigned(1)
    name, map_, folder, game = (reader.text() for _ in range(4))
    app_id, players, places, bots, kind, system, private, secured = reader.record(_COUNTS)
    version = reader.text()
    more = 0 if reader.is_done else reader.unsigned(1)
    port = reader.unsigned(2) if more & _PORT else 0
    if more & _STEAM_ID:
        reader.take(8)
    if more & _SPECTATORS:
        reader.take(2)
        reader.text()
    keywords = reader.text() if more & _KEYWORDS else ""
    game_id = reader.unsigned(8) if more & _GAME_ID else 0
    return A2sInfo(
        name, map_, folder, game, players, places, version, app_id, bots,
        kind.decode("latin-1"), system.decode("latin-1"),
        bool(private), bool(secured), port, keywords, game_id,
    )  # fmt: skip


def push_players(players: Sequence[A2sPlayer], room: int) -> bytes:
    """Return the answer that tells of players: as many as fit into `room` bytes, 255 at most."""
    out, count = bytearray(PREFIX + bytes((A2sAnswer.PLAYERS, 0))), 0
    for player in players[:0xFF]:
        numbers = _SCORE_AND_TIME.pack_nearest(player.score, player.time)
        entry = bytes((count,)) + text_bytes(player.name) + numbers
        if len(out) + len(entry) > room:
            break
        out += entry
        count += 1
    out[5] = count
    return bytes(out)


def pull_players(reader: Reader) -> list[A2sPlayer]:
    """Read what is told of players."""
    players = []
    for _ in range(reader.unsigned(1)):
        reader.unsigned(1)
        players.append(A2sPlayer(reader.text(), *reader.record(_SCORE_AND_TIME)))
    return players


def push_rules(rules: Sequence[tuple[str, str]], room: int) -> bytes:
    """Return the answer that tells of rules: as many as fit into `room` bytes."""
    out, count = bytearray(PREFIX + bytes((A2sAnswer.RULES, 0, 0))), 0
    for name, value in rules[:0xFFFF]:
        entry = text_bytes(name) + text_bytes(value)
        if len(out) + len(entry) > room:
            break
        out += entry
        count += 1
    out[5:7] = _RULE_COUNT.pack(count)
    return bytes(out)


def pull_rules(reader: Reader) -> list[tuple[str, str]]:
    """Read what is told of rules."""
    return [(reader.text(), reader.text()) for _ in range(reader.unsigned(2))]


MOST_BYTES: Final = 1400
"""Of one datagram that is not split."""
PART_SIZE: Final = 1248
"""Bytes of the answer in each datagram but the last."""
SPLIT_PREFIX: Final = b"\xfe\xff\xff\xff"
NUMBERS: Final = 0x7FFF
"""Answers are numbered up to here: clients take bits 15 and 31 for "compressed"."""
_COMPRESSED: Final = 0x80008000
_SPLIT: Final = RecordLayout("A2S split", LITTLE, number=U32, total=U8, index=U8, part_size=U16)


def split(data: bytes, number: int) -> list[bytes]:
    """Return the datagrams of an answer; parts belong together by `number`, of 15 bits."""
    if len(data) <= MOST_BYTES:
        return [data]
    parts = [data[at : at + PART_SIZE] for at in range(0, len(data), PART_SIZE)]
    return [
        SPLIT_PREFIX + _SPLIT.pack(number, len(parts), index, PART_SIZE) + part
        for index, part in enumerate(parts)
    ]


class A2sJoiner:
    """Puts the parts of one answer together, whatever their order."""

    __slots__ = ("_id", "_parts")

    def __init__(self) -> None:
        self._parts: dict[int, bytes] = {}
        self._id: tuple[int, int] | None = None

    def take(self, data: bytes) -> bytes | None:
        """Take a datagram; returns the whole answer when it is there."""
        if data.startswith(PREFIX):
            return data
        if not data.startswith(SPLIT_PREFIX):
            raise MalformedMessage("no answer")
        reader = Reader(data, 4)
        number, total, index, _ = reader.record(_SPLIT)
        if number & _COMPRESSED:
            raise MalformedMessage("compressed answer")
        if self._id is None or self._id[0] != number:
            self._id, self._parts = (number, total), {}
        if self._id[1] != total or index >= total:
            raise MalformedMessage("wrong split")
        self._parts[index] = reader.rest()
        if len(self._parts) < total:
            return None
        return b"".join(self._parts[one] for one in range(total))
