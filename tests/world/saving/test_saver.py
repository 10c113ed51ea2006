"""One save of a character at a time, the newest state wins, and what fails is tried again."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.errors import OutOfDate, StoreError, StoreLocked
from emu.model import Hotkey, SavedKind, SavedState, WorldCharacter
from emu.net.scheduler import run
from emu.times import Monotonic
from emu.world.saving.saver import FIRST_RETRY, Saver, kinds_of, state_of, with_state
from tests.support.world.world_fakes import CharactersInMemory, world_character

HERE, THERE = (1.0, 2.0, 3.0, 4.0, 5), (9.0, 2.0, 3.0, 4.0, 5)
LONGEST = 4.0


class Slow(CharactersInMemory):
    """A store whose saves are carried out when a test says so."""

    def __init__(self, *rows: WorldCharacter) -> None:
        super().__init__(*rows)
        self.begun: list[tuple[SavedState, Deferred[None]]] = []

    async def save_character(
        self, char_id: int, state: SavedState, *, is_awaited: bool = False
    ) -> None:
        done: Deferred[None] = Deferred()
        self.begun.append((state, done))
        await done
        await super().save_character(char_id, state)

    def carry_out(self) -> SavedState:
        state, done = self.begun.pop(0)
        done.callback(None)
        return state

    def fail(self, error: Exception) -> None:
        self.begun.pop(0)[1].errback(error)


class Bench:
    def __init__(self) -> None:
        self.row = world_character(place=HERE)
        self.store = Slow(self.row)
        self.failures: list[StoreError] = []
        self.raised: list[BaseException] = []
        self.saver = Saver(
            self.store,
            self.start,
            longest_pause=lambda: LONGEST,
            failed=lambda _row, error: self.failures.append(error),
            wake=lambda: None,
        )
        self.now = Monotonic(100.0)

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        run(work, lambda failure: self.raised.append(failure.value))

    def put(self, *kinds: SavedKind, **changes: Any) -> None:
        self.row = replace(self.row, **changes)
        self.saver.save_state(self.row, kinds)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with every try that is due in it."""
        end = Monotonic(self.now + seconds)
        while (due := self.saver.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.saver.handle_timer(self.now)
        self.now = end

    def claim(self, times: int) -> None:
        """Let processes in turn let the character in; the last one is this one."""
        row = replace(self.stored, term=self.stored.term + times)
        self.store.rows[row.id] = row
        self.saver.claimed(row)

    @property
    def stored(self) -> WorldCharacter:
        return self.store.rows[self.row.id]


def test_one_save_is_under_way_and_the_next_one_has_the_newest_state() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"), (0, "Borvik")))
    bench.put(SavedKind.HOTKEYS, place=THERE, hotkeys=(Hotkey(1, 2, 4),))
    assert len(bench.store.begun) == 1
    bench.store.carry_out()
    assert bench.stored.relations == ((0, "Aldana"),)
    assert bench.stored.place == HERE
    assert len(bench.store.begun) == 1
    second = bench.store.carry_out()
    assert kinds_of(second) == {SavedKind.RELATIONS, SavedKind.HOTKEYS}
    assert bench.stored == replace(bench.row, revision=2)
    assert len(bench.saver) == 0
    assert bench.store.begun == []


def test_what_is_being_saved_and_what_came_since_count_as_unsaved() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.put(SavedKind.HOTKEYS, hotkeys=(Hotkey(1, 2, 4),))
    both = {SavedKind.RELATIONS, SavedKind.HOTKEYS}
    assert [kinds_of(one) for one in bench.saver.not_saved()] == [both]
    assert bench.saver.overdue() == []
    assert [kinds_of(one) for one in bench.saver.overdue()] == [both]


def test_a_save_stores_the_place_and_only_what_has_changed() -> None:
    bench = Bench()
    bench.put(SavedKind.PLAYED, hotkeys=(Hotkey(1, 2, 4),), last_played=7.0)
    state = bench.store.carry_out()
    assert kinds_of(state) == {SavedKind.PLAYED}
    assert (state.place, bench.stored.last_played, bench.stored.hotkeys) == (HERE, 7.0, ())


@pytest.mark.parametrize("error", [StoreLocked("locked"), StoreError("the disk is full")])
def test_what_fails_is_tried_again_until_it_is_stored(error: StoreError) -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    tries = []
    for _ in range(6):
        bench.store.fail(error)
        begun = bench.now
        while not bench.store.begun:
            bench.pass_time(0.5)
        tries.append(bench.now - begun)
    assert tries == [FIRST_RETRY, 2.0, 4.0, 4.0, 4.0, 4.0]
    assert bench.failures == [error], "reported once"
    bench.put(place=THERE)
    bench.store.carry_out()
    bench.store.carry_out()
    assert bench.stored.relations == ((0, "Aldana"),)
    assert bench.stored.place == THERE
    assert (len(bench.saver), bench.saver.get_timer()) == (0, None)
    bench.put(SavedKind.RELATIONS, relations=())
    bench.store.fail(error)
    bench.pass_time(FIRST_RETRY)
    bench.store.carry_out()
    assert bench.stored.relations == (), "the pause is short again"


def test_what_changes_after_a_failure_is_in_the_next_try() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.store.fail(StoreError("the disk is full"))
    bench.put(SavedKind.CHANNELS, place=THERE)
    assert bench.store.begun == [], "the pause counts"
    read = bench.store.rows[bench.row.id]
    assert bench.saver.latest(read).relations == ((0, "Aldana"),)
    assert bench.saver.latest(read).place == THERE
    (state,) = bench.saver.not_saved()
    assert kinds_of(state) == {SavedKind.RELATIONS, SavedKind.CHANNELS}
    bench.saver.try_again()
    assert kinds_of(bench.store.carry_out()) == {SavedKind.RELATIONS, SavedKind.CHANNELS}
    bench.pass_time(60.0)
    assert (len(bench.saver), bench.store.begun) == (0, [])


def test_what_is_being_saved_is_not_stored_yet() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.put(SavedKind.CHANNELS)
    (state,) = bench.saver.not_saved()
    assert kinds_of(state) == {SavedKind.RELATIONS, SavedKind.CHANNELS}
    assert state.revision > bench.store.begun[0][0].revision


def test_a_save_that_is_out_of_date_is_not_tried_again() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS)
    bench.put(place=THERE)
    bench.store.fail(OutOfDate("another process plays it"))
    bench.pass_time(60.0)
    assert (len(bench.saver), bench.store.begun) == (0, [])
    assert bench.saver.latest(bench.stored) == bench.stored


def test_a_fault_of_ours_is_reported_and_the_save_is_tried_again() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.store.fail(ZeroDivisionError())
    assert [type(error) for error in bench.raised] == [ZeroDivisionError]
    bench.pass_time(FIRST_RETRY)
    bench.store.carry_out()
    assert bench.stored.relations == ((0, "Aldana"),)


def test_one_that_cannot_begin_keeps_no_other_from_being_tried() -> None:
    bench = Bench()
    others = [replace(bench.row, id=number) for number in (6, 7)]
    bench.put()
    for row in others:
        bench.saver.save_state(row, ())
    for _ in range(3):
        bench.store.fail(StoreError("the disk is full"))
    begin = bench.saver._begin

    def broken(record: Any) -> None:
        if record.row.id == bench.row.id:
            raise ZeroDivisionError
        begin(record)

    bench.saver._begin = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        bench.saver.try_again()
    assert [state.char_id for state, _ in bench.store.begun] == [6, 7]


def waits(bench: Bench, outcome: list[object], *kinds: SavedKind) -> None:
    async def wait() -> None:
        try:
            await bench.saver.store(bench.row, kinds, Deferred)
        except StoreError as error:
            outcome.append(error)
        else:
            outcome.append("stored")

    bench.start(wait())


def test_whoever_waits_is_answered_when_nothing_is_under_way_any_more() -> None:
    bench, outcome = Bench(), list[object]()
    bench.put(SavedKind.RELATIONS)
    waits(bench, outcome, SavedKind.CHANNELS)
    bench.store.carry_out()
    bench.put(place=THERE)
    bench.store.carry_out()
    assert outcome == []
    bench.store.carry_out()
    assert outcome == ["stored"]
    assert bench.stored.place == THERE


def test_whoever_waits_learns_of_the_failure_and_the_state_stays_to_be_saved() -> None:
    bench, outcome = Bench(), list[object]()
    bench.put(SavedKind.RELATIONS)
    bench.store.fail(StoreError("the disk is full"))
    waits(bench, outcome)
    assert len(bench.store.begun) == 1, "it is tried at once"
    bench.store.fail(StoreError("still full"))
    assert [str(one) for one in outcome] == ["still full"]
    bench.pass_time(60.0)
    bench.store.carry_out()
    assert len(bench.saver) == 0
    for number in range(2):
        waits(bench, outcome)
        if number:
            bench.store.fail(OutOfDate("another process plays it"))
    assert [type(one) for one in outcome[1:]] == [OutOfDate, OutOfDate]


@pytest.mark.parametrize("is_late", [False, True], ids=["at once", "during the save"])
def test_who_waits_for_what_is_unsaved_causes_no_save(*, is_late: bool) -> None:
    bench = Bench()
    bench.put(SavedKind.TITLES)
    ends: list[str] = []

    async def wait() -> None:
        await bench.saver.stored(bench.row.id, Deferred)
        ends.append("stored")

    bench.start(wait())
    if is_late:
        bench.start(wait())
    assert ends == []
    bench.store.carry_out()
    assert ends == ["stored"] * (1 + is_late)
    assert bench.store.begun == []
    bench.start(wait())  # nothing is unsaved any more
    assert len(ends) == 2 + is_late


def test_who_waits_for_what_is_unsaved_waits_for_the_newest_state() -> None:
    bench = Bench()
    ends: list[str] = []

    async def wait() -> None:
        await bench.saver.stored(bench.row.id, Deferred)
        ends.append("stored")

    bench.put(SavedKind.TITLES)
    bench.put(SavedKind.HOTKEYS)
    bench.start(wait())
    bench.store.carry_out()
    assert ends == []
    bench.store.carry_out()
    assert ends == ["stored"]


def test_what_was_read_before_the_last_save_is_not_current() -> None:
    bench = Bench()
    read = bench.stored
    assert bench.saver.is_current(read)
    bench.put(place=THERE)
    assert bench.saver.is_current(read), "the newest state is here"
    bench.store.carry_out()
    assert not bench.saver.is_current(read)
    assert bench.saver.is_current(bench.stored)


def test_a_state_is_reported_and_taken_as_it_is() -> None:
    row = world_character(place=THERE, relations=((2, "Aldana"),), prefix="Sir", last_played=5.0)
    state = state_of(row, tuple(SavedKind), 7)
    assert kinds_of(state) == set(SavedKind)
    assert with_state(world_character(place=HERE), state) == row
    assert with_state(row, state_of(row, (), 8)) == row


def test_unsaved_state_is_saved_with_the_term_of_the_next_entry_here() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    bench.store.fail(StoreError("the disk is full"))
    bench.claim(1)
    assert bench.saver.latest(bench.store.rows[bench.row.id]).relations == ((0, "Aldana"),)
    bench.pass_time(FIRST_RETRY)
    assert bench.store.carry_out().term == 1
    assert bench.stored.relations == ((0, "Aldana"),)
    assert len(bench.saver) == 0


def test_a_save_that_comes_after_the_next_entry_here_is_repeated() -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    done: list[object] = []
    work = bench.saver.store(bench.row, (SavedKind.HOTKEYS,), Deferred)
    run(work, lambda failure: done.append(failure.value))
    bench.claim(1)
    bench.store.carry_out()
    assert bench.failures == []
    assert kinds_of(bench.store.carry_out()) == {SavedKind.RELATIONS, SavedKind.HOTKEYS}
    assert (bench.stored.relations, bench.stored.term) == (((0, "Aldana"),), 1)
    assert (bench.store.begun, done, len(bench.saver)) == ([], [], 0)


@pytest.mark.parametrize("is_saving", [False, True])
def test_unsaved_state_is_dropped_when_another_process_has_played_since(*, is_saving: bool) -> None:
    bench = Bench()
    bench.put(SavedKind.RELATIONS, relations=((0, "Aldana"),))
    if not is_saving:
        bench.store.fail(StoreError("the disk is full"))
    bench.claim(2)
    assert len(bench.saver) == 0
    assert bench.saver.latest(bench.stored).relations == ()
    for _ in range(is_saving):
        bench.store.carry_out()
    bench.pass_time(60.0)
    assert bench.store.begun == []
    assert bench.stored.relations == ()
    bench.put(SavedKind.RELATIONS, relations=((0, "Borvik"),), term=2)
    bench.store.carry_out()
    assert bench.stored.relations == ((0, "Borvik"),)


@pytest.mark.parametrize("has_failed", [False, True])
async def test_who_waits_for_a_save_to_begin_waits_for_the_newest_state(
    *, has_failed: bool
) -> None:
    bench = Bench()
    bench.put(SavedKind.QUESTS, quests="old")
    going: list[int] = []

    async def goes_on() -> None:
        await bench.saver.begun(bench.row.id, Deferred)
        going.append(len(bench.store.begun))

    bench.start(goes_on())
    assert going == [1]  # the newest state is in the save that is under way
    bench.put(SavedKind.QUESTS, quests="new")
    bench.start(goes_on())
    assert going == [1]
    if has_failed:
        bench.store.fail(StoreError("full"))
        assert going == [1, 0]  # nobody waits for a database that fails
    else:
        bench.store.carry_out()
        assert going == [1, 1]
        assert bench.store.begun[0][0].facts["quests"] == "new"


async def test_who_waits_for_a_save_that_never_begins_goes_on() -> None:
    bench = Bench()
    bench.put(SavedKind.QUESTS, quests="old")
    bench.put(SavedKind.QUESTS, quests="new")
    going: list[int] = []

    async def goes_on() -> None:
        await bench.saver.begun(bench.row.id, Deferred)
        going.append(1)

    bench.start(goes_on())
    bench.claim(2)  # another process has played the character
    assert going == [1]
