"""The head of OGP's datagrams: prefix, type, flags and what they announce.

Source: docs/protocol/administration/ogp.md#head. All numbers are little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.admin.ogp.elements import bit, pull_bits, push_bits
from emu.admin.reader import Reader
from emu.errors import MalformedDatagram, MalformedMessage

PREFIX: Final = b"\xff\xff\xff\xffOGP\0"
SIZE_AT: Final = len(PREFIX)
"""Where HeadSize stands, which counts from itself on."""
SMALLEST_HEAD: Final = 3
FLAGS_AT: Final = SIZE_AT + 2

ANSWER: Final = bit(0, 0)
CHALLENGE: Final = bit(0, 1)
REQUEST_ID: Final = bit(0, 2)
SPLIT: Final = bit(0, 3)


class Type(IntEnum):
    """What a datagram asks or answers."""

    PING = 0
    DEFAULT = 1
    RCON = 2
    """Reserved; nobody has said what would follow."""
    MASTER = 3
    """Answer only: a server tells a master server that it is there."""
    ERROR = 0xFF
    """Answer only."""


class Error(IntEnum):
    """Why a question is not answered."""

    BANNED = 0
    TYPE = 1
    HEAD = 2
    CHALLENGE = 3
    BODY = 4


@dataclass(frozen=True, slots=True)
class QueryHead:
    """The head of a question; what was not sent is None."""

    type: int
    challenge: int | None = None
    request_id: int | None = None
    most_bytes: int | None = None
    """Of one answer datagram, its head included."""


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """The head of an answer; what is not sent is None."""

    type: int
    challenge: int | None = None
    """A new number: the one of the question is not valid."""
    request_id: int | None = None
    split: tuple[int, int] | None = None
    """How many datagrams there are, and which one this is, from 0."""


def find_body(data: bytes) -> int:
    """Return where the body begins. Raises `MalformedDatagram` for what is not OGP."""
    if len(data) < SIZE_AT + SMALLEST_HEAD or not data.startswith(PREFIX):
        raise MalformedDatagram("no OGP head")
    end = SIZE_AT + data[SIZE_AT]
    if data[SIZE_AT] < SMALLEST_HEAD or end > len(data):
        raise MalformedDatagram("wrong head size")
    return end


def is_answer(data: bytes) -> bool:
    """Say whether a datagram in which `find_body` found one is an answer."""
    return bool(data[FLAGS_AT] & ANSWER)


def push_query_head(head: QueryHead) -> bytes:
    """Return the head of a question."""
    flags = _flags(head) | (SPLIT if head.most_bytes is not None else 0)
    most = b"" if head.most_bytes is None else head.most_bytes.to_bytes(2, "little")
    return _head(head.type, flags, head.challenge, head.request_id, most)


def push_answer_head(head: AnswerHead) -> bytes:
    """Return the head of an answer."""
    flags = _flags(head) | ANSWER | (SPLIT if head.split is not None else 0)
    split = b"" if head.split is None else bytes(head.split)
    return _head(head.type, flags, head.challenge, head.request_id, split)


def pull_query_head(data: bytes, body: int) -> QueryHead:
    """Read the head of a question; `body` is where `find_body` says that it ends.

    Flags that nobody knows are ignored, and so is what stands behind the known fields. Raises
    `MalformedMessage`.
    """
    reader, kind, flags = _begin(data, body)
    challenge, request_id = _numbers(reader, flags)
    most = reader.unsigned(2) if flags & SPLIT else None
    return QueryHead(kind, challenge, request_id, most)


def pull_answer_head(data: bytes, body: int) -> AnswerHead:
    """Read the head of an answer, as `pull_query_head` does."""
    reader, kind, flags = _begin(data, body)
    if not flags & ANSWER:
        raise MalformedMessage("not an answer")
    challenge, request_id = _numbers(reader, flags)
    split = (reader.unsigned(1), reader.unsigned(1)) if flags & SPLIT else None
    return AnswerHead(kind, challenge, request_id, split)


def with_challenge(data: bytes, body: int, number: int) -> bytes:
    """Return a question as it has to be sent again: the same, with this challenge number in it.

    Raises `MalformedMessage` when the head has no room for it.
    """
    reader = Reader(data[:body], FLAGS_AT)
    flags = pull_bits(reader)
    had = 4 if flags & CHALLENGE else 0
    size = data[SIZE_AT] + 4 - had
    if size > 0xFF:
        raise MalformedMessage("head too long")
    changed = bytearray(data)
    changed[reader.at : reader.at + had] = number.to_bytes(4, "little")
    changed[SIZE_AT] = size
    changed[FLAGS_AT] |= CHALLENGE
    return bytes(changed)


def _begin(data: bytes, body: int) -> tuple[Reader, int, int]:
    reader = Reader(data[:body], SIZE_AT + 1)
    return reader, reader.unsigned(1), pull_bits(reader)


def _numbers(reader: Reader, flags: int) -> tuple[int | None, int | None]:
    challenge = reader.unsigned(4) if flags & CHALLENGE else None
    return challenge, reader.unsigned(4) if flags & REQUEST_ID else None


def _flags(head: QueryHead | AnswerHead) -> int:
    challenge = CHALLENGE if head.challenge is not None else 0
    return challenge | (REQUEST_ID if head.request_id is not None else 0)


def _head(
    kind: int, flags: int, challenge: int | None, request_id: int | None, tail: bytes
) -> bytes:
    numbers = b"".join(
        number.to_bytes(4, "little") for number in (challenge, request_id) if number is not None
    )
    rest = bytes((kind,)) + push_bits(flags) + numbers + tail
    return PREFIX + bytes((len(rest) + 1,)) + rest
