"""PastVisits: to the same one for the same reason only after a while, which grows."""

from emu.client.evening.visits import AGAIN, PastVisits
from emu.times import Monotonic

NOW = Monotonic(1000.0)


def after(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


def test_the_next_visit_comes_later_each_time() -> None:
    visits = PastVisits()
    assert visits.may_begin("Waulon", "task", NOW)
    assert not visits.may_begin("Waulon", "task", after(AGAIN - 1))
    assert visits.may_begin("Waulon", "task", after(AGAIN))
    assert not visits.may_begin("Waulon", "task", after(2 * AGAIN))
    assert visits.may_begin("Waulon", "task", after(3 * AGAIN))


def test_another_reason_or_zone_is_another_visit() -> None:
    visits = PastVisits()
    assert visits.may_begin("Waulon", "task", NOW)
    assert visits.may_begin("Waulon", "mark", NOW)
    visits.zone = "village"
    assert visits.may_begin("Waulon", "task", NOW)


def test_after_a_change_each_visit_may_come_at_once() -> None:
    visits = PastVisits()
    visits.may_begin("Waulon", "task", NOW)
    visits.renew()
    assert visits.may_begin("Waulon", "task", after(1))
