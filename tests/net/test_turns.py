"""Coroutines that take turns, with a reactor whose turns the test makes."""

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import Deferred

from emu.net.turns import TurnQueue


class Turns:
    """A reactor: calls that are asked for meanwhile are made in the next turn."""

    def __init__(self) -> None:
        self.calls: deque[Callable[[], object]] = deque()

    def soon(self, call: Callable[[], object]) -> None:
        self.calls.append(call)

    def turn(self) -> None:
        for _ in range(len(self.calls)):
            self.calls.popleft()()


def test_one_goes_on_in_each_turn_and_in_order() -> None:
    turns, gone = Turns(), list[int]()
    queue = TurnQueue(turns.soon)

    async def go(number: int) -> None:
        await queue.wait()
        gone.append(number)

    for number in range(4):
        Deferred.fromCoroutine(go(number))
    assert gone == [0], "who comes first does not wait"
    assert len(queue) == 3
    turns.turn()  # still the turn of the answers
    assert gone == [0]
    turns.turn()
    assert gone == [0, 1]
    for _ in range(4):
        turns.turn()
    assert gone == [0, 1, 2, 3]
    for _ in range(2):
        turns.turn()
    assert not turns.calls, "an idle reactor sleeps"
    Deferred.fromCoroutine(go(4))
    assert gone[-1] == 4
