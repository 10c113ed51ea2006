from __future__ import annotations

from emu.admin.commands.server import Countdown, spoken


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.shown: list[tuple[float, str]] = []
        self.stopped: list[float] = []
        self.countdown = Countdown(
            lambda text: self.shown.append((self.now, text)), lambda: self.stopped.append(self.now)
        )

    def run(self, until: float) -> None:
        while (due := self.countdown.get_timer()) is not None and due <= until:
            self.now = max(self.now, due)
            self.countdown.handle_timer(self.now)
        self.now = until


def test_it_is_announced_more_often_the_nearer_it_comes() -> None:
    clock = Clock()
    clock.countdown.start(90.0, 0.0)
    clock.run(1000.0)
    assert clock.shown[0] == (0.0, "The server stops in 90 seconds.")
    assert [at for at, _ in clock.shown[1:]] == [30.0, 60.0, 80.0, 85.0, 86.0, 87.0, 88.0, 89.0]
    assert clock.shown[1][1] == "The server stops in 1 minute."
    assert clock.shown[-1][1] == "The server stops in 1 second."
    assert clock.stopped == [90.0]


def test_it_can_be_taken_back_and_set_anew() -> None:
    clock = Clock()
    assert not clock.countdown.cancel()
    clock.countdown.start(60.0, 0.0)
    clock.run(40.0)
    assert clock.countdown.cancel()
    assert clock.shown[-1] == (40.0, "The shutdown is canceled.")
    clock.run(200.0)
    assert clock.stopped == []
    clock.countdown.start(3600.0, 200.0)
    clock.countdown.start(10.0, 200.0)
    clock.run(300.0)
    assert clock.stopped == [210.0]


def test_at_once() -> None:
    clock = Clock()
    clock.countdown.start(0.0, 0.0)
    assert clock.stopped == [0.0]
    assert clock.shown == []
    assert clock.countdown.get_timer() is None


def test_announcements_that_were_missed_are_left_out() -> None:
    clock = Clock()
    clock.countdown.start(60.0, 0.0)
    clock.countdown.handle_timer(57.5)
    assert [text for _, text in clock.shown[1:]] == ["The server stops in 3 seconds."]


def test_durations_as_people_say_them() -> None:
    assert [spoken(one) for one in (1, 45, 60, 90, 120, 3600, 7200)] == [
        "1 second", "45 seconds", "1 minute", "90 seconds", "2 minutes", "1 hour", "2 hours",
    ]  # fmt: skip
