"""Answers OGP's questions.

Only a challenge that the asker's address was given draws more than a few bytes. The head says
what is wrong with a question, and it says it at most once: answers are never answered. Source:
docs/protocol/administration/ogp.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ogp.body import Content, pull_query, push_answer
from emu.admin.ogp.fields import DIALECTS, Dialect
from emu.admin.ogp.head import (
    AnswerHead,
    Error,
    QueryHead,
    Type,
    find_body,
    is_answer,
    pull_query_head,
    push_answer_head,
    with_challenge,
)
from emu.admin.ogp.splitting import room, split
from emu.errors import MalformedDatagram, MalformedMessage
from emu.limits.challenges import ANY_PORT, Challenges
from emu.limits.throttle import Allowance, Throttle
from emu.times import Monotonic

LONGEST_QUERY: Final = 512
"""Bytes of a question; the longest that means anything has some 60."""
LEAST_BYTES: Final = 500
MOST_BYTES: Final = 1500
DEFAULT_BYTES: Final = 1400
"""Of one answer datagram: what may be asked for, and what it is when nothing is."""
_KEPT: Final = 64
"""Bodies kept of one content: questions that differ."""


@dataclass(frozen=True, slots=True)
class OgpRules:
    """What the responder does."""

    dialects: Sequence[Dialect] = DIALECTS
    """Those that are answered, tried in this order."""
    most_parts: int = 16
    """Datagrams of one answer."""
    banned_interval: float = 10.0
    """Seconds between two answers to a banned address."""


class OgpResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(
        self,
        content: Callable[[Monotonic], Content],
        challenges: Challenges,
        rules: OgpRules | None = None,
        *,
        is_banned: Callable[[str], bool] = lambda _host: False,
    ) -> None:
        """Answer with what `content` returns; the same object for as long as it is the same."""
        self._content = content
        self._challenges = challenges
        self._rules = rules or OgpRules()
        self._is_banned = is_banned
        self._banned = Throttle(Allowance(1, self._rules.banned_interval), most_keys=1024)
        self._request_id = 0
        self._seen: Content | None = None
        self._bodies: dict[tuple[bytes, int], tuple[str, bytes]] = {}
        """By question and most bytes: what it is counted as, and what is told."""
        self.counters: Counter[str] = Counter()
        """Questions by what became of them."""

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram has a challenge that its address was given."""
        try:
            head = pull_query_head(data, find_body(data))
        except (MalformedDatagram, MalformedMessage):
            return False
        return self._is_validated(head, address[0], now)

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no question."""
        try:
            body = find_body(data)
        except MalformedDatagram as error:
            return self._silence(error.reason)
        if is_answer(data) or len(data) > LONGEST_QUERY:
            return self._silence("an answer" if is_answer(data) else "too long")
        host = address[0]
        if self._is_banned(host):
            return self._turn_away(host, now)
        try:
            head = pull_query_head(data, body)
        except MalformedMessage:
            return self._error(Error.HEAD, AnswerHead(Type.ERROR))
        number = None
        if not self._is_validated(head, host, now):
            number = self._challenges.issue(host, ANY_PORT, now)
        return self._answer(data, body, head, number, now)

    def _is_validated(self, head: QueryHead, host: str, now: Monotonic) -> bool:
        number = head.challenge
        if not number:
            return False
        return self._challenges.accepts(number, host, ANY_PORT, now)

    def _answer(
        self, data: bytes, body: int, head: QueryHead, number: int | None, now: Monotonic
    ) -> list[bytes]:
        """Answer a question whose head is read; `number` is None when its address is validated."""
        kind, _, request_id, most = head
        if request_id == 0:
            request_id = self._next_request_id()
        if most is None:
            most = DEFAULT_BYTES
        elif not LEAST_BYTES <= most <= MOST_BYTES:
            return self._error(Error.HEAD, AnswerHead(Type.ERROR, number, request_id))
        if kind == Type.PING:
            self.counters["pings"] += 1
            return [push_answer_head(AnswerHead(kind, number, request_id))]
        if kind != Type.DEFAULT:
            return self._error(Error.TYPE, AnswerHead(Type.ERROR, number, request_id))
        if number is not None:
            return self._ask_again(data, body, AnswerHead(Type.ERROR, number, request_id))
        try:
            told = self._told(data[body:], most, now)
        except MalformedMessage:
            return self._error(Error.BODY, AnswerHead(Type.ERROR, None, request_id))
        head_of_it = AnswerHead(Type.DEFAULT, None, request_id)
        return split(head_of_it, told, most, request_id or self._next_request_id())

    def _ask_again(self, data: bytes, body: int, head: AnswerHead) -> list[bytes]:
        """Return the question with the challenge in it that its sender is to show."""
        assert head.challenge is not None  # noqa: S101  # that is what this is for
        try:
            copy = with_challenge(data, body, head.challenge)
        except MalformedMessage:
            return self._error(Error.HEAD, head)
        return self._error(Error.CHALLENGE, head, copy)

    def _told(self, asked: bytes, most: int, now: Monotonic) -> bytes:
        """Return the body of an answer, made once for everybody who asks the same.

        Raises `MalformedMessage` when the body of the question is wrong.
        """
        content = self._content(now)
        if content is not self._seen or len(self._bodies) >= _KEPT:
            self._seen = content
            self._bodies.clear()
        kept = self._bodies.get((asked, most))
        if kept is None:
            dialect, query = pull_query(asked, self._rules.dialects)
            body = push_answer(content, query, dialect, room(most, self._rules.most_parts))
            kept = self._bodies[asked, most] = f"queries {dialect.name}", body
        reason, body = kept
        self.counters[reason] += 1
        return body

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []

    def _turn_away(self, host: str, now: Monotonic) -> list[bytes]:
        if not self._banned.take(host, now):
            return self._silence("banned")
        return self._error(Error.BANNED, AnswerHead(Type.ERROR))

    def _error(self, error: Error, head: AnswerHead, copy: bytes = b"") -> list[bytes]:
        self.counters[f"error {error.name.lower()}"] += 1
        return [push_answer_head(head) + bytes((error,)) + copy]

    def _next_request_id(self) -> int:
        self._request_id = self._request_id % 0xFFFFFFFF + 1
        return self._request_id


def master_uplink(game_id: int) -> bytes:
    """Return what a server sends to a master server, unasked, to be listed there."""
    return push_answer_head(AnswerHead(Type.MASTER)) + game_id.to_bytes(2, "little")
