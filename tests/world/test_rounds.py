"""Rounds: each member is visited once in every pause, with one deadline for all."""

from __future__ import annotations

from emu.times import Monotonic
from emu.world.deadlines import LONG_SECONDS, MOST_WAITS, Timetable
from emu.world.reports import Faults
from emu.world.rounds import Rounds


class Visited:
    """Rounds of a second, and who was visited when; a visit can take time of the turn."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cost = 0.0
        self.faults = Faults(lambda _event: None)
        self.times = Timetable(
            lambda _due: None, self.faults.attempt, lambda: Monotonic(self.seconds)
        )
        self.rounds: Rounds[str] = Rounds(self.times, "looks", 1.0, self._visit)
        self.visits: list[tuple[float, str]] = []
        self.again: set[str] = set()

    def _visit(self, member: str, now: Monotonic) -> bool:
        self.visits.append((now, member))
        self.seconds += self.cost
        if member == "faulty":
            raise ValueError
        if member == "leaves":
            self.rounds.discard(member)
        return member not in self.again

    def turn(self, now: float) -> list[str]:
        """Return who is visited in a turn that begins at a time."""
        self.seconds = now
        before = len(self.visits)
        self.times.handle_timer(Monotonic(now))
        return [member for _, member in self.visits[before:]]


def test_all_are_visited_in_each_round_with_one_deadline() -> None:
    made = Visited()
    assert made.times.get_timer() is None
    made.rounds.add("a", Monotonic(10.1))
    made.rounds.add("b", Monotonic(10.6))
    assert made.times.get_timer() == 11.0
    assert made.turn(11.0) == ["a", "b"]
    assert made.times.get_timer() == 12.0
    made.rounds.add("a", Monotonic(11.5))
    made.rounds.discard("b")
    made.rounds.discard("nobody")
    assert made.turn(12.0) == ["a"]
    made.rounds.discard("a")
    assert made.times.get_timer() is None


def test_a_visit_that_raises_or_ends_its_member_stops_no_other() -> None:
    made = Visited()
    for member in ("faulty", "leaves", "c"):
        made.rounds.add(member, Monotonic(10.0))
    assert made.turn(11.0) == ["faulty", "leaves", "c"]
    assert made.turn(12.0) == ["faulty", "c"]
    assert made.faults.counts == {"looks": 2}
    made.rounds.discard("faulty")
    made.rounds.discard("c")
    made.rounds.add("leaves", Monotonic(12.5))
    assert made.turn(13.5) == ["leaves"]
    assert made.times.get_timer() is None


def test_a_long_turn_leaves_the_rest_to_the_next_ones() -> None:
    made = Visited()
    for member in "abcd":
        made.rounds.add(member, Monotonic(10.0))
    made.cost = 0.6 * LONG_SECONDS
    assert made.turn(11.0) == ["a", "b"]
    assert made.times.get_timer() == 11.0
    made.rounds.discard("c")
    assert made.turn(11.02) == ["d"]
    assert made.times.get_timer() == 12.0


def test_who_is_not_done_is_visited_again_in_the_next_turn() -> None:
    made = Visited()
    for member in "abc":
        made.rounds.add(member, Monotonic(10.0))
    made.again.add("b")
    assert made.turn(11.0) == ["a", "b", "c"]
    assert made.turn(11.0) == ["b"]
    made.again.clear()
    assert made.turn(11.1) == ["b"]
    assert made.turn(11.2) == []
    assert made.turn(12.0) == ["a", "b", "c"]


def test_a_round_ends_also_while_every_turn_is_long() -> None:
    made = Visited()
    made.cost = LONG_SECONDS
    members = [str(number) for number in range(10 * MOST_WAITS)]
    for member in members:
        made.rounds.add(member, Monotonic(10.0))
    turns = [made.turn(11.0 + number / 10) for number in range(MOST_WAITS)]
    assert [len(turn) for turn in turns] == [10] * MOST_WAITS
    assert [member for turn in turns for member in turn] == members
    assert made.times.get_timer() == 14.0
