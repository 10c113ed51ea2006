"""Addresses that asked for a session and have shown nothing yet: a small record each.

The room is bounded and whoever fills it pushes out his own: a new record takes the place of the
oldest one of the same host, and only else of the oldest of all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from emu.times import Monotonic

UNKNOWN_SESSION: Final = 0
"""The session id of a client of which two ids were heard, or none."""


@dataclass(slots=True)
class HalfOpen:
    """What was answered to the SessionRequests of one address.

    `check_key` and `max_length` are those of the last SessionResponse, `answers` is how many were
    sent. `host` is what limits count the address by, `expires` when the record means nothing any
    more. `misses` counts datagrams that were valid neither for this nor for the session that the
    address has.
    """

    session_id: int
    max_length: int
    check_key: int
    host: Hashable
    expires: float
    answers: int = 0
    misses: int = 0

    def answer(self, session_id: int, max_length: int, check_key: int) -> None:
        """Take note of what is answered now; of two ids either may be a forgery."""
        if session_id != self.session_id:
            self.session_id = UNKNOWN_SESSION
        self.max_length = max_length
        self.check_key = check_key
        self.answers += 1


class HalfOpenTable:
    """The records by address, at most `limit`; all of them live equally long.

    `records` is to be looked at only.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # Ordered, because a plain dict looks through all that was deleted to find its first.
        self.records: OrderedDict[Hashable, HalfOpen] = OrderedDict()
        self._by_host: dict[Hashable, OrderedDict[Hashable, None]] = {}

    def get(self, address: Hashable, now: Monotonic) -> HalfOpen | None:
        """Return the record of an address if it still counts."""
        record = self.records.get(address)
        return record if record is not None and now < record.expires else None

    def add(self, address: Hashable, record: HalfOpen, now: Monotonic) -> None:
        """Keep a record, and make room for it; one of the same address is replaced."""
        self.remove(address)
        self._expire(now)
        if len(self.records) >= self._limit:
            self.remove(next(iter(self._by_host.get(record.host) or self.records)))
        self.records[address] = record
        addresses = self._by_host.get(record.host)
        if addresses is None:
            addresses = self._by_host[record.host] = OrderedDict()
        addresses[address] = None

    def remove(self, address: Hashable) -> None:
        """Let go of the record of an address, if there is one."""
        record = self.records.pop(address, None)
        if record is None:
            return
        addresses = self._by_host[record.host]
        del addresses[address]
        if not addresses:
            del self._by_host[record.host]

    def _expire(self, now: Monotonic) -> None:
        """Drop those whose time is over: they stand in front."""
        while self.records:
            address, record = next(iter(self.records.items()))
            if now < record.expires:
                return
            self.remove(address)
