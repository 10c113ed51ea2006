"""Facts of placements, kept over the end of a zone and of the server.

What changes is stored a little later and together with other changes (`PAUSE`), so that nobody
waits for the database. A zone that starts reads what is stored of it; changes of its last run that
are not stored yet count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from emu.errors import StoreError
from emu.facts import PlacementFact
from emu.processes.ports import PlacementFactStore
from emu.times import Clock, Monotonic
from emu.world.deadlines import Deadlines, Timetable

SAVE: Final = "save"
PAUSE: Final = 1.0
"""Seconds from a change until it is stored."""
MOST_ROWS: Final = 500
"""Rows of one call of the store, which must stay short."""
TRIES: Final = 4
"""Attempts to read the facts of a zone."""
AGAIN: Final = 1.0
"""Seconds between them: a connection that was lost is made anew meanwhile."""
LOOKS: Final = 40
SOON: Final = 0.05
"""How often, and after how many seconds each, `settled` looks whether everything is stored."""
LONGEST_RETRY: Final = 60.0
"""Seconds of the longest pause between two attempts to store."""
Key = tuple[int, int, int]
Kind = TypeVar("Kind", bound=PlacementFact)


class FactSaver(Generic[Kind]):
    """The facts of one kind in all running zones of a process."""

    def __init__(
        self,
        kind: type[Kind],
        subject: str,
        store: PlacementFactStore,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        clock: Clock,
        timetable: Timetable,
        failed: Callable[[str], object],
        pause: Callable[[float], Awaitable[None]],
        state: str = "",
    ) -> None:
        """`kind` is the class of the rows; `subject` says for operators what they are.

        `state` says what a zone that starts asks for, if that needs other words.

        `start` runs a coroutine that nobody awaits. `failed` is called with a line for operators
        about the first of several failures. `pause` waits for some seconds.
        """
        self._kind = kind
        self._subject = subject
        self._state = state or subject
        self._store = store
        self._start = start
        self._clock = clock
        self._deadlines: Deadlines[FactSaver[Kind], str] = timetable.deadlines(
            subject, lambda _facts, _what, _now: self.save()
        )
        self._failed = failed
        self._wait = pause
        self._unsaved: dict[Key, Kind] = {}
        self._saving: dict[Key, Kind] = {}
        self._pause = PAUSE

    def __len__(self) -> int:
        """Return how many changes are not stored yet."""
        return len(self._unsaved) + len(self._saving)

    async def of_zone(self, zone_id: int, instance: int) -> list[Kind]:
        """Return the facts of an instance of a zone, also those that are not stored yet.

        Without the database only these count; that is reported.
        """
        known = {row.key: row for row in await self._stored(zone_id, instance)}
        for changes in (self._saving, self._unsaved):
            known |= {key: one for key, one in changes.items() if key[:2] == (zone_id, instance)}
        return [one for one in known.values() if one.is_stored]

    async def _stored(self, zone_id: int, instance: int) -> Iterable[Kind]:
        """Return the facts that are stored; nothing, which is reported, without the database.

        A zone asks once, when it opens: what it does not learn then is forgotten for as long as it
        runs. So one lost answer must not count.
        """
        left = TRIES
        while True:
            left -= 1
            moment = self._clock.moment()
            try:
                return await self._store.of_zone(self._kind, zone_id, instance, moment)
            except StoreError as error:
                if not left:
                    self._failed(f"zone {zone_id}: {self._state} is not known: {error}")
                    return ()
            await self._wait(AGAIN)

    def note(self, rows: Iterable[Kind]) -> None:
        """Store rows a little later, and remove those that are not stored."""
        for row in rows:
            self._unsaved[row.key] = row
        if self._unsaved and self._deadlines.get(self, SAVE) is None and not self._saving:
            self._arm(PAUSE)

    async def forget(self, zone_id: int, instance: int) -> None:
        """Let an instance of a zone begin anew. Raises `StoreError`."""
        for key in [one for one in self._unsaved if one[:2] == (zone_id, instance)]:
            del self._unsaved[key]
        await self._store.forget(self._kind, zone_id, instance)

    def save(self) -> None:
        """Begin to store everything that has changed, unless a save is in flight."""
        # One save at a time keeps the order of changes.
        if not self._unsaved or self._saving:
            return
        self._deadlines.clear(self, SAVE)
        self._saving = dict(islice(self._unsaved.items(), MOST_ROWS))
        for key in self._saving:
            del self._unsaved[key]
        self._start(self._save())

    async def settled(self) -> None:
        """Store at once what has changed, and wait until it is stored.

        It waits for 2 seconds at most, and for no database that does not answer.
        """
        for _ in range(LOOKS):
            if not len(self) or self._pause > PAUSE:
                return
            self.save()
            await self._wait(SOON)

    def _arm(self, seconds: float) -> None:
        self._deadlines.set(self, SAVE, Monotonic(self._clock.now() + seconds))

    async def _save(self) -> None:
        try:
            await self._store.save(self._kind, [*self._saving.values()], self._clock.moment())
        except StoreError as error:
            # What has changed since is newer than what could not be stored.
            self._unsaved = self._saving | self._unsaved
            self._saving = {}
            # The first failure only: the store may be away for minutes.
            if self._pause == PAUSE:
                self._failed(f"{self._subject} could not be stored, and is stored later: {error}")
            self._pause = min(2 * self._pause, LONGEST_RETRY)
            self._arm(self._pause)
        else:
            self._saving = {}
            self._pause = PAUSE
            if self._unsaved:
                self._arm(PAUSE)
