from __future__ import annotations

from emu.login.directory import PendingAnswers


def test_every_request_takes_one_answer() -> None:
    pending: PendingAnswers[int] = PendingAnswers(10)
    assert pending.add_request(1, 100.0, 0.0)
    assert pending.add_request(1, 101.0, 1.0)
    assert pending.take_request(1, 2.0)
    assert pending.take_request(1, 2.0)
    assert not pending.take_request(1, 2.0)
    assert len(pending) == 0


def test_requests_are_forgotten_in_time() -> None:
    pending: PendingAnswers[int] = PendingAnswers(10)
    pending.add_request(1, 10.0, 0.0)
    pending.add_request(2, 20.0, 5.0)
    pending.add_request(1, 30.0, 8.0)
    assert pending.waiting(29.9)
    assert not pending.take_request(2, 29.9)
    assert not pending.waiting(30.0)


def test_the_number_of_keys_is_bounded() -> None:
    pending: PendingAnswers[int] = PendingAnswers(2)
    assert [pending.add_request(key, 10.0, 0.0) for key in (1, 2, 3, 1)] == [
        True,
        True,
        False,
        True,
    ]
    assert pending.add_request(3, 20.0, 10.0)
