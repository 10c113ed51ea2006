"""What an account says of itself at a moment."""

import math

import pytest

from emu.model import Account
from emu.times import Moment


@pytest.mark.parametrize(
    ("enabled", "until", "banned", "state"),
    [
        (True, None, False, "enabled"),
        (True, 100.0, False, "enabled"),
        (True, 100.1, True, "banned"),
        (True, math.inf, True, "banned"),
        (False, None, False, "disabled"),
        (False, math.inf, True, "disabled"),
    ],
)
def test_a_ban_ends_at_its_moment_and_disabled_says_more(
    enabled: bool, until: float | None, banned: bool, state: str
) -> None:
    end = None if until is None else Moment(until)
    account = Account(1, "Alice", "hash", enabled=enabled, banned_until=end)
    assert account.is_banned(Moment(100.0)) is banned
    assert account.state(Moment(100.0)) == state
