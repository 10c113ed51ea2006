"""Sending, acknowledging, finding losses, sending again, giving up."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedDatagram
from emu.session import SessionConfig
from emu.session.send_queue import SendQueue
from emu.wire import ProtocolOpcode

PACKET = ProtocolOpcode.PACKET


def make(count=0, size=100, **settings):
    queue = SendQueue(SessionConfig(**settings), 512)
    for _ in range(count):
        queue.queue_packet(PACKET, bytes(size))
    return queue


def sent(count, **settings):
    """Return a queue whose packets left at 0."""
    queue = make(count, **settings)
    queue.take_packets(0.0)
    return queue


def numbers(packets):
    return [int.from_bytes(packet[2:4], "big") for packet in packets]


def test_packets_get_their_numbers_when_they_leave():
    queue = make(3, first_sequence=0xFFFE)
    assert numbers(queue.take_packets(0.0)) == [0xFFFE, 0xFFFF, 0]
    assert queue.take_packets(0.0) == []
    assert queue.in_flight == 3
    assert queue.queued_bytes == 300


def test_an_ack_covers_everything_before_it_across_the_wrap():
    queue = sent(3, first_sequence=0xFFFE)
    queue.acknowledge_up_to(0xFFFF, 0.1)
    assert queue.in_flight == 1
    queue.acknowledge_up_to(0, 0.1)
    assert queue.empty
    assert queue.queued_bytes == 0
    assert queue.timer() is None
    assert queue.round_trip.smoothed == pytest.approx(0.1)


@pytest.mark.parametrize("sequence", [2, 100, 0x7FFF])
def test_an_ack_of_a_packet_never_sent_is_refused(sequence):
    queue = sent(2)
    with pytest.raises(MalformedDatagram, match="never sent"):
        queue.acknowledge_up_to(sequence, 0.1)
    with pytest.raises(MalformedDatagram, match="never sent"):
        queue.acknowledge_one(sequence, 0.1)
    assert queue.in_flight == 2


def test_a_late_copy_of_an_ack_changes_nothing():
    queue = sent(3)
    queue.acknowledge_up_to(1, 0.1)
    queue.acknowledge_up_to(0, 0.2)
    queue.acknowledge_up_to(0xFFFF, 0.2)
    queue.acknowledge_one(0, 0.2)
    assert queue.in_flight == 1


def test_the_window_of_2048_bounds_what_is_in_flight():
    queue = make(2100, size=1, congestion_window_start=10**6)
    assert len(queue.take_packets(0.0)) == 2048
    queue.acknowledge_up_to(9, 0.1)
    assert numbers(queue.take_packets(0.1)) == list(range(2048, 2058))


def test_the_congestion_window_bounds_what_is_in_flight():
    queue = make(100, size=496, congestion_window_start=5000)
    assert len(queue.take_packets(0.0)) == 10


def test_the_oldest_is_sent_again_after_1500_ms_then_later_and_later():
    queue = sent(2)
    times = []
    for _ in range(7):
        time = queue.timer()
        queue.handle_timer(time - 0.01)
        assert queue.take_packets(time - 0.01) == []
        queue.handle_timer(time)
        assert numbers(queue.take_packets(time)) == [0]
        times.append(time)
    gaps = [later - earlier for earlier, later in zip([0.0, *times], times, strict=False)]
    assert gaps == pytest.approx([1.5, 1.5, 1.5, 1.5, 3.0, 5.0, 5.0])
    assert queue.retransmissions == 7


def test_a_measured_timeout_grows_to_four_times_itself():
    queue = sent(1)
    queue.acknowledge_up_to(0, 0.1)
    queue.queue_packet(PACKET, b"x")
    queue.take_packets(1.0)
    times = [1.0]
    for _ in range(8):
        times.append(queue.timer())
        queue.handle_timer(times[-1])
        queue.take_packets(times[-1])
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps == pytest.approx([0.3, 0.3, 0.3, 0.3, 0.6, 1.2, 1.2, 1.2])


def test_a_retransmission_repeats_the_stored_bytes():
    queue = make()
    queue.queue_packet(PACKET, b"cipher text")
    first = queue.take_packets(0.0)
    queue.handle_timer(1.5)
    assert queue.take_packets(1.5) == first


def test_an_ack_ends_the_back_off():
    queue = sent(2)
    queue.handle_timer(1.5)
    queue.take_packets(1.5)
    queue.acknowledge_up_to(0, 1.6)
    assert queue.timer() == pytest.approx(1.6 + queue.round_trip.timeout)


def test_an_out_of_order_ack_sends_what_is_older_than_a_round_trip_at_once():
    queue = sent(5)
    queue.acknowledge_one(3, 0.1)
    assert numbers(queue.take_packets(0.1)) == [0, 1, 2]
    assert queue.retransmissions == 3
    queue.acknowledge_one(4, 0.1)
    assert queue.take_packets(0.1) == []


def test_an_out_of_order_ack_spares_what_is_younger_than_a_round_trip():
    queue = sent(1)
    queue.acknowledge_up_to(0, 0.2)
    queue.queue_packet(PACKET, b"one")
    queue.take_packets(1.0)
    queue.queue_packet(PACKET, b"two")
    queue.take_packets(1.05)
    queue.acknowledge_one(2, 1.1)  # this path takes a fifth of a second
    assert queue.take_packets(1.1) == []
    time = queue.timer()
    assert 1.15 <= time <= 1.2
    queue.handle_timer(time)
    assert numbers(queue.take_packets(time)) == [1]


def test_the_ack_of_the_repeated_oldest_shows_the_other_losses():
    queue = sent(6)
    queue.acknowledge_up_to(0, 0.1)
    time = queue.timer()
    queue.handle_timer(time)
    assert numbers(queue.take_packets(time)) == [1]
    queue.acknowledge_up_to(1, time + 0.1)
    assert numbers(queue.take_packets(time + 0.1)) == [2, 3, 4, 5]


def test_a_packet_sent_twice_is_no_measure():
    queue = sent(1)
    queue.handle_timer(1.5)
    queue.take_packets(1.5)
    queue.acknowledge_up_to(0, 1.6)
    assert not queue.round_trip.measured


def test_an_ack_through_a_filled_hole_is_no_measure():
    queue = sent(3)
    queue.acknowledge_one(2, 0.1)  # the one for 1 got lost
    queue.take_packets(0.1)
    queue.acknowledge_up_to(2, 3.0)
    assert queue.round_trip.smoothed == pytest.approx(0.1)


def test_an_early_ack_after_a_repeat_makes_it_wait_longer_from_then_on():
    queue = sent(3)
    queue.acknowledge_one(2, 0.1)
    assert numbers(queue.take_packets(0.1)) == [0, 1]
    queue.acknowledge_up_to(2, 0.11)  # a tenth of a round trip later: these were late, not lost
    for _ in range(3):
        queue.queue_packet(PACKET, b"x")
    queue.take_packets(1.0)
    queue.acknowledge_one(5, 1.1)
    assert queue.take_packets(1.1) == []


def test_giving_up_after_the_last_attempt():
    queue = sent(1, transmission_limit=3)
    for attempt in range(3):
        assert not queue.exhausted, attempt
        time = queue.timer()
        queue.handle_timer(time)
        queue.take_packets(time)
    assert queue.exhausted
    assert queue.retransmissions == 2


def test_what_is_sent_again_because_others_arrived_is_no_attempt():
    """On a path of a tenth of a millisecond a dozen copies may get lost within a moment."""
    queue = sent(1, transmission_limit=3)
    now = 0.0
    for newest in range(1, 101):
        queue.queue_packet(PACKET, b"x")
        queue.take_packets(now)
        now += 0.004
        queue.acknowledge_one(newest, now)
    assert queue.retransmissions > 50
    assert not queue.exhausted
    for _ in range(3):
        assert not queue.exhausted
        now = queue.timer()
        queue.handle_timer(now)
        queue.take_packets(now)
    assert queue.exhausted
    assert now > 3 * 0.2


def test_the_oldest_leaves_although_the_window_is_full():
    queue = sent(8, size=496)
    queue.congestion.in_flight += 10**6  # what a receiver threw away counts as in flight
    queue.acknowledge_one(7, 0.1)
    assert numbers(queue.take_packets(0.1)) == [0]
    queue.acknowledge_up_to(0, 0.2)
    assert numbers(queue.take_packets(0.2)) == [1]


def test_a_packet_that_becomes_the_oldest_overtakes_those_found_lost_before_it():
    queue = sent(12, size=496, congestion_window_start=12 * 512)
    queue.acknowledge_one(11, 0.1)
    first = numbers(queue.take_packets(0.1))
    assert first[0] == 0
    waiting = [number for number in range(11) if number not in first]
    assert waiting, "the halved window is too small for all of them"
    queue.congestion.in_flight += 10**6  # nothing more may leave but the oldest
    queue.acknowledge_up_to(waiting[0] - 1, 0.2)
    assert numbers(queue.take_packets(0.2)) == [waiting[0]]


@pytest.mark.parametrize("age", [0.0, 0.0005, 0.002])
def test_on_a_short_path_nothing_is_lost_before_it_could_have_been_acknowledged(age):
    queue = sent(1)
    queue.acknowledge_up_to(0, 0.0001)
    for _ in range(3):
        queue.queue_packet(PACKET, b"x")
    queue.take_packets(1.0)
    queue.acknowledge_one(3, 1.0 + age)
    assert queue.take_packets(1.0 + age) == []
    due = queue.timer()
    assert 1.002 < due < 1.01
    queue.handle_timer(due)
    assert numbers(queue.take_packets(due)) == [1, 2]


def test_hurrying_sends_the_oldest_again_but_not_every_time():
    queue = sent(2)
    queue.resend_oldest(0.1)
    assert queue.take_packets(0.1) == []
    queue.resend_oldest(0.5)
    assert numbers(queue.take_packets(0.5)) == [0]
    queue.resend_oldest(0.6)
    assert queue.take_packets(0.6) == []


def test_a_probe_leaves_a_full_congestion_window():
    queue = make(40, size=496, congestion_window_start=8 * 512, idle_timeout=1000.0)
    assert len(queue.take_packets(0.0)) == 8
    queue.handle_timer(1.5)
    assert numbers(queue.take_packets(1.5)) == [0]


def test_clearing_lets_go_of_everything():
    queue = sent(5)
    queue.queue_packet(PACKET, b"x")
    queue.clear()
    assert queue.empty
    assert queue.queued_bytes == 0
    assert queue.timer() is None


def check_books(queue):
    """What is counted as in flight and as queued is what the packets themselves say."""
    in_flight = queue._in_flight.values()
    assert queue.congestion.in_flight == sum(len(s.packet) for s in in_flight if not s.lost)
    waiting = sum(len(data) for _, data in queue._waiting or ())
    assert queue.queued_bytes == waiting + sum(len(sent.packet) - 4 for sent in in_flight)


@given(seed=st.integers(0, 2**32))
def test_the_books_are_right_whatever_happens(seed):
    source = random.Random(seed)
    queue = make(first_sequence=0xFFF0, congestion_window_start=3000)
    now = 1.0
    for _ in range(150):
        now += source.choice((0.0, 0.001, 0.05, 0.3, 2.0))
        match source.randrange(7):
            case 0 | 1:
                queue.queue_packet(PACKET, bytes(source.randrange(1, 500)))
            case 2 | 3:
                queue.take_packets(now)
            case 4:
                queue.handle_timer(now)
            case 5:
                queue.resend_oldest(now)
            case _ if queue.in_flight:
                sequence = source.choice(list(queue._in_flight))
                if source.random() < 0.7:
                    queue.acknowledge_one(sequence, now)
                else:
                    queue.acknowledge_up_to(sequence, now)
        check_books(queue)


def test_a_lost_packet_that_arrives_after_all_was_taken_out_of_flight_once():
    queue = sent(4)
    queue.acknowledge_one(3, 0.1)
    queue._detect_losses(0.1)  # 0 to 2 are lost, and not sent again yet
    assert queue.congestion.in_flight == 0
    queue.acknowledge_up_to(3, 0.11)
    assert queue.congestion.in_flight == 0
    assert queue.take_packets(0.11) == []
    assert queue.empty


def test_a_loss_behind_a_repeated_packet_is_found():
    queue = sent(4)
    queue.acknowledge_one(1, 0.1)
    assert numbers(queue.take_packets(0.1)) == [0]
    queue.acknowledge_one(3, 0.1)
    assert numbers(queue.take_packets(0.1)) == [2]


def test_a_window_that_holds_nothing_back_does_not_grow():
    queue = sent(12, size=496, congestion_window_start=8 * 512)
    queue.acknowledge_up_to(7, 0.1)
    queue.take_packets(0.1)
    grown = queue.congestion.window
    assert grown > 8 * 512
    now = 0.2
    queue.acknowledge_up_to(11, now)
    for number in range(12, 30):
        queue.queue_packet(PACKET, bytes(400))
        queue.take_packets(now)
        now += 0.1
        queue.acknowledge_up_to(number, now)
    assert queue.congestion.window == grown


def test_a_path_that_reorders_is_waited_for_no_longer_than_two_round_trips():
    queue = sent(1)
    queue.acknowledge_up_to(0, 0.1)
    now = 1.0
    for number in range(1, 30, 2):  # each second packet overtakes, far too late to wait for
        queue.queue_packet(PACKET, b"x")
        queue.queue_packet(PACKET, b"x")
        queue.take_packets(now)
        queue.acknowledge_one(number + 1, now + 0.1)
        if not queue.take_packets(now + 0.1):
            due = queue.timer()
            assert due - now <= 2 * queue.round_trip.smoothed + 0.001
            queue.handle_timer(due)
            assert numbers(queue.take_packets(due)) == [number]
        queue.acknowledge_up_to(number + 1, queue._in_flight[number].sent_at + 0.01)
        now += 1.0
    assert queue._reorder == 2.0


def test_what_is_sent_again_on_a_new_path_waits_no_longer_than_at_first():
    queue = sent(2)
    for _ in range(6):
        time = queue.timer()
        queue.handle_timer(time)
        queue.take_packets(time)
    assert queue.timer() == time + 5.0
    queue.resend_all(time + 0.1)
    assert numbers(queue.take_packets(time + 0.1)) == [0, 1]
    for _ in range(4):
        before, time = time, queue.timer()
        queue.handle_timer(time)
        queue.take_packets(time)
    assert time - before == pytest.approx(1.5)
