"""What a refused player is told (docs/protocol/login.md#reply-codes)."""

from __future__ import annotations

from emu.client.codes import LOGIN_TEXTS
from emu.login.messages import denials
from emu.model import LoginCode


def test_only_a_wrong_name_or_password_is_called_one() -> None:
    for reason in ("bad password", "no such account", "name not allowed"):
        assert denials.code_of(reason) == 1
    for reason in ("busy", "server problem", "too many attempts", "banned", "disabled", ""):
        assert denials.code_of(reason) not in (0, 1, 10)


def test_the_code_of_an_unknown_reason_is_one_that_clients_do_not_know() -> None:
    assert LoginCode.UNKNOWN_REASON > 1
    assert LoginCode.UNKNOWN_REASON not in LOGIN_TEXTS
