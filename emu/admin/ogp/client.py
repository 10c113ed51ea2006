"""Queries a server by OGP; the answer is plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import IntFlag
from typing import Any, Final

from emu.admin.ogp.elements import Name
from emu.admin.ogp.fields import V91, OgpVersion
from emu.admin.ogp.messages import (
    DefaultQuery,
    Error,
    OgpContent,
    QueryHead,
    Type,
    everything,
    find_body,
    is_answer,
    pull_answer,
    pull_answer_head,
    push_query,
    push_query_head,
)
from emu.admin.ogp.responder import OgpJoiner
from emu.errors import CommandError, MalformedDatagram, MalformedMessage

MOST_CHALLENGES: Final = 3
"""Times that a query is repeated because the server refuses its challenge."""
REFUSALS: Final = {
    Error.BANNED: "it has banned this address",
    Error.TYPE: "it does not know this type of query",
    Error.HEAD: "it does not understand the head of the query",
    Error.CHALLENGE: "it refuses its own challenge",
    Error.BODY: "it does not understand the query",
}


class OgpQuestion:
    """The default query; `answer` is the server's answer."""

    def __init__(
        self, request_id: int, dialect: OgpVersion = V91, query: DefaultQuery | None = None
    ) -> None:
        """Query everything, or what `query` names.

        `request_id` is not 0 and differs for each query.
        """
        self._dialect = dialect
        self._request_id = request_id
        head = QueryHead(Type.DEFAULT, challenge=0, request_id=request_id)
        self._datagram = push_query_head(head) + push_query(query or everything(dialect), dialect)
        self._joiner = OgpJoiner()
        self._challenges = 0
        self.answer: OgpContent | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete."""
        return self.answer is not None

    def datagram(self) -> bytes:
        """Return the query, with the challenge if there is one."""
        return self._datagram

    def receive(self, data: bytes) -> bool:
        """Handle a datagram; return True if the query must be sent again, with a challenge."""
        try:
            start = find_body(data)
        except MalformedDatagram as error:
            raise MalformedMessage(error.reason) from None
        head = pull_answer_head(data, start)
        # Some servers leave the id out, so a missing one is accepted.
        if head.request_id not in (None, self._request_id):
            raise MalformedMessage("answer to another query")
        if head.type == Type.ERROR:
            return self._refused(data[start:])
        if head.type != Type.DEFAULT:
            raise MalformedMessage("answer of another type")
        body = self._joiner.join(head, data[start:])
        if body is not None:
            self.answer = pull_answer(body, self._dialect)
        return False

    def _refused(self, body: bytes) -> bool:
        """Repeat the query with the copy that comes with error 3; other errors end it."""
        if not body or body[0] not in REFUSALS:
            raise MalformedMessage("unknown error")
        error = Error(body[0])
        self._challenges += 1
        if error is not Error.CHALLENGE or self._challenges > MOST_CHALLENGES:
            raise CommandError(f"the server refuses: {REFUSALS[error]}")
        copy = body[1:]
        # The copy comes from the network and is sent back as it is, so it is checked first.
        self._check(copy)
        self._datagram = copy
        return True

    def _check(self, copy: bytes) -> None:
        """Refuse a copy of another query: a forged answer must not choose what is sent."""
        try:
            start, own = find_body(copy), find_body(self._datagram)
        except MalformedDatagram:
            raise MalformedMessage("the copy is no query") from None
        # The heads may differ by the challenge; the bodies must be the same.
        if is_answer(copy) or copy[start:] != self._datagram[own:]:
            raise MalformedMessage("the copy is another query")


def as_record(content: OgpContent) -> dict[str, Any]:
    """Return a content as JSON; missing sections are left out."""
    record = {one.name: getattr(content, one.name) for one in fields(content) if one.compare}
    if content.rules is not None:
        record["rules"] = dict(content.rules)
    return {name: _plain(value) for name, value in record.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Name):
        return value.text
    if isinstance(value, IntFlag):
        return [str(flag.name).lower() for flag in value]
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
