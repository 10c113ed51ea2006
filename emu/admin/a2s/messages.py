"""The messages of A2S, and answers in several datagrams. Raises `MalformedMessage`.

Numbers are little-endian. Counts are bytes: a larger count is sent as 255.

Source: docs/protocol/administration/a2s.md, docs/protocol/administration/a2s.md#splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.admin.reader import Reader, clamped, text_bytes
from emu.binary import F32, I32, LITTLE, U8, U16, U32, BytesField, RecordLayout
from emu.errors import MalformedMessage

# -1 marks a whole answer, -2 a split one.
PREFIX: Final = b"\xff\xff\xff\xff"
INFO_QUERY: Final = PREFIX + b"TSource Engine Query\0"
NO_CHALLENGE: Final = 0xFFFFFFFF
PROTOCOL: Final = 17

_PORT: Final = 0x80
_STEAM_ID: Final = 0x10
_SPECTATORS: Final = 0x40
_KEYWORDS: Final = 0x20
_GAME_ID: Final = 0x01
"""The flag of the game id in INFO's last field."""
_QUERY_SIZE: Final = len(PREFIX) + 1
_CHALLENGE: Final = RecordLayout("A2sChallenge", LITTLE, number=U32)
_COUNTS: Final = RecordLayout(
    "A2sInfo", LITTLE, app_id=U16, players=U8, places=U8, bots=U8, kind=BytesField(1),
    system=BytesField(1), private=U8, secured=U8,
)  # fmt: skip
_SCORE_AND_TIME: Final = RecordLayout("A2sPlayer", LITTLE, score=I32, time=F32)
_RULE_COUNT: Final = RecordLayout("A2sRules", LITTLE, count=U16)


class A2sQuery(IntEnum):
    """The queries: the byte after the prefix."""

    INFO = 0x54
    PLAYERS = 0x55
    RULES = 0x56
    CHALLENGE = 0x57


class A2sAnswer(IntEnum):
    """The answers: the byte after the prefix."""

    CHALLENGE = 0x41
    INFO = 0x49
    PLAYERS = 0x44
    RULES = 0x45


@dataclass(frozen=True, slots=True)
class A2sInfo:
    """A server's entry in a list."""

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
    """Return a query; without a challenge it requests one."""
    if query is A2sQuery.CHALLENGE:
        return PREFIX + bytes((query,))
    if query is A2sQuery.INFO:
        return INFO_QUERY + (b"" if challenge is None else _CHALLENGE.pack(challenge))
    number = NO_CHALLENGE if challenge is None else challenge
    return PREFIX + bytes((query,)) + _CHALLENGE.pack(number)


def pull_query(data: bytes) -> tuple[A2sQuery, int | None]:
    """Return a query and its challenge, None without one; later bytes are ignored."""
    # Shorter ones have no byte of a type.
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
    """Return an answer's type, and a reader at its content."""
    try:
        # A byte that is not a known type is a ValueError, a missing one an IndexError.
        kind = A2sAnswer(data[4]) if data.startswith(PREFIX) else None
    except (IndexError, ValueError):
        kind = None
    if kind is None:
        raise MalformedMessage("no answer")
    return kind, Reader(data, 5)


def push_challenge(number: int) -> bytes:
    """Return the answer that contains a challenge."""
    return PREFIX + bytes((A2sAnswer.CHALLENGE,)) + _CHALLENGE.pack(number)


def pull_challenge(reader: Reader) -> int:
    """Read a challenge."""
    return reader.unsigned(4)


def push_info(info: A2sInfo) -> bytes:
    """Return the INFO answer."""
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
    """Read an INFO answer; Steam's and the spectators' addresses are skipped."""
    reader.unsigned(1)
    name, map_, folder, game = (reader.text() for _ in range(4))
    app_id, players, places, bots, kind, system, private, secured = reader.record(_COUNTS)
    version = reader.text()
    # The rest is optional: a byte of flags, and the fields that it announces.
    more = 0 if reader.is_done else reader.unsigned(1)
    port = reader.unsigned(2) if more & _PORT else 0
    # The length of skipped fields matters, because later fields follow them.
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


def push_players(players: Sequence[A2sPlayer], size: int) -> bytes:
    """Return the PLAYER answer: as many players as fit into `size` bytes, 255 at most."""
    out, count = bytearray(PREFIX + bytes((A2sAnswer.PLAYERS, 0))), 0
    for player in players[:0xFF]:
        numbers = _SCORE_AND_TIME.pack_nearest(player.score, player.time)
        entry = bytes((count,)) + text_bytes(player.name) + numbers
        if len(out) + len(entry) > size:
            break
        out += entry
        count += 1
    # Only now is the number of players known that fit.
    out[5] = count
    return bytes(out)


def pull_players(reader: Reader) -> list[A2sPlayer]:
    """Read a PLAYER answer."""
    players = []
    for _ in range(reader.unsigned(1)):
        reader.unsigned(1)
        players.append(A2sPlayer(reader.text(), *reader.record(_SCORE_AND_TIME)))
    return players


def push_rules(rules: Sequence[tuple[str, str]], size: int) -> bytes:
    """Return the RULES answer: as many rules as fit into `size` bytes."""
    out, count = bytearray(PREFIX + bytes((A2sAnswer.RULES, 0, 0))), 0
    for name, value in rules[:0xFFFF]:
        entry = text_bytes(name) + text_bytes(value)
        if len(out) + len(entry) > size:
            break
        out += entry
        count += 1
    out[5:7] = _RULE_COUNT.pack(count)
    return bytes(out)


def pull_rules(reader: Reader) -> list[tuple[str, str]]:
    """Read a RULES answer."""
    return [(reader.text(), reader.text()) for _ in range(reader.unsigned(2))]


MOST_BYTES: Final = 1400
"""Maximum length of a datagram that is not split, in bytes."""
CHUNK_SIZE: Final = 1248
"""Bytes of the answer in each datagram except the last."""
SPLIT_PREFIX: Final = b"\xfe\xff\xff\xff"
NUMBERS: Final = 0x7FFF
"""Answers are numbered up to here: clients read bits 15 and 31 as "compressed"."""
_COMPRESSED: Final = 0x80008000
_SPLIT: Final = RecordLayout("A2S split", LITTLE, number=U32, total=U8, index=U8, part_size=U16)


def split(data: bytes, number: int) -> list[bytes]:
    """Return the datagrams of an answer; `number` (15 bits) identifies them."""
    if len(data) <= MOST_BYTES:
        return [data]
    chunks = [data[at : at + CHUNK_SIZE] for at in range(0, len(data), CHUNK_SIZE)]
    return [
        SPLIT_PREFIX + _SPLIT.pack(number, len(chunks), index, CHUNK_SIZE) + chunk
        for index, chunk in enumerate(chunks)
    ]


class A2sJoiner:
    """Joins the datagrams of one answer, in any order."""

    __slots__ = ("_bodies", "_id")

    def __init__(self) -> None:
        self._bodies: dict[int, bytes] = {}
        self._id: tuple[int, int] | None = None

    def join(self, data: bytes) -> bytes | None:
        """Handle a datagram; return the whole answer when it is complete."""
        if data.startswith(PREFIX):
            return data
        if not data.startswith(SPLIT_PREFIX):
            raise MalformedMessage("no answer")
        reader = Reader(data, 4)
        number, total, index, _ = reader.record(_SPLIT)
        # Decompressing the datagrams of an unknown server could fill the memory.
        if number & _COMPRESSED:
            raise MalformedMessage("compressed answer")
        # Another number is another answer: its datagrams would not fit those before.
        if self._id is None or self._id[0] != number:
            self._id, self._bodies = (number, total), {}
        if self._id[1] != total or index >= total:
            raise MalformedMessage("wrong split")
        self._bodies[index] = reader.rest()
        if len(self._bodies) < total:
            return None
        return b"".join(self._bodies[one] for one in range(total))
