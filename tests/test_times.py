"""Moments that are stored, beside a clock that may stand anywhere."""

import math

import pytest

from emu.limits.addresses import BanList
from emu.model import Account
from emu.times import MOST_SECONDS, UNKNOWN, Moment, lies_ahead, unix_seconds


@pytest.mark.parametrize("moment", [-2e9, -0.5, 0.0, 1.0, 2e9])
def test_unknown_and_what_is_over_lie_ahead_of_no_clock(moment: float) -> None:
    assert not lies_ahead(UNKNOWN, Moment(moment))
    assert not lies_ahead(Moment(-math.inf), Moment(moment))
    assert not lies_ahead(Moment(moment), Moment(moment))
    assert lies_ahead(Moment(moment + 0.25), Moment(moment)) is (moment + 0.25 != UNKNOWN)
    assert lies_ahead(Moment(math.inf), Moment(moment))


def test_a_ban_whose_end_nobody_knows_has_ended_before_1970_too() -> None:
    assert not BanList([("192.0.2.7", UNKNOWN)]).covers("192.0.2.7", Moment(-5.0))
    assert BanList([("192.0.2.7", None)]).covers("192.0.2.7", Moment(-5.0))
    account = Account(id=1, name="a", password="", banned_until=UNKNOWN)
    assert not account.is_banned(Moment(-5.0))


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [(-1.0, 0), (-1e12, 0), (0.9, 0), (1.8e9, 1_800_000_000), (1e12, MOST_SECONDS)],
)
def test_clients_take_32_bits(moment: float, seconds: int) -> None:
    assert unix_seconds(moment) == seconds
