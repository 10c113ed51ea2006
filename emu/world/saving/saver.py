"""Saves characters: at most one save of each is in flight, and the newest state wins.

A record exists for each character whose newest state may not be in the store. It has that state and
the kinds that have changed. A save stores everything in one transaction; changes made meanwhile are
in the next save. A save that fails is retried until it succeeds, even if its player has left.

Saves of a character could overtake each other: two processes may play it one after the other, and a
database that hangs may store a save late. So each save has a revision greater than the one before,
and the store refuses a revision that is not greater than the stored one (`OutOfDate`).

In a world of several processes, each that lets a character in raises its term, and the store
refuses the saves of earlier terms. So a process that was stopped for a minute, and then goes on,
stores nothing of a character that has entered another one meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Final

from emu.errors import OutOfDate, StoreError
from emu.facts import saved_facts
from emu.mailbox import PendingAnswer, start
from emu.model import SavedKind, SavedState, WorldCharacter
from emu.processes.ports import WorldCharacterStore
from emu.times import Monotonic
from emu.world.actors.unsaved import Settled

FIRST_RETRY: Final = 1.0
"""Seconds from the first failure to the first retry; doubled with each further failure."""
MOST_REMEMBERED: Final = 20_000
"""Characters whose last revision is remembered."""


@dataclass(slots=True, eq=False)
class _Record:
    """A character whose newest state may not be in the store."""

    row: WorldCharacter
    kinds: set[SavedKind] = field(default_factory=set)
    """Kinds that have changed, besides those that are being saved."""
    saving: frozenset[SavedKind] = frozenset()
    is_saving: bool = False
    is_changed: bool = False
    """Whether `row` is newer than the state that is being saved."""
    has_failed: bool = False
    """Whether the last save failed."""
    is_overdue: bool = False
    """Whether `overdue` has seen it."""
    waiting: list[PendingAnswer] = field(default_factory=list)
    """Answers for callers that wait for the next save."""
    begun: list[PendingAnswer] = field(default_factory=list)
    """Answers for callers that wait until the next save is under way."""
    settled: list[Settled] = field(default_factory=list)
    """Called when everything is stored, or with the error of the first save that fails."""

    def settle(self, error: StoreError | None) -> None:
        """Answer the callers that do not make the saver try again earlier."""
        settled, self.settled = self.settled, []
        _answer_all(settled, error)


class Saver:
    """Saves the characters of one process."""

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

        `start` runs a coroutine that nobody awaits. `longest_pause` returns the longest time in
        seconds between two attempts. `failed` is called with a character's first failure, and
        `wake` when `get_timer` has become earlier.
        """
        self._store = store
        self._start = start
        self._longest_pause = longest_pause
        self._failed = failed
        self._wake = wake
        self._records: dict[int, _Record] = {}
        self._numbers: dict[int, int] = {}
        """The revision of the last save that was begun here, by character."""
        self._saved: dict[int, int] = {}
        """The revision of the last save that succeeded, by character."""
        self._pause = FIRST_RETRY
        self._retry_at: Monotonic | None = None
        self._must_schedule = False
        self.stored_states = 0
        """States that were stored so far."""

    def __len__(self) -> int:
        """Return how many characters have unsaved state."""
        return len(self._records)

    def __contains__(self, char_id: int) -> bool:
        """Return whether a character has unsaved state."""
        return char_id in self._records

    # -- unsaved state --------------------------------------------------------------------------

    def save_state(
        self, row: WorldCharacter, kinds: Collection[SavedKind], settled: Collection[Settled] = ()
    ) -> None:
        """Save a character's newest state, with the kinds that have changed.

        `settled` are called once it is stored, or with an error as soon as a save has failed: they
        never make the saver try again earlier.
        """
        record = self._updated(row, kinds)
        if record.has_failed:
            _answer_all(settled, StoreError("the last save failed; the server tries again"))
        else:
            record.settled += settled
        # After a failure the timer begins the next save: changes must not bypass the pause.
        # While a save is in flight, `_over` begins the next one.
        if not record.is_saving and not record.has_failed:
            self._begin(record)

    async def store(
        self,
        row: WorldCharacter,
        kinds: Collection[SavedKind],
        answer: Callable[[], PendingAnswer],
        settled: Collection[Settled] = (),
    ) -> None:
        """Save a character's newest state and wait until it is stored.

        `answer` makes an object to wait for, and `settled` are called as by `save_state`. Raises
        `StoreError` if the next save fails; the saver retries it nevertheless.
        """
        record, done = self._updated(row, kinds), answer()
        record.settled += settled
        # Added before the save begins, so `_begin` takes it along. A save in flight may lack this
        # state, so it does not answer it.
        record.waiting.append(done)
        if not record.is_saving:
            self._begin(record)
        await done

    async def stored(self, char_id: int, answer: Callable[[], PendingAnswer]) -> None:
        """Wait until the newest state of a character is stored; return at once if it is.

        Raises `StoreError` if the next save fails; the saver retries it nevertheless.
        """
        record = self._records.get(char_id)
        if record is not None:
            done = answer()
            record.waiting.append(done)
            await done

    async def begun(self, char_id: int, answer: Callable[[], PendingAnswer]) -> None:
        """Wait until the newest state of a character is on its way to the store.

        What the caller gives to the store at once then shares the transaction of that save, if the
        store defers both. Returns at once while saves of the character fail.
        """
        record = self._records.get(char_id)
        if record is not None and record.is_changed and not record.has_failed:
            done = answer()
            record.begun.append(done)
            await done

    def claimed(self, row: WorldCharacter) -> None:
        """Note that this process has let a character in again: its term is greater than before.

        Unsaved state of the term directly before is this process's own, and is saved with the new
        term. Between two other terms another process has played the character, so its state counts.
        """
        record = self._records.get(row.id)
        if record is None or record.row.term >= row.term:
            return
        if record.row.term + 1 == row.term:
            record.row = replace(record.row, term=row.term)
        else:
            self._drop(record, OutOfDate(f"another process has played {row.name}"))

    def latest(self, row: WorldCharacter) -> WorldCharacter:
        """Return the newest state of a character that was read from the store."""
        record = self._records.get(row.id)
        # The store is behind: a player who returns before its save has finished must not lose the
        # last minutes.
        if record is not None:
            newest = record.row
            facts = {name: getattr(newest, name) for name in saved_facts(type(newest))}
            facts |= {"zone_id": newest.zone_id, "place": newest.place, "played": newest.played}
            row = replace(row, **facts)
        return row

    def is_current(self, row: WorldCharacter) -> bool:
        """Return whether a row was read after the last successful save of its character."""
        # With a record, `latest` replaces what is old in the row, so the row may be of any age.
        return row.id in self._records or row.revision >= self._saved.get(row.id, 0)

    def not_saved(self) -> list[SavedState]:
        """Return the unsaved state of each character, as the next save would store it."""
        return [
            # The save in flight may still fail, so what it stores counts as unsaved.
            self._state(record.row, record.kinds | record.saving)
            for record in self._records.values()
        ]

    def overdue(self) -> list[SavedState]:
        """Return the unsaved state of each character that was unsaved at the last call, too."""
        states = []
        for record in self._records.values():
            if record.is_overdue:
                states.append(self._state(record.row, record.kinds | record.saving))
            record.is_overdue = True
        return states

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`."""
        # A save ends in a coroutine, which has no `now`. It asks to be called at once, and the
        # pause begins then.
        return Monotonic(-math.inf) if self._must_schedule else self._retry_at

    def handle_timer(self, now: Monotonic) -> None:
        """Retry the saves that have failed, if that is due."""
        try:
            if self._must_schedule:
                self._must_schedule = False
                self._retry_at = Monotonic(now + self._pause)
                # One pause for all characters: if the database is down, every save fails for the
                # same reason.
                self._pause = min(2 * self._pause, max(FIRST_RETRY, self._longest_pause()))
            elif self._retry_at is not None and now >= self._retry_at:
                self._retry_at = None
                self.try_again()
        finally:  # if this raises, it is retried as well
            self._wake()

    def try_again(self) -> None:
        """Retry the saves that have failed at once: the store may be available again.

        A save that cannot begin does not stop the others; then the first exception is raised.
        """
        faults: list[Exception] = []
        for record in [one for one in self._records.values() if one.has_failed]:
            try:
                if not record.is_saving:
                    self._begin(record)
            except Exception as fault:  # noqa: BLE001  # it concerns this character only
                faults.append(fault)
        if faults:
            raise faults[0]

    # -- one save -------------------------------------------------------------------------------

    def _updated(self, row: WorldCharacter, kinds: Collection[SavedKind]) -> _Record:
        record = self._records.get(row.id)
        if record is None:
            record = self._records[row.id] = _Record(row)
        record.row = row
        # Kinds are added up, never replaced: those of a failed save are still due.
        record.kinds.update(kinds)
        record.is_changed = record.is_saving
        return record

    def _state(self, row: WorldCharacter, kinds: Collection[SavedKind]) -> SavedState:
        """Return the state that the next save of a character stores."""
        # The row's revision is that of the last load. Saves begun here since then have used higher
        # ones.
        return state_of(row, kinds, max(row.revision, self._numbers.get(row.id, 0)) + 1)

    def _begin(self, record: _Record) -> None:
        kinds = frozenset(record.kinds)
        state = self._state(record.row, kinds)
        record.is_saving, record.is_changed = True, False
        # Kept apart: new changes go into `kinds`, and only if the save fails both are joined again.
        record.saving, record.kinds = kinds, set()
        # Callers that come from here on need the next save.
        waiting, record.waiting = record.waiting, []
        _remember(self._numbers, state)
        work = self._save(record, state, waiting)
        try:
            start(self._start, work)
        except Exception:
            # `start` may have run the coroutine up to its end before it raised; then `_over` was
            # called already.
            if record.is_saving:
                self._over(record, state, waiting, StoreError("the save could not begin"))
            raise
        finally:
            _release(record)

    async def _save(self, record: _Record, state: SavedState, waiting: list[PendingAnswer]) -> None:
        error: StoreError | None = None
        try:
            await self._store.save_character(state.char_id, state, is_awaited=bool(waiting))
        except StoreError as failure:
            error = failure
        except BaseException:
            # Cancellation too: a record that stays "saving" for ever would never be saved again.
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
        """Handle the end of a save, and begin the next one if the state has changed since.

        The callers that wait are answered when no save is in flight any more: they waited for the
        newest state, which may be in the second save.
        """
        record.is_saving = False
        saving, record.saving = record.saving, frozenset()
        # `claimed` may have dropped the record while this save was in flight.
        is_kept = self._records.get(state.char_id) is record
        if error is None:
            _remember(self._saved, state)
            self.stored_states += 1
            self._pause = FIRST_RETRY
            record.has_failed = False
        is_late = isinstance(error, OutOfDate) and state.term < record.row.term
        # A save that was begun before this process let the character in again is repeated with the
        # new term. The callers wait for the newest state, so they wait for this second save as
        # well.
        if is_kept and (is_late or (error is None and record.is_changed)):
            record.waiting = waiting + record.waiting
            if is_late:
                record.kinds |= saving
            self._begin(record)
            return
        if is_kept and error is None:
            # The store has everything. The record would only grow the memory with each player who
            # ever entered.
            del self._records[state.char_id]
            waiting += record.waiting  # those of `stored`, who came while this save was in flight
            record.settle(None)
        elif is_kept and error is not None:
            record.settle(error)
            self._not_saved(record, saving, error)
            _release(record)
        for one in waiting:
            if error is None:
                one.callback(None)
            else:
                one.errback(error)

    def _not_saved(self, record: _Record, saving: frozenset[SavedKind], error: StoreError) -> None:
        is_out_of_date = isinstance(error, OutOfDate)
        if is_out_of_date:
            # Another process has stored a newer state; a retry would never succeed.
            self._drop(record, error)
        if is_out_of_date or not record.has_failed:
            self._failed(record.row, error)
        if is_out_of_date:
            return
        # It is unknown whether the failed save was stored, so its kinds are in the next one too.
        record.kinds |= saving
        record.has_failed = True
        # Somebody waits for the next save, for instance a player who changes the zone: it cannot
        # wait for the pause.
        if record.waiting:
            self._begin(record)
        elif self._retry_at is None and not self._must_schedule:
            self._must_schedule = True
            self._wake()

    def _drop(self, record: _Record, error: StoreError) -> None:
        """Forget the unsaved state of a character, which the store would refuse."""
        del self._records[record.row.id]
        waiting, record.waiting = record.waiting, []
        record.settle(error)
        for one in waiting:
            one.errback(error)
        _release(record)


def _release(record: _Record) -> None:
    """Let those go on that wait for the next save to be under way, also if it cannot be."""
    begun, record.begun = record.begun, []
    for one in begun:
        one.callback(None)


def _answer_all(settled: Collection[Settled], error: StoreError | None) -> None:
    for one in settled:
        one(error)


def _remember(numbers: dict[int, int], state: SavedState) -> None:
    """Remember a save's revision; forget the earliest of too many characters."""
    # Removed and added again, so that the dict's order is that of the last save and the first one
    # is the oldest.
    numbers.pop(state.char_id, None)
    numbers[state.char_id] = state.revision
    if len(numbers) > MOST_REMEMBERED:
        del numbers[next(iter(numbers))]


def state_of(row: WorldCharacter, kinds: Collection[SavedKind], revision: int) -> SavedState:
    """Return the state that a save of these kinds stores."""
    assert row.place is not None  # noqa: S101  # a played character has a place
    return SavedState(
        char_id=row.id,
        account_id=row.account_id,
        created=row.created,
        name=row.name,
        revision=revision,
        zone_id=row.zone_id,
        place=row.place,
        # In every save, as the place: a crash then loses at most one save interval of it.
        played=row.played,
        term=row.term,
        facts={
            name: getattr(row, name)
            for name, fact in saved_facts(type(row)).items()
            if fact.kind in kinds
        },
    )


def kinds_of(state: SavedState) -> set[SavedKind]:
    """Return the kinds that a save names."""
    facts = saved_facts(WorldCharacter)
    return {SavedKind(facts[name].kind) for name in state.facts}


def with_state(row: WorldCharacter, state: SavedState) -> WorldCharacter:
    """Return a character with what a save says of it."""
    # A spool of an earlier version has no time.
    played = row.played if state.played is None else state.played
    place: dict[str, Any] = {"zone_id": state.zone_id, "place": state.place, "played": played}
    return replace(row, **place, **state.facts)
