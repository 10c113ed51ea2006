"""The bound on what sessions keep."""

from __future__ import annotations

from emu.capture.sessions.follow import KeptStates


class Session:
    def __init__(self, size: int) -> None:
        self.size = size

    def miss(self, *, to_server: bool) -> None:
        self.size = 0 if to_server else self.size


def test_the_session_that_was_silent_for_longest_forgets() -> None:
    kept = KeptStates(limit=100)
    first, second, third = (Session(40) for _ in range(3))
    for session in (first, second, first, third):
        kept.note(session)
    assert [first.size, second.size, third.size] == [40, 0, 40]
    assert kept.total == 80


def test_a_session_that_alone_keeps_too_much_forgets() -> None:
    kept = KeptStates(limit=100)
    big = Session(101)
    kept.note(big)
    assert (big.size, kept.total) == (0, 0)


def test_what_a_session_forgets_is_counted_off() -> None:
    kept = KeptStates(limit=100)
    session = Session(60)
    kept.note(session)
    session.size = 10
    kept.note(session)
    assert kept.total == 10
