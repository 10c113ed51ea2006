import pytest

from emu.admin.ggmp.peer import MOST_WAITING, Retransmissions
from emu.times import Monotonic


def run(outbox: Retransmissions, until: int) -> list[int]:
    """Milliseconds at which something is sent again."""
    sent: list[int] = []
    for milliseconds in range(until):
        now = Monotonic(milliseconds / 1000 + 1e-9)
        sent += [milliseconds for _ in outbox.handle_timer(now)]
    return sent


def test_what_is_not_acknowledged_is_sent_again_and_lost() -> None:
    outbox = Retransmissions()
    outbox.add_sent(1, b"x", Monotonic(0.0))
    assert outbox.get_timer() == 0.03
    assert run(outbox, 295) == [30, 90, 180]
    assert (len(outbox), outbox.lost) == (1, 0)
    run(outbox, 305)
    assert (len(outbox), outbox.lost) == (0, 1)
    assert outbox.get_timer() is None


def test_what_is_acknowledged_is_not() -> None:
    outbox = Retransmissions()
    outbox.add_sent(1, b"x", Monotonic(0.0))
    assert outbox.acknowledged(1)
    assert not outbox.acknowledged(1)
    assert run(outbox, 400) == []


def test_a_wait_of_ones_own() -> None:
    outbox = Retransmissions(0.1)
    outbox.add_sent(1, b"x", Monotonic(0.0))
    assert run(outbox, 990) == pytest.approx([100, 300, 600], abs=3)


def test_it_is_full_in_the_end() -> None:
    outbox = Retransmissions()
    for number in range(MOST_WAITING):
        assert not outbox.is_full
        outbox.add_sent(number, b"", Monotonic(0.0))
    assert outbox.is_full
