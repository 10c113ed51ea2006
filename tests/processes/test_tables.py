from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import Unanswered
from emu.mailbox import Spawn
from emu.processes.bus import LocalBus
from emu.processes.ports import CAME, GONE, Note
from emu.processes.tables import MOST_REMOVED, PAGE, SILENCE, OwnRows, SharedTable, run_now
from tests.support.running.lossy_bus import LossyBus, Network
from tests.support.running.processes import bus

Rows = dict[str, dict[int, Any]]


class Side:
    """A process with a table, and what it was notified of."""

    def __init__(
        self, on: LocalBus | LossyBus, name: str, run: int = 1, spawn: Spawn = run_now
    ) -> None:
        self.rows: Rows = {}
        self.changes = 0
        self.table: SharedTable[Any] = SharedTable(
            on, "things", name, run=run, read=dict, changed=self._changed,
            spawn=spawn,
        )  # fmt: skip

    def _changed(self, process: str, key: int, row: Any) -> None:
        self.changes += 1
        rows = self.rows.setdefault(process, {})
        if row is None:
            del rows[key]
            if not rows:
                del self.rows[process]
        else:
            rows[key] = row


class Counted(LocalBus):
    """A bus that counts questions."""

    def __init__(self) -> None:
        super().__init__(pytest.fail)
        self.asked = 0

    async def request(self, topic: str, note: Note) -> Note:
        self.asked += 1
        return await super().request(topic, note)


def test_a_page_has_each_row_once_with_its_last_values() -> None:
    own = OwnRows()
    for values in ({"n": 1}, {"n": 2}):
        own.change(5, values)
        own.change(6, values)
    own.change(6, None)
    page = own.page(0)
    assert (page.base, page.until, page.number) == (0, 5, 5)
    assert [tuple(change) for change in page.changes] == [(5, {"n": 2}), (6, None)]
    assert [tuple(change) for change in own.page(4).changes] == [(6, None)]
    assert own.page(5).changes == []


def test_long_lists_come_in_pages() -> None:
    own = OwnRows()
    for key in range(2 * PAGE + 1):
        own.change(key, {})
    found, since = [], 0
    for _ in range(3):
        page = own.page(since)
        assert len(page.changes) <= PAGE
        found += [change.key for change in page.changes]
        since = page.until
    assert found == list(range(2 * PAGE + 1))
    assert since == own.number


def test_the_log_stays_small_and_who_lacks_too_much_gets_everything() -> None:
    own = OwnRows()
    for key in range(5 * MOST_REMOVED):
        own.change(key, {})
        own.change(key, None)
    own.change(1, {"n": 1})
    assert len(own._log) < 3 * MOST_REMOVED
    assert own.page(1).base == 0
    assert own.page(own.number - 1).base == own.number - 1


def test_a_change_reaches_the_others_and_a_late_process_asks_once() -> None:
    shared = Counted()
    here, there = Side(shared, "here"), Side(shared, "there")
    for key in range(3):
        here.table.put(key, {"n": key})
    here.table.drop(1)
    here.table.drop(9)
    assert there.rows == {"here": {0: {"n": 0}, 2: {"n": 2}}}
    assert shared.asked == 0, "nothing was lost"
    late = Side(shared, "late")
    assert late.rows == there.rows
    assert shared.asked == 1


def test_the_rows_of_a_lost_process_are_kept_but_are_not_its_own_any_more() -> None:
    shared = Counted()
    here, there = Side(shared, "here"), Side(shared, "there")
    shared.publish(CAME, {"process": "without such a table"})
    here.table.put(1, {"n": 1})
    assert there.table.processes == {"here"}
    assert not there.table.is_lost(1)
    shared.publish(GONE, {"process": "here"})
    assert there.table.processes == set()
    assert there.table.is_lost(1)
    assert not there.table.is_lost(2)
    assert list(there.table.holders(1)) == []
    assert there.table.rows("here") == {1: {"n": 1}}
    assert there.table.rows("nobody") == {}


def test_a_return_without_changes_costs_one_empty_answer() -> None:
    shared = Counted()
    here, there = Side(shared, "here"), Side(shared, "there")
    here.table.put(1, {"n": 1})
    shared.publish(GONE, {"process": "here"})
    assert there.rows == {}
    changes = there.changes
    shared.publish(CAME, {"process": "here"})
    assert there.rows == {"here": {1: {"n": 1}}}
    assert (shared.asked, there.changes) == (1, changes + 1)


def test_rows_whose_removal_was_forgotten_go_when_all_rows_come_again() -> None:
    network = Network(random.Random(1))
    here, there = Side(network.bus("here"), "here"), Side(network.bus("there"), "there")
    here.table.put(1, {})
    here.table.put(2, {})
    network.deliver()
    network.cut.add("here")
    here.table.drop(1)
    for key in range(10, 10 + 2 * MOST_REMOVED):
        here.table.put(key, {})
        here.table.drop(key)
    network.cut.clear()
    assert there.rows == {"here": {1: {}, 2: {}}}
    here.table.tick()
    network.deliver()
    assert there.rows == {"here": {2: {}}}


def test_a_change_during_a_question_is_asked_for_after_it() -> None:
    class Slow(LocalBus):
        """A bus whose answers are old when they arrive."""

        meanwhile: Callable[[], None] | None = None

        async def request(self, topic: str, note: Note) -> Note:
            answer = await super().request(topic, note)
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
            return answer

    shared, questions = Slow(pytest.fail), list[Any]()
    here = Side(shared, "here")
    here.table.put(1, {})
    late = Side(shared, "late", spawn=questions.append)
    shared.meanwhile = lambda: here.table.put(2, {})
    run_now(questions.pop())
    assert late.rows == {"here": {1: {}, 2: {}}}


def test_a_process_that_begins_anew_has_only_its_new_rows() -> None:
    shared = bus()
    there = Side(shared, "there")
    old = Side(LocalBus(pytest.fail), "here")
    for number in range(1, 4):
        note = {"process": "here", "run": 1, "number": number, "key": number, "row": "{}"}
        shared.publish("things.changed", note)
    assert set(there.rows["here"]) == {1, 2, 3}
    fresh = Side(shared, "here", run=2)
    fresh.table.put(7, {})
    assert there.rows == {"here": {7: {}}}
    assert old.rows == {}


def test_a_silent_process_is_lost_and_found_again() -> None:
    network = Network(random.Random(1))
    here, there = Side(network.bus("here"), "here"), Side(network.bus("there"), "there")
    here.table.put(1, {})
    network.deliver()
    for _ in range(SILENCE):
        there.table.tick()
    assert there.rows == {"here": {1: {}}}
    there.table.tick()
    assert there.rows == {}
    here.table.tick()
    network.deliver()
    assert there.rows == {"here": {1: {}}}


async def _nonsense(_note: Note) -> Note:
    return {"run": 1, "base": 0, "until": 1, "number": 1, "changes": "[[1]]"}


def _refuses(values: Any) -> Any:
    raise ValueError(values)


def test_nonsense_of_another_process_changes_nothing() -> None:
    errors: list[Exception] = []
    shared = LocalBus(errors.append)
    here = Side(shared, "here")
    shared.answer("things.rows.east", _nonsense)
    shared.publish("things.digest", {"process": "east", "run": 1, "number": 1})
    assert errors == [], "a malformed answer is no fault of this process"
    shared.publish("things.changed", {"process": "east", "run": 1, "number": 1, "key": 1})
    assert len(errors) == 1
    assert here.rows == {}


def test_nobody_is_asked_who_cannot_be_reached() -> None:
    shared = bus()
    here = Side(shared, "here")
    shared.publish("things.digest", {"process": "east", "run": 1, "number": 4})
    assert here.rows == {}
    with pytest.raises(Unanswered):
        run_now(shared.request("things.rows.east", {}))  # type: ignore[arg-type]


def test_a_coroutine_that_waits_is_refused() -> None:
    class Waiting:
        def __await__(self) -> Any:
            yield

    async def work() -> None:
        await Waiting()

    with pytest.raises(RuntimeError, match="waits"):
        run_now(work())


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("put", "drop", "many", "tick", "deliver", "restart", "cut", "join")),
        st.integers(0, 2),
        st.integers(0, 5),
    ),
    min_size=20,
    max_size=40,
)


@pytest.mark.slow
@given(STEPS, st.integers(0, 2**32))
def test_whatever_is_lost_all_have_the_same_rows_after_a_quiet_time(
    steps: list[tuple[str, int, int]], seed: int
) -> None:
    network = Network(random.Random(seed))
    names = ("east", "south", "west")
    runs = dict.fromkeys(names, 1)
    sides = {name: Side(network.bus(name), name) for name in names}

    def restart(name: str) -> None:
        runs[name] += 1
        sides[name] = Side(network.bus(name), name, run=runs[name])

    def many(name: str) -> None:
        for key in range(PAGE + 50):
            sides[name].table.put(key, {"n": key})

    acts: dict[str, Callable[[str, int], Any]] = {
        "put": lambda name, key: sides[name].table.put(key, {"n": runs[name]}),
        "drop": lambda name, key: sides[name].table.drop(key),
        "many": lambda name, _: many(name),
        "tick": lambda name, _: sides[name].table.tick(),
        "deliver": lambda _name, _key: network.deliver(),
        "restart": lambda name, _: restart(name),
        "cut": lambda name, _: network.cut.add(name),
        "join": lambda name, _: network.cut.discard(name),
    }
    network.loses = 0.4
    for act, which, key in steps:
        acts[act](names[which], key)
    network.loses = 0.0
    network.cut.clear()
    # Five seconds in which nothing is lost: each publishes its digest once.
    for side in sides.values():
        side.table.tick()
    network.deliver()
    for name, side in sides.items():
        expected = {
            other: dict(sides[other].table.own.rows)
            for other in names
            if other != name and sides[other].table.own.rows
        }
        assert json.dumps(side.rows, sort_keys=True) == json.dumps(expected, sort_keys=True)
