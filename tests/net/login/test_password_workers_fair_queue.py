"""Turns go round by source, whatever one source sends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.net.login.password_workers import FairQueue


def filled(*items: str, most_waiting: int = 100, at_once: int = 100) -> FairQueue[str]:
    """Return a queue with items whose first letter is their source."""
    queue: FairQueue[str] = FairQueue(most_waiting=most_waiting, at_once=at_once)
    for item in items:
        assert queue.put(item[0], item) is None
    return queue


def order(queue: FairQueue[str]) -> list[str]:
    """Return what comes next until nothing may begin."""
    items = []
    while (taken := queue.take()) is not None:
        items.append(taken[1])
    return items


def test_sources_take_turns_and_each_keeps_its_order() -> None:
    assert order(filled("a1", "a2", "a3", "b1", "b2", "c1")) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_whoever_comes_late_is_next_and_not_behind_a_crowd() -> None:
    queue = filled(*(f"a{n}" for n in range(64)))
    assert queue.take() == ("a", "a0")
    queue.put("b", "b0")
    assert order(queue)[:3] == ["a1", "b0", "a2"]


def test_one_source_has_only_so_many_at_once() -> None:
    queue = filled("a1", "a2", "a3", "b1", at_once=2)
    assert order(queue) == ["a1", "b1", "a2"]
    assert (len(queue), queue.running) == (1, 3)
    queue.done("b")
    assert order(queue) == []
    queue.done("a")
    assert order(queue) == ["a3"]


def test_when_too_many_wait_the_longest_line_loses_its_newest() -> None:
    queue = filled("a1", "a2", "a3", "b1", most_waiting=4)
    assert queue.put("b", "b2") == "a3"
    assert queue.put("c", "c1") == "a2"
    assert queue.put("b", "b3") == "b3"
    assert len(queue) == 4
    assert order(queue) == ["a1", "b1", "c1", "b2"]


def test_among_equals_the_newcomer_waits_no_longer() -> None:
    queue = filled("a1", "b1", most_waiting=2)
    assert queue.put("c", "c1") == "c1"
    assert queue.put("a", "a2") == "a2"


def test_clearing_returns_all_that_waits() -> None:
    queue = filled("a1", "a2", "b1", at_once=1)
    queue.take()
    assert queue.clear() == ["b1", "a2"]
    assert (len(queue), queue.take(), queue.running) == (0, None, 1)


@given(st.lists(st.sampled_from("abcde<>"), max_size=60))
def test_nothing_is_lost_twice_or_beyond_its_bounds(steps: list[str]) -> None:
    queue: FairQueue[int] = FairQueue(most_waiting=7, at_once=2)
    put, seen, running = 0, [], []
    for step in steps:
        if step == "<":
            taken = queue.take()
            if taken is not None:
                running.append(taken[0])
                seen.append(taken[1])
        elif step == ">" and running:
            queue.done(running.pop())
        elif step != ">":
            ousted = queue.put(step, put)
            put += 1
            seen += [] if ousted is None else [ousted]
        assert len(queue) <= 7
        assert all(running.count(source) <= 2 for source in running)
    assert sorted(seen + queue.clear()) == list(range(put))
