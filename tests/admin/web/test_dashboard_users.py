"""The dashboard over accounts in memory: sign-ins, what ends a session, allowed commands."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest

from emu.admin.web.dashboard import WRONG, Dashboard, SignedInUser, SignInDenial
from emu.admin.web.sessions import (
    RequestRefused,
    SessionRules,
    Sessions,
    SignedIn,
    SignedOut,
    SignInRefused,
    SignInRules,
    SignIns,
)
from emu.model import Account
from emu.times import Moment, Monotonic
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness

HOME = "192.0.2.1"


class Office:
    """A dashboard, its accounts and the events that it reported."""

    def __init__(self) -> None:
        self.rows = {"boss": Account(1, "Boss", "hash"), "bob": Account(2, "bob", "hash")}
        self.passwords = {"boss": "secret", "bob": "secret"}
        self.ranks = {1: 200}
        self.busy = 0
        self.time = 1000.0
        self.pauses: list[float] = []
        self.events: list[Any] = []
        self.harness = WorldHarness()
        self.uses: list[Any] = []
        self.harness.registry.report = self.uses.append
        numbers = iter(range(1, 10_000))
        self.dashboard = Dashboard(
            self,
            self.harness.registry,
            Sessions(SessionRules(), lambda size: next(numbers).to_bytes(size, "big")),
            SignIns(SignInRules()),
            clock=self,
            pause=self.pause,
            report=self.events.append,
        )

    def now(self) -> Monotonic:
        return Monotonic(self.time)

    def moment(self) -> Moment:
        return Moment(self.time)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | SignInDenial:
        if self.busy:
            return SignInDenial("busy", self.busy)
        account = self.rows.get(name.lower())
        if account is None:
            return SignInDenial("no such account")
        right = self.passwords[name.lower()] == password
        return account if right else SignInDenial("bad password")

    async def find(self, name: str) -> Account | None:
        return self.rows.get(name.lower())

    async def rank_of(self, account_id: int) -> int:
        return self.ranks.get(account_id, 0)

    def sign_in(self, name: str = "boss", password: str = "secret") -> tuple[str, SignedInUser]:
        fields = {"name": name, "password": password}
        return finish(self.dashboard.sign_in(fields, HOME, lambda: True))

    def refused(self, name: str, password: str) -> RequestRefused:
        with pytest.raises(RequestRefused) as caught:
            self.sign_in(name, password)
        return caught.value

    def change(self, name: str, **changes: Any) -> None:
        self.rows[name] = dataclasses.replace(self.rows[name], **changes)


@pytest.fixture
def office() -> Office:
    return Office()


def test_an_account_with_a_rank_signs_in_and_out(office: Office) -> None:
    token, subscription = office.sign_in()
    assert (subscription.session.name, subscription.rank) == ("Boss", 200)
    again = finish(office.dashboard.visitor(token, subscription.session.csrf, HOME))
    assert again.session is subscription.session
    office.dashboard.sign_out(again)
    assert finish(office.dashboard.user(token, HOME)) is None
    assert office.events == [SignedIn("Boss", HOME, 200), SignedOut("Boss", "by itself")]


def test_the_same_is_said_whatever_is_wrong_and_later_each_time(office: Office) -> None:
    refusals = [
        office.refused("boss", "wrong"),
        office.refused("nobody", "secret"),
        office.refused("bob", "secret"),
        office.refused("", ""),
    ]
    assert {(one.code, one.reason, one.text, one.wait) for one in refusals} == {
        (403, "wrong password", WRONG, 0.0)
    }
    assert office.pauses == [1.0, 2.0, 3.0, 4.0]
    assert [event.reason for event in office.events] == [
        "bad password", "no such account", "no rank", "no such account",
    ]  # fmt: skip
    assert all(isinstance(event, SignInRefused) for event in office.events)


@pytest.mark.parametrize("code", [503, 429])
def test_an_unchecked_password_is_no_wrong_one(office: Office, code: int) -> None:
    office.busy = code
    refusal = office.refused("boss", "secret")
    assert refusal.code == code
    assert refusal.wait > 0
    assert office.pauses == []


def test_who_guesses_on_stays_out_even_with_the_right_one(office: Office) -> None:
    for _ in range(10):
        office.refused("boss", "wrong")
    assert office.refused("boss", "secret").reason == "banned"
    office.time += 601
    office.sign_in()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda office: office.change("boss", enabled=False), "the account cannot log in"),
        (lambda office: office.change("boss", banned_until=Moment(9e9)),
         "the account cannot log in"),
        (lambda office: office.ranks.update({1: -2}), "the account cannot log in"),
        (lambda office: office.ranks.update({1: 9}), "the account has lost its rank"),
        (lambda office: office.rows.pop("boss"), "the account is gone"),
        (lambda office: office.change("boss", id=9), "the account is gone"),
        (lambda office: office.change("boss", password="other"),
         "the account has another password"),
    ],
)  # fmt: skip
def test_what_ends_a_session_ends_it_at_once_and_for_good(
    office: Office, change: Callable[[Office], object], reason: str
) -> None:
    token, subscription = office.sign_in()
    office.time += 11
    before = dict(office.rows), dict(office.ranks)
    change(office)
    with pytest.raises(RequestRefused) as caught:
        finish(office.dashboard.visitor(token, subscription.session.csrf, HOME))
    assert caught.value.code == 401
    assert office.events[-1] == SignedOut("Boss", reason)
    office.rows, office.ranks = before
    assert finish(office.dashboard.user(token, HOME)) is None


def test_a_hash_that_signing_in_renews_does_not_end_the_session(office: Office) -> None:
    token, _ = office.sign_in()
    office.change("boss", password="renewed")
    assert finish(office.dashboard.user(token, HOME)) is not None
    office.time += 11
    assert finish(office.dashboard.user(token, HOME)) is not None
    office.change("boss", password="changed")
    assert finish(office.dashboard.user(token, HOME)) is None


@pytest.mark.parametrize("csrf", ["", "x", "\udc80", "A" * 43])
def test_a_cookie_alone_is_not_enough(office: Office, csrf: str) -> None:
    token, _ = office.sign_in()
    with pytest.raises(RequestRefused) as caught:
        finish(office.dashboard.visitor(token, csrf, HOME))
    assert (caught.value.code, caught.value.reason) == (403, "wrong token")


def test_the_token_of_another_session_does_not_fit(office: Office) -> None:
    first, _ = office.sign_in()
    _, second = office.sign_in()
    with pytest.raises(RequestRefused, match="wrong token"):
        finish(office.dashboard.visitor(first, second.session.csrf, HOME))


def test_looking_keeps_nobody_signed_in_and_acting_does(office: Office) -> None:
    token, subscription = office.sign_in()
    office.time += 1700
    finish(office.dashboard.visitor(token, subscription.session.csrf, HOME))
    office.time += 1700
    assert finish(office.dashboard.user(token, HOME)) is not None
    office.time += 101
    assert finish(office.dashboard.user(token, HOME)) is None


def test_actions_are_commands_of_the_account(office: Office) -> None:
    victim = office.harness.stand(7, name="Victim")
    _, subscription = office.sign_in()
    reply = finish(
        office.dashboard.act(subscription, "kick", {"player": "Victim", "reason": "spam"})
    )
    assert (reply.ok, reply.text) == (True, "Victim was disconnected")
    assert victim.is_closed
    use = office.uses[-1]
    assert (use.caller, use.origin, use.line) == ("Boss", f"web {HOME}", "kick Victim spam")
    reply = finish(office.dashboard.act(subscription, "kick", {"player": "Victim"}))
    assert (reply.ok, reply.text) == (False, "there is no player Victim in the world")


def test_a_rank_that_is_too_low_is_refused_and_reported(office: Office) -> None:
    office.ranks[1] = 10
    victim = office.harness.stand(7, name="Victim")
    _, subscription = office.sign_in()
    shown = office.dashboard.shown(subscription)
    assert set(shown["actions"]) == {
        "mute", "unmute", "broadcast", "lock", "unlock", "petitions", "answer", "close",
    }  # fmt: skip
    with pytest.raises(RequestRefused) as caught:
        finish(office.dashboard.act(subscription, "kick", {"player": "Victim"}))
    assert (caught.value.code, caught.value.text) == (403, "kick needs rank 100; yours is 10")
    assert not victim.is_closed
    assert not office.uses[-1].ok


def test_nobody_acts_on_those_of_the_same_rank(office: Office) -> None:
    office.ranks[1] = 100
    peer = office.harness.stand(7, name="Peer", admin_status=100)
    _, subscription = office.sign_in()
    reply = finish(office.dashboard.act(subscription, "kick", {"player": "Peer"}))
    assert reply.text == "Peer has your rank or a higher one"
    assert not peer.is_closed


def test_a_lost_rank_counts_for_the_next_request(office: Office) -> None:
    token, subscription = office.sign_in()
    office.ranks[1] = 10
    lower = finish(office.dashboard.visitor(token, subscription.session.csrf, HOME))
    assert lower.rank == 10
    assert "kick" not in office.dashboard.allowed(lower)


@pytest.mark.parametrize("work", [0.0, 0.4, 0.9, 3.5])
@pytest.mark.parametrize(
    ("name", "password"),
    [("boss", "wrong"), ("nobody", "secret"), ("bob", "secret"), ("", "")],
)
def test_a_refusal_comes_after_whole_seconds_whatever_the_check_took(
    office: Office, work: float, name: str, password: str
) -> None:
    verify, begun = office.verify, office.time

    async def slow(*words: Any) -> Account | SignInDenial:
        office.time += work
        return await verify(*words)

    async def pause(seconds: float) -> None:
        office.time += seconds

    office.verify = slow  # type: ignore[assignment, method-assign]
    office.dashboard._pause = pause
    office.refused(name, password)
    assert office.time - begun == pytest.approx(max(1.0, math.ceil(work)))
