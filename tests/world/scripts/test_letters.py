"""Letters of scripts are stored one after another, from a queue of limited length."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from emu.errors import StoreError
from emu.times import Monotonic
from emu.world.scripts.letters import MOST_FOR_ONE, MOST_WAITING, PAUSE, Letters
from tests.support.times import timetable


class Post:
    """Letters whose storing a test ends."""

    def __init__(self) -> None:
        self.now = Monotonic(0.0)
        self.stored: list[int] = []
        self.counters: Counter[str] = Counter()
        self.running: list[Coroutine[Any, Any, None]] = []
        self.timetable = timetable()
        self.letters = Letters(
            start=self.running.append, timetable=self.timetable, now=lambda: self.now,
            counters=self.counters,
        )  # fmt: skip

    def send(self, char_id: int, *, fails: bool = False) -> bool:
        async def deliver() -> None:
            if fails:
                raise StoreError
            self.stored.append(char_id)

        return self.letters.send(char_id, deliver)

    def end_storing(self) -> None:
        (one,) = self.running
        self.running.clear()
        asyncio.run(one)


def test_one_letter_is_stored_at_a_time() -> None:
    post = Post()
    assert post.send(1)
    assert post.send(2)
    post.timetable.handle_timer(post.now)
    post.timetable.handle_timer(Monotonic(100.0))
    assert len(post.running) == 1
    assert post.timetable.get_timer() is None, "it waits for the end of the first"
    post.end_storing()
    assert post.stored == [1]
    assert post.timetable.get_timer() == PAUSE
    post.timetable.handle_timer(Monotonic(PAUSE))
    post.end_storing()
    assert post.stored == [1, 2]
    assert post.timetable.get_timer() is None


def test_a_letter_that_cannot_be_stored_does_not_hold_up_the_next() -> None:
    post = Post()
    post.send(1, fails=True)
    post.send(2)
    post.timetable.handle_timer(post.now)
    post.end_storing()
    assert post.counters["letters that were not stored"] == 1
    assert post.timetable.get_timer() is not None


def test_the_queue_is_limited_for_all_and_for_each() -> None:
    post = Post()
    assert [post.send(1) for _ in range(MOST_FOR_ONE + 1)] == [True] * MOST_FOR_ONE + [False]
    sent = [post.send(2 + number) for number in range(MOST_WAITING)]
    assert sum(sent) == MOST_WAITING - MOST_FOR_ONE
    assert post.counters["letters left out"] == 1 + MOST_FOR_ONE
