"""Answers Source server queries (A2S); every query needs a challenge.

An answer is longer than its query. A challenge proves that the sender receives at its address, so
that a spoofed query cannot be used for amplification.

Source: docs/protocol/administration/a2s.md#ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from emu.admin.a2s.messages import (
    CHUNK_SIZE,
    MOST_BYTES,
    NUMBERS,
    A2sInfo,
    A2sPlayer,
    A2sQuery,
    pull_query,
    push_challenge,
    push_info,
    push_players,
    push_rules,
    split,
)
from emu.admin.status import ServerStatus
from emu.errors import MalformedMessage
from emu.limits.rates import ANY_PORT, Challenges
from emu.texts import counted
from emu.times import Monotonic

FOLDER: Final = "eq2"
_SYSTEMS: Final = {"win32": "w", "cygwin": "w", "darwin": "m"}
_BYTE: Final = 0xFF


def info_of(status: ServerStatus) -> A2sInfo:
    """Return the server's entry in a list.

    A byte cannot hold large counts; the entry is full only if the server is.
    """
    # The field is a byte; `_keywords` has the real numbers.
    places = min(status.capacity or _BYTE, _BYTE)
    is_full = status.online >= status.capacity > 0
    return A2sInfo(
        name=status.name,
        map=status.map_file,
        folder=FOLDER,
        game=status.game,
        # One less than the places: a list that shows 255 of 255 would call the server full although
        # more can join.
        players=status.online if is_full else min(status.online, places - 1),
        places=places,
        version=status.version,
        system=_SYSTEMS.get(status.platform, "l"),
        private=status.locked,
        port=status.port,
        keywords=",".join(_keywords(status)),
    )


def _keywords(status: ServerStatus) -> list[str]:
    """Return search words, and the numbers that are too large for a byte."""
    words = [FOLDER, "pve"]
    if status.online >= _BYTE:
        words.append(f"players:{status.online}")
    if status.places > _BYTE:
        words.append(f"places:{status.places}")
    return words


def players_of(status: ServerStatus) -> list[A2sPlayer]:
    """Return the players; the score is the level."""
    return [
        A2sPlayer(player.name, player.level, status.taken - player.since)
        for player in status.players
    ]


def rules_of(status: ServerStatus) -> list[tuple[str, str]]:
    """Return the rules, sorted by name, with the full counts, the zones and the behaviors."""
    rules = dict(status.rules) | {
        "players": str(status.online),
        "uptime": str(int(status.uptime)),
    }
    for zone in status.zones:
        rules[f"zone {zone.file} {zone.instance}"] = counted(zone.players, "player")
    for one in status.add_ons:
        rules[f"behavior {one.name}"] = one.version
    return sorted(rules.items())


MOST_DATAGRAMS: Final = 8
"""Maximum number of datagrams of one answer."""


class _Pulled(NamedTuple):
    """A datagram and its parsed query."""

    # The datagram itself is kept, because the next call proves by identity that it is the same.
    data: bytes
    address: tuple[str, int]
    now: Monotonic
    query: A2sQuery
    is_proven: bool


class A2sResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(self, status: Callable[[Monotonic], ServerStatus], challenges: Challenges) -> None:
        """Answer with what `status` returns: the same object until the status changes."""
        self._status = status
        self._challenges = challenges
        self._seen: ServerStatus | None = None
        self._answers: dict[A2sQuery, bytes] = {}
        self._number = 0
        self._pulled: _Pulled | None = None
        """The last query that `validates` has parsed; `answer` gets the same datagram next."""
        self.counters: Counter[str] = Counter()
        """Queries by result."""

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Return whether a datagram has a challenge of its address."""
        # Cleared first: after an exception, `answer` must not find the query of another datagram.
        self._pulled = None
        try:
            query, number = pull_query(data)
        except MalformedMessage:
            return False
        is_proven = self._accepts(number, address[0], now)
        self._pulled = _Pulled(data, address, now, query, is_proven)
        return is_proven

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for a datagram that is not a query."""
        pulled, self._pulled = self._pulled, None
        # Address and time as well: the same bytes from another sender have another proof.
        if pulled is not None and pulled.data is data and pulled[1:3] == (address, now):
            query, is_proven = pulled.query, pulled.is_proven
        else:
            try:
                query, number = pull_query(data)
            except MalformedMessage as error:
                self.counters[error.reason] += 1
                return []
            is_proven = self._accepts(number, address[0], now)
        # The challenge is shorter than every query, so a spoofed one is worth nothing to its
        # sender.
        if not is_proven:
            self.counters["challenges"] += 1
            return [push_challenge(self._challenges.issue(address[0], ANY_PORT, now))]
        self.counters[query.name.lower()] += 1
        # All datagrams of one answer have this number, so that clients do not mix two answers.
        self._number = (self._number + 1) & NUMBERS
        return split(self._cached(query, now), self._number)

    def _accepts(self, number: int | None, host: str, now: Monotonic) -> bool:
        return number is not None and self._challenges.accepts(number, host, ANY_PORT, now)

    def _cached(self, query: A2sQuery, now: Monotonic) -> bytes:
        """Return an answer, cached for equal queries."""
        status = self._status(now)
        # A new status makes all answers old at once, so they need no time of their own.
        if status is not self._seen:
            self._seen = status
            self._answers.clear()
        answer = self._answers.get(query)
        if answer is None:
            answer = self._answers[query] = _write(query, status)
        return answer


def _write(query: A2sQuery, status: ServerStatus) -> bytes:
    if query is A2sQuery.INFO:
        return push_info(info_of(status))
    if query is A2sQuery.PLAYERS:
        # One datagram: two of five tested clients cannot join several.
        return push_players(players_of(status), MOST_BYTES)
    return push_rules(rules_of(status), MOST_DATAGRAMS * CHUNK_SIZE)
