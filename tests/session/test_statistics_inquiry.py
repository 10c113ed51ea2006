"""Statistics asked for and answered."""

from __future__ import annotations

import itertools

import pytest

from emu.errors import MalformedDatagram
from emu.session import SessionConfig, StatisticsReceived
from emu.session.congestion import RoundTrip
from emu.session.statistics import Inquiry, answer_to, as_event, request_pause
from emu.wire import ServerKeyRequest, SessionStatResponse

CONFIG = SessionConfig()


def test_pauses_grow_while_something_is_missing_and_up_to_a_bound():
    inquiry = Inquiry(CONFIG)
    now, pauses = 100.0, []
    for _ in range(30):
        inquiry.plan(now, is_complete=False)
        pauses.append(inquiry.next_question - now)
        now = inquiry.next_question
    assert pauses[:3] == pytest.approx([request_pause(CONFIG, tries) for tries in range(3)])
    assert all(later >= earlier for earlier, later in itertools.pairwise(pauses))
    assert pauses[-1] == pytest.approx(CONFIG.timeout_maximum)
    inquiry.plan(now, is_complete=True)
    assert inquiry.next_question - now == pytest.approx(CONFIG.statistics_interval)


def test_who_has_planned_nothing_never_asks():
    assert Inquiry(CONFIG).next_question == float("inf")


def test_a_question_carries_the_round_trip_only_once_it_is_measured():
    round_trip = RoundTrip(CONFIG)
    question = Inquiry(CONFIG).ask(round_trip, sent=3, received=2, now=1.5)
    assert question == ServerKeyRequest(1500, packets_sent=3, packets_received=2)
    round_trip.measure(0.0001)
    question = Inquiry(CONFIG).ask(round_trip, sent=4, received=2, now=70.0)
    assert (question.request_id, question.average) == (70_000 & 0xFFFF, 1)


def test_the_answer_to_any_open_question_measures_and_settles_all():
    inquiry, round_trip = Inquiry(CONFIG), RoundTrip(CONFIG)
    first = inquiry.ask(round_trip, sent=1, received=1, now=1.0)
    inquiry.ask(round_trip, sent=2, received=1, now=1.25)
    answer = SessionStatResponse(first.request_id, server_sent=8, server_received=9)
    event = inquiry.take_answer(answer, round_trip, 1.5)
    assert event == StatisticsReceived(0.5, 0.5, 0.5, 0.5, 8, 9)
    with pytest.raises(MalformedDatagram, match="unasked statistics"):
        inquiry.take_answer(answer, round_trip, 1.6)


def test_questions_without_answers_do_not_pile_up():
    inquiry, round_trip = Inquiry(CONFIG), RoundTrip(CONFIG)
    for number in range(1000):
        inquiry.ask(round_trip, sent=1, received=1, now=number / 100)
    assert len(inquiry._asked) <= 16


def test_a_server_gives_the_clients_counts_back_with_its_own():
    question = ServerKeyRequest(7, 10, 20, 30, 40, 50, packets_sent=5, packets_received=4)
    answer = answer_to(question, sent=11, received=12, now=2.0**32 / 1000 + 1.0)
    assert answer == SessionStatResponse(7, 1000, 5, 4, 11, 12)
    assert as_event(question) == StatisticsReceived(0.01, 0.02, 0.03, 0.04, 5, 4)
