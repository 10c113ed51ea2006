"""The page of players' accounts: limits, texts and what is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from emu.admin.web.accounts import (
    AccountAction,
    AccountActionRefused,
    AccountPage,
    AccountRegistered,
    ActionDenial,
    PasswordChanged,
)
from emu.admin.web.sessions import RequestRefused, SignInRules, SignIns
from emu.model import Account
from tests.support.coroutines import finish
from tests.support.times import ManualClock

HOME = "192.0.2.1"
SENT = {"name": "carol", "password": "new password", "repeat": "new password"}
WRONG = ActionDenial(403, "wrong name or password", "Wrong.", is_failure=True)


class Players:
    """A page over an answer that a test sets."""

    def __init__(self) -> None:
        self.answer: Account | ActionDenial = Account(7, "Carol", "hash")
        self.asked: list[tuple[str, ...]] = []
        self.reported: list[Any] = []
        self.clock = ManualClock()
        self.page = AccountPage(
            self, SignIns(SignInRules()), clock=self.clock, pause=self.pause,
            report=self.reported.append,
        )  # fmt: skip

    async def pause(self, seconds: float) -> None:
        self.clock.seconds += seconds

    async def register(
        self, name: str, password: str, code: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        self.asked.append(("register", name, password, code, address))
        self.clock.seconds += 0.3
        return self.answer

    async def change_password(
        self, name: str, present: str, new: str, address: str, wanted: Callable[[], bool]
    ) -> Account | ActionDenial:
        self.asked.append(("change", name, present, new, address))
        self.clock.seconds += 0.3
        return self.answer

    def act(self, action: AccountAction, fields: dict[str, str]) -> str:
        return finish(self.page.act(action, fields, HOME, lambda: True))

    def refused(self, action: AccountAction, fields: dict[str, str]) -> RequestRefused:
        with pytest.raises(RequestRefused) as caught:
            self.act(action, fields)
        return caught.value


def test_what_is_done_is_said_counted_and_reported() -> None:
    players = Players()
    assert "Carol is ready" in players.act(AccountAction.REGISTER, SENT | {"code": "c"})
    assert "password of Carol" in players.act(AccountAction.PASSWORD, SENT | {"present": "old"})
    assert players.asked == [
        ("register", "carol", "new password", "c", HOME),
        ("change", "carol", "old", "new password", HOME),
    ]
    assert players.reported == [AccountRegistered("Carol", HOME), PasswordChanged("Carol", HOME)]
    assert players.page.counters == {"accounts registered": 1, "passwords changed": 1}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (SENT | {"repeat": "another"}, "The two passwords differ."),
        (SENT | {"mail": "x"}, "There is no field mail."),
    ],
)
def test_what_the_page_itself_refuses(fields: dict[str, str], text: str) -> None:
    players = Players()
    for action in AccountAction:
        refusal = players.refused(action, fields)
        assert (refusal.code, refusal.text) == (400, text)
    assert players.asked == []


def test_failures_are_answered_after_whole_seconds_and_then_refused() -> None:
    players = Players()
    players.answer = WRONG
    begun = players.clock.seconds
    for number in range(1, 11):
        before = players.clock.seconds
        assert players.refused(AccountAction.PASSWORD, SENT).text == "Wrong."
        assert players.clock.seconds - before == pytest.approx(number)
    assert players.refused(AccountAction.PASSWORD, SENT).code == 429
    assert players.refused(AccountAction.REGISTER, SENT).code == 429
    assert len(players.asked) == 10
    assert players.clock.seconds - begun == pytest.approx(55)
    assert set(players.reported) == {
        AccountActionRefused(AccountAction.PASSWORD, HOME, "wrong name or password")
    }


@pytest.mark.parametrize(("code", "wait"), [(409, 0), (429, 5), (503, 5)])
def test_other_refusals_come_at_once(code: int, wait: float) -> None:
    players = Players()
    players.answer = ActionDenial(code, "some reason", "Some text.")
    begun = players.clock.seconds
    refusal = players.refused(AccountAction.REGISTER, SENT)
    assert (refusal.code, refusal.text, refusal.wait) == (code, "Some text.", wait)
    assert players.clock.seconds - begun == pytest.approx(0.3)


def test_a_name_without_end_is_cut() -> None:
    players = Players()
    players.act(AccountAction.REGISTER, SENT | {"name": "x" * 1000})
    assert players.asked[0][1] == "x" * 64
