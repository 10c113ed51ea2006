"""The pace of messages: rates of owners and players, and the number of one call."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from emu.times import Monotonic
from emu.world.minds.pacing import MOST_MESSAGES, CallPace, Pacing
from emu.world.rules import BehaviorRules

RULES = BehaviorRules(say_rate=1.0, say_burst=3, hear_rate=2.0, hear_burst=5)


class Sender:
    """Two owners, two players, and what was dropped."""

    def __init__(self) -> None:
        self.now = Monotonic(100.0)
        self.dropped: list[object] = []
        self.pacing = Pacing(now=lambda: self.now, rules=lambda: RULES, dropped=self.dropped.append)
        self.one: Any = SimpleNamespace(id=5)
        self.two: Any = SimpleNamespace(id=6)

    def sent(self, owner: str | None, player: Any, count: int) -> int:
        return sum(self.pacing.may_send(owner, player) for _ in range(count))


def test_an_owner_has_a_rate_to_each_player_and_one_aloud() -> None:
    sender = Sender()
    assert sum(sender.pacing.may_speak("guard") for _ in range(9)) == RULES.say_burst
    assert sender.sent("guard", sender.one, 9) == RULES.say_burst
    assert sender.sent("guard", sender.two, 1) == 1
    assert sender.dropped == ["guard"] * 12
    sender.now = Monotonic(102.0)
    assert sender.sent("guard", sender.one, 9) == 2


def test_a_player_gets_a_limited_number_from_all_owners() -> None:
    sender = Sender()
    assert [sender.sent(owner, sender.one, 3) for owner in ("a", "b", None)] == [3, 2, 0]
    assert sender.dropped == ["b", None, None, None]
    sender.pacing.forget_player(sender.one)
    assert sender.sent("a", sender.one, 9) == 3


def test_an_owner_that_ends_is_forgotten() -> None:
    sender = Sender()
    sender.sent("a", sender.one, 3)
    sender.pacing.forget_owner("a")
    assert not sender.pacing._of_owner


def test_a_call_may_send_so_many_messages() -> None:
    counters: Counter[str] = Counter()
    pace = CallPace(counters)
    for _ in range(2):
        pace.begin()
        assert sum(pace.may_send() for _ in range(MOST_MESSAGES + 3)) == MOST_MESSAGES
    assert counters == {"messages dropped": 6}
