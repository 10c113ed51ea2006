"""Dead spawns of the content file, kept over the end of a zone and of the server.

What dies is stored a little later and together with other deaths (`PAUSE`), so that nobody waits
for the database. A zone that starts reads what is dead in it; unsaved deaths of its last run count.
Source: docs/guides/content.md#deaths.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, Final

from emu.content.population import Death
from emu.errors import StoreError
from emu.processes.ports import DeadSpawn, DeadSpawnStore
from emu.times import Clock, Moment, Monotonic
from emu.world.deadlines import Deadlines, Timetable

SAVE: Final = "save"
PAUSE: Final = 1.0
"""Seconds from a death until it is stored."""
MOST_ROWS: Final = 500
"""Deaths of one call of the store, which must stay short."""
LONGEST_RETRY: Final = 60.0
"""Seconds of the longest pause between two attempts to store."""
Key = tuple[int, int, int]


class Deaths:
    """What is dead in all running zones of a process."""

    def __init__(
        self,
        store: DeadSpawnStore,
        start: Callable[[Coroutine[Any, Any, None]], object],
        clock: Clock,
        timetable: Timetable,
        failed: Callable[[str], object],
    ) -> None:
        """`start` runs a coroutine that nobody awaits.

        `failed` is called with a line for operators about the first of several failures.
        """
        self._store = store
        self._start = start
        self._clock = clock
        self._deadlines: Deadlines[Deaths, str] = timetable.deadlines(
            "what died", lambda _deaths, _what, _now: self.save()
        )
        self._failed = failed
        self._unsaved: dict[Key, DeadSpawn] = {}
        self._saving: dict[Key, DeadSpawn] = {}
        self._pause = PAUSE

    def __len__(self) -> int:
        """Return how many changes are not stored yet."""
        return len(self._unsaved) + len(self._saving)

    async def of_zone(self, zone_id: int, instance: int) -> dict[int, float | None]:
        """Return the placements that are dead, with the seconds until they return; None: never.

        Without the database only what is not stored yet counts; that is reported.
        """
        try:
            rows = await self._store.of_zone(zone_id, instance, self._clock.moment())
        except StoreError as error:
            self._failed(f"zone {zone_id}: what was dead in it is not known: {error}")
            rows = ()
        known = {row.key: row for row in rows}
        for changes in (self._saving, self._unsaved):
            known |= {key: one for key, one in changes.items() if key[:2] == (zone_id, instance)}
        now = self._clock.moment()
        return {
            one.placement_id: None if one.returns is None else one.returns - now
            for one in known.values()
            if one.is_dead and (one.returns is None or one.returns > now)
        }

    def note(self, zone_id: int, instance: int, deaths: Iterable[Death], *, for_ever: bool) -> None:
        """Store a little later what died, and remove what stands again.

        `for_ever`: what never returns is stored, too. In a public zone it is not: a zone that runs
        for months would become empty.
        """
        now, moment = self._clock.now(), self._clock.moment()
        for one in deaths:
            is_dead = one.is_dead and (for_ever or one.returns is not None)
            returns = None if one.returns is None else Moment(moment + one.returns - now)
            row = DeadSpawn(zone_id, instance, one.placement_id, returns, is_dead)
            self._unsaved[row.key] = row
        if self._unsaved and self._deadlines.get(self, SAVE) is None and not self._saving:
            self._arm(PAUSE)

    async def forget(self, zone_id: int, instance: int) -> None:
        """Let an instance of a zone begin anew. Raises `StoreError`."""
        for key in [one for one in self._unsaved if one[:2] == (zone_id, instance)]:
            del self._unsaved[key]
        await self._store.forget(zone_id, instance)

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

    def _arm(self, seconds: float) -> None:
        self._deadlines.set(self, SAVE, Monotonic(self._clock.now() + seconds))

    async def _save(self) -> None:
        try:
            await self._store.save_dead([*self._saving.values()], self._clock.moment())
        except StoreError as error:
            # What has changed since is newer than what could not be stored.
            self._unsaved = self._saving | self._unsaved
            self._saving = {}
            # The first failure only: the store may be away for minutes.
            if self._pause == PAUSE:
                self._failed(f"what died could not be stored, and is stored later: {error}")
            self._pause = min(2 * self._pause, LONGEST_RETRY)
            self._arm(self._pause)
        else:
            self._saving = {}
            self._pause = PAUSE
            if self._unsaved:
                self._arm(PAUSE)
