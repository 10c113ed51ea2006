"""Answers Source server queries; every query needs a challenge first.

Source: docs/protocol/administration/a2s.md#ours.

Source: docs/protocol/administration/a2s.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from emu.admin.a2s.messages import (
    MOST_BYTES,
    NUMBERS,
    PART_SIZE,
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
    """Return the server as a list shows it: full only when it is, however many a byte can say."""
    places = min(status.room or _BYTE, _BYTE)
    is_full = status.online >= status.room > 0
    return A2sInfo(
        name=status.name,
        map=status.map_file,
        folder=FOLDER,
        game=status.game,
        players=status.online if is_full else min(status.online, places - 1),
        places=places,
        version=status.version,
        system=_SYSTEMS.get(status.platform, "l"),
        private=status.locked,
        port=status.port,
        keywords=",".join(_keywords(status)),
    )


def _keywords(status: ServerStatus) -> list[str]:
    """Return words to search for, and the numbers that are too large for a byte."""
    words = [FOLDER, "pve"]
    if status.online >= _BYTE:
        words.append(f"players:{status.online}")
    if status.places > _BYTE:
        words.append(f"places:{status.places}")
    return words


def players_of(status: ServerStatus) -> list[A2sPlayer]:
    """Return the players; their score is their level."""
    return [
        A2sPlayer(player.name, player.level, status.taken - player.since)
        for player in status.players
    ]


def rules_of(status: ServerStatus) -> list[tuple[str, str]]:
    """Return the rules, with the counts in full, the zones and the behaviors, by name."""
    rules = dict(status.rules) | {
        "players": str(status.online),
        "uptime": str(int(status.uptime)),
    }
    for zone in status.zones:
        rules[f"zone {zone.file} {zone.instance}"] = counted(zone.players, "player")
    for one in status.add_ons:
        rules[f"behavior {one.name}"] = one.version
    return sorted(rules.items())


MOST_PARTS: Final = 8
"""Datagrams of one answer."""


class _Pulled(NamedTuple):
    """A datagram, and what was read from it."""

    data: bytes
    address: tuple[str, int]
    now: Monotonic
    query: A2sQuery
    is_proven: bool


class A2sResponder:
    """A `emu.net.udp.query.QueryCore`."""

    def __init__(self, status: Callable[[Monotonic], ServerStatus], challenges: Challenges) -> None:
        """Tell what `status` returns; the same object for as long as it is the same."""
        self._status = status
        self._challenges = challenges
        self._seen: ServerStatus | None = None
        self._answers: dict[A2sQuery, bytes] = {}
        self._number = 0
        self._pulled: _Pulled | None = None
        """What `validates` has read last, for `answer`, which is given the same next."""
        self.counters: Counter[str] = Counter()
        """Questions by what became of them."""

    def validates(self, data: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Say whether a datagram has a challenge that its address was given."""
        self._pulled = None
        try:
            query, number = pull_query(data)
        except MalformedMessage:
            return False
        is_proven = self._accepts(number, address[0], now)
        self._pulled = _Pulled(data, address, now, query, is_proven)
        return is_proven

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no question."""
        pulled, self._pulled = self._pulled, None
        if pulled is not None and pulled.data is data and pulled[1:3] == (address, now):
            query, is_proven = pulled.query, pulled.is_proven
        else:
            try:
                query, number = pull_query(data)
            except MalformedMessage as error:
                self.counters[error.reason] += 1
                return []
            is_proven = self._accepts(number, address[0], now)
        if not is_proven:
            self.counters["challenges"] += 1
            return [push_challenge(self._challenges.issue(address[0], ANY_PORT, now))]
        self.counters[query.name.lower()] += 1
        self._number = (self._number + 1) & NUMBERS
        return split(self._told(query, now), self._number)

    def _accepts(self, number: int | None, host: str, now: Monotonic) -> bool:
        return number is not None and self._challenges.accepts(number, host, ANY_PORT, now)

    def _told(self, query: A2sQuery, now: Monotonic) -> bytes:
        """Return an answer, made once for everybody who asks the same."""
        status = self._status(now)
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
        # One datagram: two of five clients that were tried cannot put parts together.
        return push_players(players_of(status), MOST_BYTES)
    return push_rules(rules_of(status), MOST_PARTS * PART_SIZE)
