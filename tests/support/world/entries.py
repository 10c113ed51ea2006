"""Clients that enter a test world with keys, without a network."""

from __future__ import annotations

import struct
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

from emu.errors import StoreError
from emu.model import WorldCharacter
from emu.times import Moment, Monotonic
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.zone_entry import ZoneEntry
from emu.world.events import StatusChanged
from emu.world.rules import AdmissionRules
from tests.support.coroutines import finish
from tests.support.times import ManualClock
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.worlds import WorldHarness

CHARACTER = WorldCharacter(
    id=5, account_id=101, name="Aldana", race=9, class_=0, gender=1, deity=0, level=1,
    starting_zone=4, zone_id=325, client_version=546, created=Moment(0.0),
)  # fmt: skip


class EntryLink:
    """The session of a client that enters."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.closed = 0
        self.trusted = False
        self.account_id = 0

    def charge_to(self, account_id: int) -> None:
        """Note the account."""
        self.account_id = account_id

    def trust(self) -> None:
        """Note the trust."""
        self.trusted = True

    def send(self, opcode: int, payload: bytes) -> None:
        """Keep what is sent."""
        self.sent.append((opcode, payload))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine."""
        finish(work)

    def close(self) -> None:
        """Count the end."""
        self.closed += 1

    def capacity(self) -> int:
        """Return much."""
        return 10_000

    def wake(self) -> None:
        """Nothing sleeps here."""

    @property
    def replies(self) -> list[tuple[int, bytes]]:
        """The login replies that it was sent."""
        return [entry for entry in self.sent if entry[0] == 4]


class EntryHarness:
    """The way into a test world by keys."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.changes = 0
        inside = self.world = WorldHarness()
        inside.world.events.subscribe(StatusChanged, lambda _event: self.changed())
        self.inside = inside.service
        self.presence = inside.presence
        self.keys = inside.keys
        self.admission = WorldAdmissionRules(
            AdmissionRules(max_players=2), self.presence, self.keys
        )
        self.characters = {5: CHARACTER}
        inside.store.rows[5] = CHARACTER
        self.failing = False
        self.zone_entry = ZoneEntry(
            dialects=DIALECTS, inside=self.inside, admission=self.admission,
            presence=self.presence, claim=self.claim, played=self.played,
            report=self.events.append, changed=self.changed, clock=ManualClock(0.0),
        )  # fmt: skip
        self.last: tuple[int, Moment] | None = None

    async def claim(self, account_id: int, _char_id: int) -> list[WorldCharacter]:
        """Return the characters of an account."""
        if self.failing:
            raise StoreError("disk full")
        self.meanwhile()
        stored = self.world.store.rows
        return [
            replace(row, revision=stored.get(row.id, row).revision)
            for row in self.characters.values()
            if row.account_id == account_id
        ]

    def meanwhile(self) -> object:
        """What happens while the store is asked."""

    async def played(self, char_id: int, moment: Moment) -> None:
        """Keep when a character was played."""
        self.last = (char_id, moment)

    def changed(self) -> None:
        """Count the changes of the status."""
        self.changes += 1

    def visit(self, now: float = 0.0) -> tuple[EntryLink, Any]:
        """Connect a client."""
        link = EntryLink()
        return link, self.zone_entry.connect(cast("Any", link), "127.0.0.1", Monotonic(now))


def request(key: int, account: int = 101, version: int = 546) -> bytes:
    """The 546 layout: account, key, version, five words.

    Source: docs/protocol/world/entering.md#login-by-num.
    """
    return struct.pack("<IIH5I", account, key, version, 0, 0, 0, 0, 0)


def let_in(harness: EntryHarness, char_id: int = 5) -> tuple[EntryLink, Any, int]:
    """Let a client of 546 in with a new key."""
    key = finish(harness.keys.issue(101, char_id, "Aldana"))
    link, visitor = harness.visit()
    visitor.message(1, request(key), 1.0)
    return link, visitor, key
