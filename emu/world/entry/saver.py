"""Saves of characters: one record for each character that the store may not have as it is now.

A record holds the newest state and which kinds of it have changed. One save of a character is under
way at a time, and stores everything in one transaction. What changes meanwhile is in the next save.
A save that fails is tried again until it succeeds, whether or not its player is still here. Each
save carries a number that is greater than that of the save before, so that no late save of an older
state replaces a newer one.

Knows no clock and no thread: `handle_timer` gets the time, and `start` runs coroutines.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Final

from emu.errors import OutOfDate, StoreError
from emu.mailbox import PendingAnswer
from emu.model import BorneTitles, SavedState, WorldCharacter
from emu.processes.ports import WorldCharacterStore
from emu.times import Monotonic

FIRST_RETRY: Final = 1.0
"""Seconds from the first failure to the next try; doubled with each further failure."""
MOST_REMEMBERED: Final = 20_000
"""Characters whose last save is remembered by its number."""
STATE: Final = (
    "zone_id", "place", "relations", "titles", "prefix", "suffix", "hotkeys", "channels",
    "last_played",
)  # fmt: skip
"""Fields of a character that change while it is played."""


class SavedKind(enum.Enum):
    """What is stored as a whole when it changes; the place is in every save."""

    RELATIONS = "relations"
    TITLES = "titles"
    HOTKEYS = "hotkeys"
    CHANNELS = "channels"
    PLAYED = "played"


@dataclass(slots=True, eq=False)
class _Record:
    """A character that is not stored as it is now."""

    row: WorldCharacter
    kinds: set[SavedKind] = field(default_factory=set)
    """What the store may not have, besides what is being saved."""
    saving: frozenset[SavedKind] = frozenset()
    is_saving: bool = False
    is_changed: bool = False
    """Whether `row` is newer than what is being saved."""
    has_failed: bool = False
    """Whether the last save did not succeed."""
    waiting: list[PendingAnswer] = field(default_factory=list)
    """Who waits for a save that has not begun."""


class Saver:
    """Owns the saves of one process' characters."""

    def __init__(
        self,
        store: WorldCharacterStore,
        start: Callable[[Coroutine[Any, Any, None]], None],
        *,
        longest_pause: Callable[[], float],
        failed: Callable[[WorldCharacter, StoreError], None],
        wake: Callable[[], None],
    ) -> None:
        """Save into `store`.

        `start` runs a coroutine that nobody awaits, `longest_pause` returns the most seconds
        between two tries, and `failed` learns when a character's save fails for the first time.
        """
        self._store = store
        self._start = start
        self._longest_pause = longest_pause
        self._failed = failed
        self._wake = wake
        self._records: dict[int, _Record] = {}
        self._numbers: dict[int, int] = {}
        """The greatest number of a save of each character, of the saves that were begun here."""
        self._saved: dict[int, int] = {}
        """The number of the last save that succeeded."""
        self._pause = FIRST_RETRY
        self._retry_at: Monotonic | None = None
        self._must_schedule = False

    def __len__(self) -> int:
        """Return how many characters are not stored as they are now."""
        return len(self._records)

    def __contains__(self, char_id: int) -> bool:
        """Say whether a character is not stored as it is now."""
        return char_id in self._records

    # -- what is not stored ---------------------------------------------------------------------

    def put(self, row: WorldCharacter, kinds: Collection[SavedKind]) -> None:
        """Have a character's newest state stored, with the kinds that have changed."""
        record = self._updated(row, kinds)
        if not record.is_saving and not record.has_failed:
            self._begin(record)

    async def store(
        self, row: WorldCharacter, kinds: Collection[SavedKind], answer: Callable[[], PendingAnswer]
    ) -> None:
        """Store a character's newest state and wait until that is done.

        `answer` makes something to wait for. Raises `StoreError` when the next save fails; the
        state stays to be saved all the same.
        """
        record, done = self._updated(row, kinds), answer()
        record.waiting.append(done)
        if not record.is_saving:
            self._begin(record)
        await done

    def latest(self, row: WorldCharacter) -> WorldCharacter:
        """Return a character that was read from the store in its newest state."""
        record = self._records.get(row.id)
        if record is not None:
            row = replace(row, **{name: getattr(record.row, name) for name in STATE})
        return row

    def is_current(self, row: WorldCharacter) -> bool:
        """Say whether a row was read after the last save of its character that succeeded."""
        return row.id in self._records or row.revision >= self._saved.get(row.id, 0)

    def not_saved(self) -> list[SavedState]:
        """Return what a save of each character would store now that is not stored."""
        return [
            self._state(record.row, record.kinds | record.saving)
            for record in self._records.values()
        ]

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return Monotonic(-math.inf) if self._must_schedule else self._retry_at

    def handle_timer(self, now: Monotonic) -> None:
        """Try again what has failed, when that is due."""
        try:
            if self._must_schedule:
                self._must_schedule = False
                self._retry_at = Monotonic(now + self._pause)
                self._pause = min(2 * self._pause, max(FIRST_RETRY, self._longest_pause()))
            elif self._retry_at is not None and now >= self._retry_at:
                self._retry_at = None
                self.try_again()
        finally:  # what raises is tried again as well
            self._wake()

    def try_again(self) -> None:
        """Try at once what has failed: the store may be there again.

        A save that cannot begin keeps no other from it; the first of what they raise is raised.
        """
        faults: list[Exception] = []
        for record in [one for one in self._records.values() if one.has_failed]:
            try:
                if not record.is_saving:
                    self._begin(record)
            except Exception as fault:  # noqa: BLE001  # whatever it is, it is this character's
                faults.append(fault)
        if faults:
            raise faults[0]

    # -- one save -------------------------------------------------------------------------------

    def _updated(self, row: WorldCharacter, kinds: Collection[SavedKind]) -> _Record:
        record = self._records.get(row.id)
        if record is None:
            record = self._records[row.id] = _Record(row)
        record.row = row
        record.kinds.update(kinds)
        record.is_changed = record.is_saving
        return record

    def _state(self, row: WorldCharacter, kinds: Collection[SavedKind]) -> SavedState:
        """Return what the next save of a character stores."""
        return state_of(row, kinds, max(row.revision, self._numbers.get(row.id, 0)) + 1)

    def _begin(self, record: _Record) -> None:
        kinds = frozenset(record.kinds)
        state = self._state(record.row, kinds)
        record.is_saving, record.is_changed = True, False
        record.saving, record.kinds = kinds, set()
        waiting, record.waiting = record.waiting, []
        _remember(self._numbers, state)
        work = self._save(record, state, waiting)
        try:
            self._start(work)
        except Exception:
            work.close()
            if record.is_saving:
                self._over(record, state, waiting, StoreError("the save could not begin"))
            raise

    async def _save(self, record: _Record, state: SavedState, waiting: list[PendingAnswer]) -> None:
        error: StoreError | None = None
        try:
            await self._store.save_character(state.char_id, state)
        except StoreError as failure:
            error = failure
        except BaseException:
            self._over(record, state, waiting, StoreError("the save was broken off"))
            raise
        self._over(record, state, waiting, error)

    def _over(
        self,
        record: _Record,
        state: SavedState,
        waiting: list[PendingAnswer],
        error: StoreError | None,
    ) -> None:
        """Take what came of a save, and begin the next one when something has changed since.

        Whoever waits is answered when nothing is under way any more.
        """
        record.is_saving = False
        saving, record.saving = record.saving, frozenset()
        if error is None:
            _remember(self._saved, state)
            self._pause = FIRST_RETRY
            record.has_failed = False
            if record.is_changed:
                record.waiting = waiting + record.waiting
                self._begin(record)
                return
            del self._records[state.char_id]
        else:
            self._not_saved(record, saving, error)
        for one in waiting:
            if error is None:
                one.callback(None)
            else:
                one.errback(error)

    def _not_saved(self, record: _Record, saving: frozenset[SavedKind], error: StoreError) -> None:
        if not record.has_failed:
            self._failed(record.row, error)
        if isinstance(error, OutOfDate):
            del self._records[record.row.id]
            for one in record.waiting:
                one.errback(error)
            return
        record.kinds |= saving
        record.has_failed = True
        if record.waiting:
            self._begin(record)
        elif self._retry_at is None and not self._must_schedule:
            self._must_schedule = True
            self._wake()


def _remember(numbers: dict[int, int], state: SavedState) -> None:
    """Note a save's number; of too many characters the earliest are forgotten."""
    numbers.pop(state.char_id, None)
    numbers[state.char_id] = state.revision
    if len(numbers) > MOST_REMEMBERED:
        del numbers[next(iter(numbers))]


def state_of(row: WorldCharacter, kinds: Collection[SavedKind], revision: int) -> SavedState:
    """Return what a save of some kinds of a character stores. A character is somewhere."""
    assert row.place is not None  # noqa: S101  # whoever is played is somewhere
    titles = BorneTitles(given=row.titles, prefix=row.prefix, suffix=row.suffix)
    return SavedState(
        char_id=row.id,
        account_id=row.account_id,
        created=row.created,
        name=row.name,
        revision=revision,
        zone_id=row.zone_id,
        place=row.place,
        relations=row.relations if SavedKind.RELATIONS in kinds else None,
        titles=titles if SavedKind.TITLES in kinds else None,
        hotkeys=row.hotkeys if SavedKind.HOTKEYS in kinds else None,
        channels=row.channels if SavedKind.CHANNELS in kinds else None,
        last_played=row.last_played if SavedKind.PLAYED in kinds else None,
    )


def kinds_of(state: SavedState) -> set[SavedKind]:
    """Return the kinds that a save names."""
    values = {
        SavedKind.RELATIONS: state.relations,
        SavedKind.TITLES: state.titles,
        SavedKind.HOTKEYS: state.hotkeys,
        SavedKind.CHANNELS: state.channels,
        SavedKind.PLAYED: state.last_played,
    }
    return {kind for kind, value in values.items() if value is not None}


def with_state(row: WorldCharacter, state: SavedState) -> WorldCharacter:
    """Return a character with what a save says of it."""
    changes: dict[str, Any] = {
        name: value
        for name in ("relations", "hotkeys", "channels", "last_played")
        if (value := getattr(state, name)) is not None
    }
    if state.titles is not None:
        titles = state.titles
        changes |= {"titles": titles.given, "prefix": titles.prefix, "suffix": titles.suffix}
    return replace(row, zone_id=state.zone_id, place=state.place, **changes)
