"""The messages of A2S: how questions and answers are written and read.

Source: docs/protocol/administration/a2s.md. Numbers are little-endian; counts are bytes, so what
is larger is told as 255. Raises `MalformedMessage`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.admin.reader import Reader, clamped, text_bytes
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
_SCORE_AND_TIME: Final = struct.Struct("<if")
_I32: Final = range(-0x80000000, 0x80000000)


class Query(IntEnum):
    """What is asked: the byte behind the prefix."""

    INFO = 0x54
    PLAYERS = 0x55
    RULES = 0x56
    CHALLENGE = 0x57


class Answer(IntEnum):
    """What is told."""

    CHALLENGE = 0x41
    INFO = 0x49
    PLAYERS = 0x44
    RULES = 0x45


@dataclass(frozen=True, slots=True)
class Info:
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
class Player:
    """A player; `time` is in seconds."""

    name: str
    score: int
    time: float


def push_query(query: Query, challenge: int | None) -> bytes:
    """Return a question; without a challenge it asks for one."""
    if query is Query.CHALLENGE:
        return PREFIX + bytes((query,))
    if query is Query.INFO:
        return INFO_QUERY + (b"" if challenge is None else challenge.to_bytes(4, "little"))
    number = NO_CHALLENGE if challenge is None else challenge
    return PREFIX + bytes((query,)) + number.to_bytes(4, "little")


def pull_query(data: bytes) -> tuple[Query, int | None]:
    """Read a question and its challenge, None for none; what stands behind it is ignored."""
    if not data.startswith(PREFIX) or len(data) < 5:
        raise MalformedMessage("no question")
    kind = data[4]
    if kind == Query.CHALLENGE:
        return Query.CHALLENGE, None
    if kind == Query.INFO and data.startswith(INFO_QUERY):
        return Query.INFO, _challenge(data, len(INFO_QUERY))
    if kind in (Query.PLAYERS, Query.RULES) and len(data) >= 9:
        return Query(kind), _challenge(data, 5)
    raise MalformedMessage("unknown question")


def _challenge(data: bytes, at: int) -> int | None:
    number = int.from_bytes(data[at : at + 4], "little")
    return None if len(data) < at + 4 or number == NO_CHALLENGE else number


def pull_answer(data: bytes) -> tuple[Answer, Reader]:
    """Read the beginning of an answer; its reader stands at what is told."""
    try:
        kind = Answer(data[4]) if data.startswith(PREFIX) else None
    except (IndexError, ValueError):
        kind = None
    if kind is None:
        raise MalformedMessage("no answer")
    return kind, Reader(data, 5)


def push_challenge(number: int) -> bytes:
    """Return the answer that gives a challenge."""
    return PREFIX + bytes((Answer.CHALLENGE,)) + number.to_bytes(4, "little")


def pull_challenge(reader: Reader) -> int:
    """Read a challenge."""
    return reader.unsigned(4)


def push_info(info: Info) -> bytes:
    """Return the answer that tells of the server."""
    texts = b"".join(map(text_bytes, (info.name, info.map, info.folder, info.game)))
    return b"".join(
        (
            PREFIX, bytes((Answer.INFO, PROTOCOL)), texts, clamped(info.app_id, 2),
            clamped(info.players, 1), clamped(info.places, 1), clamped(info.bots, 1),
            f"{info.kind}{info.system}".encode("latin-1"), bytes((info.private, info.secured)),
            text_bytes(info.version), bytes((_PORT | _KEYWORDS | _GAME_ID,)),
            clamped(info.port, 2), text_bytes(info.keywords), clamped(info.game_id, 8),
        )
    )  # fmt: skip


def pull_info(reader: Reader) -> Info:
    """Read what is told of a server; the addresses of Steam and of spectators are left out."""
    reader.unsigned(1)
    name, map_, folder, game = (reader.text() for _ in range(4))
    app_id = reader.unsigned(2)
    players, places, bots = reader.take(3)
    kind, system = (chr(byte) for byte in reader.take(2))
    private, secured = reader.take(2)
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
    return Info(
        name, map_, folder, game, players, places, version, app_id, bots, kind, system,
        bool(private), bool(secured), port, keywords, game_id,
    )  # fmt: skip


def push_players(players: Sequence[Player], room: int) -> bytes:
    """Return the answer that tells of players: as many as fit into `room` bytes, 255 at most."""
    out, count = bytearray(PREFIX + bytes((Answer.PLAYERS, 0))), 0
    for player in players[:0xFF]:
        score = max(_I32.start, min(player.score, _I32.stop - 1))
        entry = bytes((count,)) + text_bytes(player.name) + _SCORE_AND_TIME.pack(score, player.time)
        if len(out) + len(entry) > room:
            break
        out += entry
        count += 1
    out[5] = count
    return bytes(out)


def pull_players(reader: Reader) -> list[Player]:
    """Read what is told of players."""
    players = []
    for _ in range(reader.unsigned(1)):
        reader.unsigned(1)
        players.append(Player(reader.text(), reader.signed(4), reader.float()))
    return players


def push_rules(rules: Sequence[tuple[str, str]], room: int) -> bytes:
    """Return the answer that tells of rules: as many as fit into `room` bytes."""
    out, count = bytearray(PREFIX + bytes((Answer.RULES, 0, 0))), 0
    for name, value in rules[:0xFFFF]:
        entry = text_bytes(name) + text_bytes(value)
        if len(out) + len(entry) > room:
            break
        out += entry
        count += 1
    out[5:7] = count.to_bytes(2, "little")
    return bytes(out)


def pull_rules(reader: Reader) -> list[tuple[str, str]]:
    """Read what is told of rules."""
    return [(reader.text(), reader.text()) for _ in range(reader.unsigned(2))]
