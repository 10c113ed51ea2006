"""Stand-ins for everything the login service needs of the outside, and a driver for coroutines.

A coroutine is run by hand: it goes on until it awaits a `Later`, and goes on again when that is
resolved. So a test decides when a store or an authenticator answers, without a reactor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Coroutine, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from emu.errors import StoreError
from emu.login.events import LoginEvent
from emu.login.ports import LoginGranted, LoginRefusal, LoginRefusalReason, WorldObserver
from emu.model import Account, Character, ClientLog, CreateResponse, Equipment, PlayResponse
from emu.times import Moment, Monotonic
from emu.worlds import WorldEntry, ZoneDescription

START = Monotonic(0.0)


class Later:
    """An answer that comes when the test says so."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: Exception | None = None
        self.is_done = False
        self._waiting: list[Callable[[], None]] = []

    def __await__(self) -> Generator[Later, None, Any]:
        if not self.is_done:
            yield self
        if self.error is not None:
            raise self.error
        return self.value

    def when_done(self, call: Callable[[], None]) -> None:
        self._waiting.append(call)

    def resolve(self, value: Any = None) -> None:
        self.value, self.is_done = value, True
        self._go_on()

    def fail(self, error: Exception) -> None:
        self.error, self.is_done = error, True
        self._go_on()

    def _go_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine until it awaits a `Later` that is not done; go on when it is."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return
    assert isinstance(waits_for, Later)
    waits_for.when_done(lambda: run(coroutine))


class FakeLink:
    """Records what a client is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.closed: str | None = None
        self.wakes = 0
        self.trusted = False

    def charge_to(self, account_id: int) -> None:
        self.account_id = account_id

    def trust(self) -> None:
        self.trusted = True

    def send(self, opcode: int, payload: bytes) -> None:
        assert self.closed is None, "sent to a closed session"
        self.sent.append((opcode, payload))

    def close(self, reason: str) -> None:
        assert self.closed is None, "closed twice"
        self.closed = reason

    def wake(self) -> None:
        self.wakes += 1

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        run(work)

    def take(self) -> list[tuple[int, bytes]]:
        """Return what was sent since the last call."""
        sent, self.sent = self.sent, []
        return sent


class KnownModels:
    """Knows the numbers of a few models."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        return {path: self.numbers[path] for path in paths if path in self.numbers}


class FakeAuthenticator:
    """Knows accounts by name; answers at once, or later when `holds` is set."""

    def __init__(self, accounts: Mapping[str, tuple[int, bytes]]) -> None:
        self.accounts = dict(accounts)
        self.holds = False
        self.waiting: deque[tuple[Later, LoginGranted | LoginRefusal]] = deque()
        self.asked: list[tuple[str, bytes, str, int, float]] = []
        self.error: StoreError | None = None
        self.refusal = ""
        """Why everybody is refused, if so."""
        self.wanted: Callable[[], bool] = lambda: True
        self.logins: list[tuple[int, str, int, float]] = []
        self.forgets: StoreError | None = None

    async def authenticate(
        self,
        name: str,
        password: bytes,
        address: str,
        version: int,
        now: float,
        *,
        wanted: Callable[[], bool],
    ) -> LoginGranted | LoginRefusal:
        self.asked.append((name, password, address, version, now))
        if self.error is not None:
            raise self.error
        account_id, right = self.accounts.get(name.lower(), (0, b""))
        if self.refusal:
            verdict: LoginGranted | LoginRefusal = LoginRefusal(LoginRefusalReason(self.refusal))
        elif not account_id:
            verdict = LoginRefusal(LoginRefusalReason.NO_SUCH_ACCOUNT)
        elif password != right:
            verdict = LoginRefusal(LoginRefusalReason.BAD_PASSWORD)
        else:
            verdict = LoginGranted(Account(id=account_id, name=name, password="unused"))
        if self.holds:
            later = Later()
            self.waiting.append((later, verdict))
            self.wanted = wanted
            verdict = await later
        return verdict

    async def remember_login(
        self, account: Account, address: str, version: int, moment: Moment
    ) -> None:
        self.logins.append((account.id, address, version, moment))
        if self.forgets is not None:
            raise self.forgets

    def release(self) -> None:
        """Give the oldest answer that waits."""
        later, verdict = self.waiting.popleft()
        later.resolve(verdict)


class FakeStore:
    """Characters, zones and logs in memory; answers at once, or later when `holds` is set."""

    def __init__(self) -> None:
        self.rows: list[Character] = []
        self.logs: list[ClientLog] = []
        self.zones: list[ZoneDescription] = []
        self.holds = False
        self.waiting: deque[Later] = deque()
        self.error: StoreError | None = None

    async def _answer(self) -> None:
        if self.holds:
            later = Later()
            self.waiting.append(later)
            await later
        if self.error is not None:
            raise self.error

    def release(self) -> None:
        """Let the oldest call that waits go on."""
        self.waiting.popleft().resolve()

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        await self._answer()
        return [row for row in self.rows if row.account_id == account_id and not row.deleted]

    async def add_character(self, character: Character) -> Character:
        await self._answer()
        self.rows = [
            replace(row, deleted=True)
            if (row.world_id, row.char_id) == (character.world_id, character.char_id)
            else row
            for row in self.rows
        ]
        stored = replace(character, id=len(self.rows) + 1)
        self.rows.append(stored)
        return stored

    async def delete_character(
        self, account_id: int, world_id: int, char_id: int, name: str
    ) -> bool:
        await self._answer()
        for index, row in enumerate(self.rows):
            place = (row.account_id, row.world_id, row.char_id, row.name)
            if place == (account_id, world_id, char_id, name) and not row.deleted:
                self.rows[index] = replace(row, deleted=True)
                return True
        return False

    async def update_character(
        self, account_id: int, world_id: int, char_id: int, changes: Mapping[str, int | str | float]
    ) -> bool:
        await self._answer()
        for index, row in enumerate(self.rows):
            if (row.account_id, row.world_id, row.char_id) == (account_id, world_id, char_id):
                self.rows[index] = replace(row, **changes)  # type: ignore[arg-type]
                return True
        return False

    async def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        raise AssertionError("the client side stores no equipment")

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        await self._answer()
        return list(self.zones)

    async def add_client_log(self, log: ClientLog) -> None:
        await self._answer()
        self.logs.append(log)

    async def add_bug_report(
        self, world_id: int, account_id: int, fields: Mapping[str, str | int], received: float
    ) -> None:
        raise AssertionError("the client side stores no bug reports")


class FakeWorlds:
    """Worlds that answer when the test says so, or in the very call when `answer` is set."""

    def __init__(self, *entries: WorldEntry) -> None:
        self.entries = {entry.id: entry for entry in entries}
        self.observer: WorldObserver | None = None
        self.plays: list[tuple[int, int, int, str]] = []
        self.creates: list[tuple[int, int, int, bytes]] = []
        self.deletes: list[tuple[int, int, int]] = []
        self.deaf = False
        self.play_answer: PlayResponse | None = None
        self.create_answer: CreateResponse | None = None

    def observe(self, observer: WorldObserver) -> None:
        self.observer = observer

    def listed(self) -> Sequence[WorldEntry]:
        return [self.entries[key] for key in sorted(self.entries)]

    def connected(self, world_id: int) -> WorldEntry | None:
        entry = self.entries.get(world_id)
        return entry if entry is not None and entry.up else None

    def request_play(
        self, world_id: int, account_id: int, char_id: int, client_address: str, now: Monotonic
    ) -> bool:
        if self.deaf or self.connected(world_id) is None:
            return False
        self.plays.append((world_id, account_id, char_id, client_address))
        if self.play_answer is not None and self.observer is not None:
            self.observer.play_answered(self.play_answer, now)
        return True

    def request_create(
        self, world_id: int, account_id: int, client_version: int, payload: bytes, now: Monotonic
    ) -> bool:
        if self.deaf or self.connected(world_id) is None:
            return False
        self.creates.append((world_id, account_id, client_version, payload))
        if self.create_answer is not None and self.observer is not None:
            self.observer.create_answered(self.create_answer, now)
        return True

    def notify_delete(self, world_id: int, account_id: int, char_id: int, now: Monotonic) -> None:
        self.deletes.append((world_id, account_id, char_id))

    def change(self, entry: WorldEntry, now: Monotonic = START) -> None:
        """Add or change a world and notify the observers."""
        self.entries[entry.id] = entry
        if self.observer is not None:
            self.observer.world_changed(entry, now)

    def remove(self, world_id: int, now: Monotonic = START) -> None:
        """Remove a world and notify the observers."""
        del self.entries[world_id]
        if self.observer is not None:
            self.observer.world_gone(world_id, now)


class Events(list[LoginEvent]):
    """Collects what the service reports."""

    __call__ = list.append

    def of(self, kind: type[LoginEvent]) -> list[Any]:
        """Return the events of one kind."""
        return [event for event in self if isinstance(event, kind)]
