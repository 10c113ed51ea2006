import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import base
from twisted.internet.defer import Deferred
from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import Clock

from emu.net.scheduler import Scheduler, make_steady
from emu.times import Monotonic

HOUR = 3600.0


class Owner:
    """Remembers when it was called."""

    def __init__(self) -> None:
        self.called: list[float] = []

    def handle_timer(self, now: Monotonic) -> None:
        self.called.append(now)


@pytest.fixture
def clock():
    clock = Clock()
    yield clock
    assert clock.getDelayedCalls() == []


def armed(scheduler: Scheduler, *deadlines: float) -> list[Owner]:
    owners = [Owner() for _ in deadlines]
    for owner, deadline in zip(owners, deadlines, strict=True):
        scheduler.arm(scheduler.timer(owner), Monotonic(deadline))
    return owners


def test_many_timers_stand_on_one_reactor_call(clock: Clock) -> None:
    scheduler = Scheduler(clock)
    owners = armed(scheduler, 3.0, 1.0, 2.0)
    assert [call.getTime() for call in clock.getDelayedCalls()] == [1.0]
    clock.advance(2.5)
    assert [owner.called for owner in owners] == [[], [2.5], [2.5]]
    assert [call.getTime() for call in clock.getDelayedCalls()] == [3.0]
    clock.advance(1)


def test_an_earlier_deadline_brings_the_call_forward(clock: Clock) -> None:
    scheduler = Scheduler(clock)
    owner = Owner()
    timer = scheduler.timer(owner)
    scheduler.arm(timer, Monotonic(9.0))
    scheduler.arm(timer, Monotonic(1.0))
    clock.advance(1)
    assert owner.called == [1.0]


def test_with_nothing_to_wait_for_the_reactor_is_left_in_peace(clock: Clock) -> None:
    scheduler = Scheduler(clock)
    timer = scheduler.timer(Owner())
    scheduler.arm(timer, Monotonic(5.0))
    scheduler.arm(timer, None)
    assert clock.getDelayedCalls() == []
    scheduler.arm(timer, Monotonic(5.0))
    scheduler.drop(timer)
    assert clock.getDelayedCalls() == []


def test_one_that_fails_keeps_no_other_waiting(clock: Clock, logged_failures) -> None:
    scheduler = Scheduler(clock)

    class Broken:
        def handle_timer(self, now: Monotonic) -> None:
            raise RuntimeError("a mistake")

    scheduler.arm(scheduler.timer(Broken()), Monotonic(1.0))
    (owner,) = armed(scheduler, 1.0)
    clock.advance(1)
    assert owner.called == [1.0]
    assert len(logged_failures.flush(RuntimeError)) == 1


def test_one_that_is_always_due_keeps_no_other_waiting(clock: Clock) -> None:
    scheduler = Scheduler(clock)

    order: list[str] = []

    class Eager:
        def handle_timer(self, now: Monotonic) -> None:
            order.append("eager")
            if order.count("eager") < 5:
                scheduler.arm(timer, Monotonic(0.0))

    class Other:
        def handle_timer(self, now: Monotonic) -> None:
            order.append("other")

    timer = scheduler.timer(Eager())
    scheduler.arm(timer, Monotonic(1.0))
    scheduler.arm(scheduler.timer(Other()), Monotonic(1.0))
    clock.advance(1)
    assert order == ["eager", "other", "eager", "eager", "eager", "eager"]


def test_calls_come_later_soon_and_again_and_again(clock: Clock) -> None:
    scheduler = Scheduler(clock)
    calls: list[tuple[str, float]] = []

    def note(name: str):
        return lambda: calls.append((name, clock.seconds()))

    scheduler.soon(note("soon"))
    scheduler.later(2.0, note("later"))
    scheduler.later(2.5, note("cancelled")).cancel()
    again = scheduler.every(1.5, note("every"))
    for _ in range(10):
        clock.advance(0.5)
    again.cancel()
    again.cancel()
    assert calls == [("soon", 0.5), ("every", 1.5), ("later", 2.0), ("every", 3.0), ("every", 4.5)]


def test_turns_that_were_missed_are_left_out(clock: Clock) -> None:
    calls: list[float] = []
    scheduler = Scheduler(clock)
    again = scheduler.every(1.0, lambda: calls.append(clock.seconds()))
    clock.advance(10)
    clock.advance(1)
    again.cancel()
    assert calls == [10.0, 11.0]


def test_a_wall_clock_that_is_set_moves_no_deadline(clock: Clock) -> None:
    wall = [1_700_000_000.0]
    scheduler = Scheduler(clock, lambda: wall[0])
    owners = armed(scheduler, 1.0, 2.0)
    wall[0] += 120
    clock.advance(0.9)
    assert [owner.called for owner in owners] == [[], []]
    wall[0] -= HOUR
    clock.advance(0.1)
    clock.advance(1)
    assert [owner.called for owner in owners] == [[1.0], [2.0]]
    assert scheduler.moment() == 1_700_000_120 - HOUR


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch):
    """Twisted's wall clock, which a test can set."""
    real, set_by = base.runtimeSeconds, [0.0]  # type: ignore[attr-defined]
    monkeypatch.setattr(
        SelectReactor, "seconds", staticmethod(lambda: real() + set_by[0]), raising=False
    )
    return set_by


def passes(reactor: SelectReactor, seconds: float) -> None:
    end = base.runtimeSeconds() + seconds  # type: ignore[attr-defined]
    while base.runtimeSeconds() < end:  # type: ignore[attr-defined]
        reactor.iterate(0.005)


@pytest.fixture
def own_reactor():
    reactor = SelectReactor()
    yield reactor
    for call in reactor.getDelayedCalls():
        call.cancel()
    for reader in reactor.removeAll():
        reader.connectionLost(None)


def test_set_back_an_hour_a_reactor_of_twisted_s_own_is_late(own_reactor, wall) -> None:
    called: list[str] = []
    own_reactor.callLater(0.02, called.append, "late")
    wall[0] -= HOUR
    passes(own_reactor, 0.1)
    assert called == []


@pytest.mark.parametrize("step", [120.0, -HOUR])
def test_a_steady_reactor_delays_and_speeds_up_nothing(own_reactor, wall, step: float) -> None:
    called: list[str] = []
    own_reactor.callLater(0.02, called.append, "waiting already")
    scheduler = Scheduler(own_reactor)
    scheduler.later(0.02, lambda: called.append("later"))
    scheduler.later(60.0, lambda: called.append("far too early"))
    before = scheduler.now()
    wall[0] += step
    assert 0 <= scheduler.now() - before < 10
    passes(own_reactor, 0.1)
    assert called == ["waiting already", "later"]


def test_making_steady_twice_changes_nothing_and_others_are_left_alone(own_reactor) -> None:
    make_steady(own_reactor)
    steady = own_reactor.seconds
    make_steady(own_reactor)
    assert own_reactor.seconds is steady
    clock = Clock()
    make_steady(clock)
    assert clock.seconds() == 0.0


@given(st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 50)))))
def test_each_owner_is_called_once_at_its_last_deadline(
    changes: list[tuple[int, int | None]],
) -> None:
    clock = Clock()
    scheduler = Scheduler(clock)
    owners = [Owner() for _ in range(5)]
    timers = [scheduler.timer(owner) for owner in owners]
    wanted: dict[int, int] = {}
    for index, deadline in changes:
        scheduler.arm(timers[index], None if deadline is None else Monotonic(deadline))
        if deadline is None:
            wanted.pop(index, None)
        else:
            wanted[index] = deadline
    clock.pump([0] + [1] * 50)
    for index, owner in enumerate(owners):
        assert owner.called == [wanted[index]] if index in wanted else not owner.called
    assert clock.getDelayedCalls() == []


@pytest.mark.parametrize("after", [0.0, 1.0, 3.0, 4.0])
def test_work_is_waited_for_until_a_time_has_come(clock: Clock, after: float) -> None:
    scheduler, work = Scheduler(clock), Deferred[str]()
    if not after:
        work.callback("done")
    outcome: list[object] = []
    Deferred.fromCoroutine(scheduler.within(Monotonic(3.0), work)).addCallback(outcome.append)
    clock.advance(min(after, 2.9))
    if after and after < 3.0:
        work.callback("done")
    clock.advance(3.0)
    assert outcome == [after < 3.0]
    if after >= 3.0:
        work.errback(ValueError("nobody waits for it any more"))


def test_what_work_raises_in_time_is_raised(clock: Clock) -> None:
    scheduler, work = Scheduler(clock), Deferred[str]()
    waiting = Deferred.fromCoroutine(scheduler.within(Monotonic(3.0), work))
    work.errback(ValueError("broken"))
    outcome: list[type] = []
    waiting.addErrback(lambda failure: outcome.append(failure.type))  # type: ignore[call-overload]
    assert outcome == [ValueError]
