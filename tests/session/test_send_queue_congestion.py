"""NewReno: growth, halving, collapse."""

from __future__ import annotations

from emu.session.send_queue import NewReno

UNIT = 500


def make(window=5000):
    return NewReno(start=window, minimum=1000, unit=UNIT)


def fill(control):
    count = 0
    while control.may_send(UNIT):
        control.on_sent(UNIT)
        count += 1
    return count


def test_the_window_bounds_what_is_in_flight():
    control = make()
    assert fill(control) == 10
    assert not control.may_send(1)
    control.on_acked(UNIT, 1.0)
    assert control.may_send(UNIT)


def test_one_packet_always_may_leave():
    control = make(1000)
    assert control.may_send(1_000_000)


def test_slow_start_doubles_the_window_in_a_round_trip():
    control = make()
    for _ in range(fill(control)):
        control.on_acked(UNIT, 1.0)
    assert control.window == 10_000


def test_a_window_that_was_not_needed_does_not_grow():
    control = make()
    control.on_sent(UNIT)
    control.on_acked(UNIT, 1.0)
    assert control.window == 5000


def test_growth_ends_when_nothing_waits_any_more():
    control = make()
    fill(control)
    control.on_acked(UNIT, 1.0)
    assert control.window == 5500
    control.on_all_sent()
    control.on_acked(UNIT, 1.0)
    assert control.window == 5500


def test_losses_of_one_flight_halve_the_window_once():
    control = make(8000)
    fill(control)
    control.on_lost(UNIT, 1.0, now=2.0)
    control.on_lost(UNIT, 1.5, now=2.0)
    assert control.window == 4000
    control.on_lost(UNIT, 2.5, now=3.0)
    assert control.window == 2000


def test_the_window_never_gets_smaller_than_its_minimum():
    control = make(2000)
    for number in range(10):
        control.on_sent(UNIT)
        control.on_lost(UNIT, number + 0.5, now=number + 1.0)
    assert control.window == 1000
    assert control.in_flight == 0


def test_after_a_loss_the_window_grows_by_one_unit_a_round_trip():
    control = make(8000)
    fill(control)
    for _ in range(16):
        control.on_lost(UNIT, 1.0, now=2.0)
    assert control.window == 4000
    for _ in range(fill(control)):
        control.on_acked(UNIT, 2.5)
    assert 4400 <= control.window <= 4500


def test_a_timeout_starts_again_from_the_smallest_window_and_slow_start():
    control = make(8000)
    fill(control)
    control.on_timeout(UNIT, now=2.0)
    assert control.window == 1000
    for _ in range(15):
        control.on_acked(UNIT, 1.0)
    assert control.window == 1000  # what was sent before says nothing about now
    for _ in range(fill(control)):
        control.on_acked(UNIT, 2.5)
    assert control.window == 2000


def test_what_was_sent_at_the_moment_of_a_loss_belongs_to_the_recovery():
    """The repeated packets leave in that moment: they neither open the window nor halve it."""
    control = make(10_000)
    control.on_sent(10_000)
    assert not control.may_send(1)
    control.on_lost(500, sent_at=0.0, now=1.0)
    assert control.window == 5000
    control.on_sent(1000)
    control.on_acked(500, sent_at=1.0)
    assert control.window == 5000
    control.on_lost(500, sent_at=1.0, now=1.1)
    assert control.window == 5000
    control.on_sent(1000)
    control.on_acked(500, sent_at=1.05)
    assert control.window > 5000
    control.on_lost(500, sent_at=1.05, now=1.2)
    assert control.window < 5000


def test_after_a_timeout_the_window_opens_again_without_being_asked():
    control = make(10_000)
    control.on_sent(500)
    control.on_timeout(500, now=1.0)
    assert control.window == 1000
    control.on_sent(500)
    control.on_acked(500, sent_at=1.1)
    assert control.window == 1500
