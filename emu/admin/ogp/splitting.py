"""Answers that are too long for one datagram: cut into parts, and put together again.

Source: docs/protocol/administration/ogp.md#splits.
"""

from __future__ import annotations

from typing import Final

from emu.admin.ogp.head import AnswerHead, Type, push_answer_head
from emu.errors import MalformedMessage

MOST_PARTS: Final = 127
"""The count is a signed byte."""


_FURTHER: Final = len(push_answer_head(AnswerHead(Type.DEFAULT, None, 1, (1, 0))))
"""Bytes of the head of a part; that of the first one may have a challenge besides."""
_CHALLENGE: Final = 4


def room(most_bytes: int, parts: int) -> int:
    """Return how long the body of an answer in at most `parts` datagrams may be.

    With a challenge it may be four bytes less.
    """
    return parts * (most_bytes - _FURTHER)


def split(head: AnswerHead, body: bytes, most_bytes: int, request_id: int) -> list[bytes]:
    """Return the datagrams of an answer, none longer than `most_bytes`.

    Parts belong together by `request_id`, which is sent only with parts unless the head has it.
    Cut anywhere, also inside a value. The body must fit into `MOST_PARTS`.
    """
    whole = push_answer_head(head) + body
    if len(whole) <= most_bytes:
        return [whole]
    size = most_bytes - _FURTHER
    first = size if head.challenge is None else size - _CHALLENGE
    cuts = [0, *range(first, len(body), size), len(body)]
    count = len(cuts) - 1
    heads = [
        AnswerHead(head.type, None if number else head.challenge, request_id, (count, number))
        for number in range(count)
    ]
    return [
        push_answer_head(part) + body[start:end]
        for part, start, end in zip(heads, cuts, cuts[1:], strict=False)
    ]


class Joiner:
    """Puts the parts of one answer together, whatever their order."""

    __slots__ = ("_count", "_parts", "_request_id")

    def __init__(self) -> None:
        self._parts: dict[int, bytes] = {}
        self._count = 0
        self._request_id: int | None = None

    def take(self, head: AnswerHead, body: bytes) -> bytes | None:
        """Take one datagram; returns the whole body when all are there.

        Raises `MalformedMessage` for parts that cannot belong together.
        """
        if head.split is None:
            return body
        count, number = head.split
        if not self._parts:
            self._count, self._request_id = count, head.request_id
        if not 0 <= number < count <= MOST_PARTS or count != self._count:
            raise MalformedMessage("wrong split")
        if head.request_id != self._request_id:
            raise MalformedMessage("part of another answer")
        self._parts[number] = body
        if len(self._parts) < count:
            return None
        return b"".join(self._parts[number] for number in range(count))
