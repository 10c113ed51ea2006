"""The head of OGP's datagrams: prefix, type, flags and what they announce.

Source: docs/protocol/administration/ogp.md#head. All numbers are little-endian.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from emu.admin.ogp.elements import bit, pull_bits
from emu.admin.reader import Reader
from emu.errors import MalformedDatagram, MalformedMessage

PREFIX: Final = b"\xff\xff\xff\xffOGP\0"
SIZE_AT: Final = len(PREFIX)
"""Where HeadSize stands, which counts from itself on."""
SMALLEST_HEAD: Final = 3
TYPE_AT: Final = SIZE_AT + 1
FLAGS_AT: Final = SIZE_AT + 2
MORE: Final = 0x80
"""In a byte of flags: another one follows."""

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


class QueryHead(NamedTuple):
    """The head of a question; what was not sent is None."""

    type: int
    challenge: int | None = None
    request_id: int | None = None
    most_bytes: int | None = None
    """Of one answer datagram, its head included."""


class AnswerHead(NamedTuple):
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
    kind, challenge, request_id, most = head
    return _push(
        0, kind, challenge, request_id, None if most is None else most.to_bytes(2, "little")
    )


def push_answer_head(head: AnswerHead) -> bytes:
    """Return the head of an answer."""
    kind, challenge, request_id, split = head
    return _push(ANSWER, kind, challenge, request_id, None if split is None else bytes(split))


def pull_query_head(data: bytes, body: int) -> QueryHead:
    """Read the head of a question; `body` is where `find_body` says that it ends.

    Flags that nobody knows are ignored, and so is what stands behind the known fields. Raises
    `MalformedMessage`.
    """
    kind, challenge, request_id, split = _pull(data, body)
    most = None if split is None else int.from_bytes(split, "little")
    return QueryHead(kind, challenge, request_id, most)


def pull_answer_head(data: bytes, body: int) -> AnswerHead:
    """Read the head of an answer, as `pull_query_head` does."""
    if not is_answer(data):
        raise MalformedMessage("not an answer")
    kind, challenge, request_id, split = _pull(data, body)
    return AnswerHead(kind, challenge, request_id, None if split is None else (split[0], split[1]))


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


def _pull(data: bytes, body: int) -> tuple[int, int | None, int | None, bytes | None]:
    """Return type, challenge, request id and the two bytes of a split, None where there are none.

    Without a reader's help: every question comes through here, most of them from strangers.
    """
    flags, at = data[FLAGS_AT], FLAGS_AT + 1
    if flags & MORE:
        reader = Reader(data[:body], FLAGS_AT)
        flags, at = pull_bits(reader), reader.at
    challenge = request_id = split = None
    if flags & CHALLENGE:
        challenge = int.from_bytes(data[at : at + 4], "little")
        at += 4
    if flags & REQUEST_ID:
        request_id = int.from_bytes(data[at : at + 4], "little")
        at += 4
    if flags & SPLIT:
        split = data[at : at + 2]
        at += 2
    if at > body:
        raise MalformedMessage("message too short")
    return data[TYPE_AT], challenge, request_id, split


def _push(
    flags: int, kind: int, challenge: int | None, request_id: int | None, split: bytes | None
) -> bytes:
    fields = b""
    if challenge is not None:
        flags |= CHALLENGE
        fields = challenge.to_bytes(4, "little")
    if request_id is not None:
        flags |= REQUEST_ID
        fields += request_id.to_bytes(4, "little")
    if split is not None:
        flags |= SPLIT
        fields += split
    return PREFIX + bytes((SMALLEST_HEAD + len(fields), kind, flags)) + fields
