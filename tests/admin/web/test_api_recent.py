"""What is remembered for the page."""

from __future__ import annotations

import pytest

from emu.admin.log_lines import without_addresses
from emu.admin.web.api import LOGINS, MINUTES, Login, Recent
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
    ("line", "shown"),
    [
        ("login of bob from 192.0.2.7 refused", "login of bob from … refused"),
        ("clients on UDP 192.0.2.7:9100.", "clients on UDP …:9100."),
        ("client 2001:db8::1 is gone", "client … is gone"),
        ("[2001:db8::7]:9001, ::ffff:192.0.2.7", "[…]:9001, …"),
        ("from 127.0.0.1 and ::1 on 0.0.0.0", "from 127.0.0.1 and ::1 on 0.0.0.0"),
        ("version 0.9.9-Nebula at 12:34:56", "version 0.9.9-Nebula at 12:34:56"),
        ("at 436.2, -37.5, 819.56: 1.2.3.4.5", "at 436.2, -37.5, 819.56: 1.2.3.4.5"),
    ],
)
def test_a_line_shows_nobodys_address(line: str, shown: str) -> None:
    assert without_addresses(line) == shown
