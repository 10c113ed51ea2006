"""What is remembered for the page."""

from __future__ import annotations

import pytest

from emu.admin.web.recent import LOGINS, MINUTES, Login, Recent, without_address
from emu.times import Moment


def test_the_most_players_of_a_minute_are_kept() -> None:
    recent = Recent()
    for moment, players in ((60.0, 3), (75.0, 5), (119.0, 4), (120.0, 1)):
        recent.count_players(players, Moment(moment))
    assert [(one.moment, one.players) for one in recent.population] == [(60.0, 5), (120.0, 1)]


def test_everything_is_bounded() -> None:
    recent = Recent()
    for number in range(5_000):
        recent.logins.append(Login(0.0, str(number), 546, accepted=True))
        recent.count_players(1, Moment(number * 60.0))
    assert len(recent.logins) == LOGINS
    assert len(recent.population) == MINUTES


@pytest.mark.parametrize(
    ("line", "address", "shown"),
    [
        ("login of bob from 192.0.2.7 refused", "192.0.2.7", "login of bob refused"),
        ("client 2001:db8::1 bob is gone", "2001:db8::1", "client … bob is gone"),
        ("answer of world 3 dropped: 3 bytes", "3", "answer of world 3 dropped: 3 bytes"),
        ("Aldana left", "", "Aldana left"),
    ],
)
def test_a_line_tells_no_address(line: str, address: str, shown: str) -> None:
    assert without_address(line, address) == shown
