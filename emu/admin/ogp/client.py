"""Asks a server by OGP, whoever's server it is."""

from __future__ import annotations

from typing import Final

from emu.admin.ogp.body import Content, DefaultQuery, everything, pull_answer, push_query
from emu.admin.ogp.fields import V91, Dialect
from emu.admin.ogp.head import (
    Error,
    QueryHead,
    Type,
    find_body,
    is_answer,
    pull_answer_head,
    push_query_head,
)
from emu.admin.ogp.splitting import Joiner
from emu.errors import CommandError, MalformedDatagram, MalformedMessage

MOST_CHALLENGES: Final = 3
"""How often a question is asked anew because its challenge does not please."""
REFUSALS: Final = {
    Error.BANNED: "it has banned this address",
    Error.TYPE: "it does not know this type of query",
    Error.HEAD: "it does not understand the head of the query",
    Error.CHALLENGE: "it never takes the challenge that it gave",
    Error.BODY: "it does not understand the query",
}


class OgpQuestion:
    """The default query; `answer` is what the server told."""

    def __init__(
        self, request_id: int, dialect: Dialect = V91, query: DefaultQuery | None = None
    ) -> None:
        """Ask for all, or what `query` says. `request_id`: not 0, different for each question."""
        self._dialect = dialect
        self._request_id = request_id
        head = QueryHead(Type.DEFAULT, challenge=0, request_id=request_id)
        self._datagram = push_query_head(head) + push_query(query or everything(dialect), dialect)
        self._joiner = Joiner()
        self._challenges = 0
        self.answer: Content | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the answer is there."""
        return self.answer is not None

    def datagram(self) -> bytes:
        """Return the question, with the challenge once there is one."""
        return self._datagram

    def receive(self, data: bytes) -> bool:
        """Take a datagram; True when the question is to be asked with a challenge now."""
        try:
            start = find_body(data)
        except MalformedDatagram as error:
            raise MalformedMessage(error.reason) from None
        head = pull_answer_head(data, start)
        if head.request_id not in (None, self._request_id):
            raise MalformedMessage("answer to something else")
        if head.type == Type.ERROR:
            return self._refused(data[start:])
        if head.type != Type.DEFAULT:
            raise MalformedMessage("answer of another type")
        body = self._joiner.take(head, data[start:])
        if body is not None:
            self.answer = pull_answer(body, self._dialect)
        return False

    def _refused(self, body: bytes) -> bool:
        """Ask again with the copy that comes with error 3; anything else is the end."""
        if not body or body[0] not in REFUSALS:
            raise MalformedMessage("unknown error")
        error = Error(body[0])
        self._challenges += 1
        if error is not Error.CHALLENGE or self._challenges > MOST_CHALLENGES:
            raise CommandError(f"the server refuses: {REFUSALS[error]}")
        copy = body[1:]
        self._check(copy)
        self._datagram = copy
        return True

    def _check(self, copy: bytes) -> None:
        """Let nobody have us send anything but our own question."""
        try:
            start, own = find_body(copy), find_body(self._datagram)
        except MalformedDatagram:
            raise MalformedMessage("the copy is no query") from None
        if is_answer(copy) or copy[start:] != self._datagram[own:]:
            raise MalformedMessage("the copy is another query")
