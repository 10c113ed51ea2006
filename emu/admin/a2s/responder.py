"""Answers Source's server queries; nobody is told anything without a challenge.

Source: docs/protocol/administration/a2s.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from emu.admin.a2s.content import info_of, players_of, rules_of
from emu.admin.a2s.messages import (
    Query,
    pull_query,
    push_challenge,
    push_info,
    push_players,
    push_rules,
)
from emu.admin.a2s.splitting import MOST_BYTES, NUMBERS, PART_SIZE, split
from emu.admin.status import ServerStatus
from emu.errors import MalformedMessage
from emu.limits.challenges import ANY_PORT, Challenges
from emu.times import Monotonic

MOST_PARTS: Final = 8
"""Datagrams of one answer."""


class A2sResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(self, status: Callable[[Monotonic], ServerStatus], challenges: Challenges) -> None:
        """Tell what `status` returns; the same object for as long as it is the same."""
        self._status = status
        self._challenges = challenges
        self._seen: ServerStatus | None = None
        self._answers: dict[Query, bytes] = {}
        self._number = 0
        self.counters: Counter[str] = Counter()
        """Questions by what became of them."""

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram has a challenge that its address was given."""
        try:
            _, number = pull_query(data)
        except MalformedMessage:
            return False
        return number is not None and self._challenges.accepts(number, address[0], ANY_PORT, now)

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no question."""
        try:
            query, number = pull_query(data)
        except MalformedMessage as error:
            self.counters[error.reason] += 1
            return []
        host = address[0]
        if number is None or not self._challenges.accepts(number, host, ANY_PORT, now):
            self.counters["challenges"] += 1
            return [push_challenge(self._challenges.issue(host, ANY_PORT, now))]
        self.counters[query.name.lower()] += 1
        self._number = (self._number + 1) & NUMBERS
        return split(self._told(query, now), self._number)

    def _told(self, query: Query, now: Monotonic) -> bytes:
        """Return an answer, made once for everybody who asks the same."""
        status = self._status(now)
        if status is not self._seen:
            self._seen = status
            self._answers.clear()
        answer = self._answers.get(query)
        if answer is None:
            answer = self._answers[query] = _write(query, status)
        return answer


def _write(query: Query, status: ServerStatus) -> bytes:
    if query is Query.INFO:
        return push_info(info_of(status))
    if query is Query.PLAYERS:
        # One datagram: two of five clients that were tried cannot put parts together.
        return push_players(players_of(status), MOST_BYTES)
    return push_rules(rules_of(status), MOST_PARTS * PART_SIZE)
