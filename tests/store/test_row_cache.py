"""Cached rows equal the database, are limited, and are read once for simultaneous requests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.errors import StoreError
from emu.net.scheduler import run
from emu.store.row_cache import EXPECTED, MOST_EXPECTED, RowCache, StoreCache
from tests.support.database.stores import character


class Bench:
    def __init__(self, most: int = 10, **options: Any) -> None:
        self.number = 0
        self.remembered: RowCache[Any] = RowCache(lambda: self.number, Deferred, most, **options)
        self.reads: list[Deferred[Any]] = []
        self.received: list[object] = []

    async def read(self) -> Any:
        done: Deferred[Any] = Deferred()
        self.reads.append(done)
        return await done

    def answer_all(self) -> None:
        """Answer the reads that are in progress."""
        for done in self.reads:
            if not done.called:
                done.callback("read")

    def ask(self, key: str = "a") -> None:
        async def asked() -> None:
            try:
                self.received.append(await self.remembered.get(key, self.read))
            except StoreError as error:
                self.received.append(error)

        start(asked())

    def answer(self, value: object) -> None:
        self.reads.pop(0).callback(value)


def start(work: Coroutine[Any, Any, Any]) -> None:
    run(work, lambda failure: failure.raiseException())


def test_a_value_is_read_once_and_returned_from_the_cache() -> None:
    bench = Bench()
    bench.ask()
    bench.ask()
    assert (len(bench.reads), bench.received) == (1, [])
    bench.answer(7)
    bench.ask()
    assert (bench.reads, bench.received) == ([], [7, 7, 7])


def test_nothing_is_not_remembered() -> None:
    bench = Bench()
    bench.ask()
    bench.answer(None)
    bench.ask()
    assert (bench.received, len(bench.reads), len(bench.remembered)) == ([None], 1, 0)


def test_a_failure_reaches_all_waiting_requests_and_is_not_cached() -> None:
    bench = Bench()
    bench.ask()
    bench.ask()
    bench.reads.pop().errback(StoreError("broken"))
    assert [str(one) for one in bench.received] == ["broken", "broken"]
    bench.ask()
    assert len(bench.reads) == 1


@pytest.mark.parametrize("way", ["key", "all", "epoch"])
def test_what_is_forgotten_while_it_is_read_is_read_again(way: str) -> None:
    bench = Bench()
    bench.ask()
    if way == "key":
        bench.remembered.forget("a")
    elif way == "all":
        bench.remembered.forget_all()
    else:
        bench.number += 1
    bench.ask()
    assert len(bench.reads) == 2, "who asks after the change gets none from before it"
    bench.answer("old")
    bench.answer("new")
    bench.ask()
    assert bench.received == ["old", "new", "new"]


@pytest.mark.parametrize("way", ["key", "all", "epoch"])
def test_what_is_forgotten_is_read_again(way: str) -> None:
    bench = Bench()
    bench.remembered.put("a", "old")
    bench.remembered.known("a")
    bench.number += way == "epoch"
    if way == "key":
        bench.remembered.forget("a")
    elif way == "all":
        bench.remembered.forget_all()
    bench.ask()
    bench.answer("new")
    assert bench.received == ["new"]


def test_those_used_last_stay() -> None:
    bench = Bench(3)
    bench.remembered.known("")
    for key in "abcad":
        bench.remembered.put(key, key)
        bench.remembered.known("b")
    assert [bench.remembered.known(key) for key in "abcd"] == ["a", "b", None, "d"]


@pytest.mark.parametrize(("weight", "is_kept"), [(5, True), (6, False)])
def test_a_value_that_weighs_more_than_all_may_is_not_kept(weight: int, *, is_kept: bool) -> None:
    bench = Bench(5, weigh=len)
    bench.remembered.known("")
    bench.remembered.put("a", "x" * weight)
    assert (bench.remembered.known("a") is not None) == is_kept
    bench.remembered.put("b", "y")
    assert (len(bench.remembered), bench.remembered.known("b")) == (1, "y")


def test_each_kind_has_its_own_bound_and_all_are_forgotten_together() -> None:
    memory = StoreCache(lambda: 0, Deferred, 4)
    for kind in (memory.characters, memory.world_characters):
        kind.known(0)
        kind.put(1, [])
        kind.put(2, [])
    memory.characters.put(3, [character(), character()])
    assert [memory.characters.known(key) is not None for key in (1, 2, 3)] == [False, True, True]
    memory.bans.known("")
    memory.bans.put("", [])
    memory.forget_all()
    assert [len(kind) for kind in (memory.characters, memory.world_characters, memory.bans)] == [
        0
    ] * 3


def offered(bench: Bench, meanwhile: Callable[[], object] = lambda: None) -> list[object]:
    """Offer a value, and return what the next two requests get; a read is not answered."""
    mark = bench.remembered.mark()
    meanwhile()
    bench.remembered.offer("a", "offered", mark)
    bench.ask()
    bench.ask()
    received = list(bench.received)
    bench.answer_all()
    return received


def test_an_offered_value_is_kept() -> None:
    bench = Bench()
    assert offered(bench) == ["offered", "offered"]


@pytest.mark.parametrize("what", ["forget", "forget all", "commit"])
def test_an_offered_value_that_may_be_old_is_not_kept(what: str) -> None:
    bench = Bench()

    def meanwhile() -> None:
        if what == "forget":
            bench.remembered.forget("b")
        elif what == "forget all":
            bench.remembered.forget_all()
        else:
            bench.number += 1

    assert offered(bench, meanwhile) == []


class Blind(Bench):
    """A cache that cannot detect changes of others."""

    def __init__(self) -> None:
        self.seconds = 100.0
        super().__init__(now=lambda: self.seconds)
        self.remembered._epoch = count().__next__


def test_where_changes_cannot_be_detected_an_offered_value_serves_for_a_moment() -> None:
    bench = Blind()
    assert offered(bench) == ["offered", "offered"]
    assert bench.reads == []
    bench.seconds += EXPECTED
    bench.ask()
    assert len(bench.reads) == 1


@pytest.mark.parametrize("what", ["late", "forget", "forget all"])
def test_where_changes_cannot_be_detected_an_offered_value_serves_no_late_one(what: str) -> None:
    bench = Blind()
    bench.remembered.offer("a", "offered", bench.remembered.mark())
    if what == "late":
        bench.seconds += EXPECTED
    elif what == "forget":
        bench.remembered.forget("a")
    else:
        bench.remembered.forget_all()
    bench.ask()
    assert bench.received == []
    bench.answer_all()


def test_values_that_nobody_asks_for_are_few() -> None:
    bench = Blind()
    for number in range(MOST_EXPECTED + 5):
        bench.remembered.offer(number, "offered", bench.remembered.mark())
    assert len(bench.remembered._expected) == MOST_EXPECTED
