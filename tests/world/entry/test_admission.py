from __future__ import annotations

from itertools import count

import pytest

from emu.model import EntryOrigin
from emu.processes.ports import Presence
from emu.times import Clock, Monotonic
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.rules import AdmissionRules
from tests.support.coroutines import finish
from tests.support.running.processes import handoff_keys, presence, present
from tests.support.times import ManualClock
from tests.support.world.world_fakes import world_character

ME = 5


def filled(*accounts: int) -> Presence:
    made = presence()
    for account in accounts:
        made.entered(present(account, account, 1), lambda: None)
    return made


def admission(
    inside: Presence, max_players: int = -1, locked: bool = False, clock: Clock | None = None
) -> WorldAdmissionRules:
    keys = handoff_keys(count(1000).__next__, clock, most=50)
    return WorldAdmissionRules(AdmissionRules(max_players=max_players), inside, keys, locked=locked)


def code(status: int = 0, *others: int, locked: bool = False, full: bool = False,
         playing: bool = False) -> int:  # fmt: skip
    """Return the answer to a play request; zone entry answers the same."""
    rows = [world_character(ME, admin_status=status)]
    rows += [world_character(10 + n, admin_status=one) for n, one in enumerate(others)]
    inside = filled(*([101] if playing else []), *([102] if full else []))
    listener = admission(inside, 1 if full else -1, locked)
    answer, key = finish(listener.grant(rows, 101, ME))
    assert (key != 0) == (answer == 1)
    assert listener.on_entry(rows, ME) == answer
    return answer


def test_a_player_comes_in() -> None:
    assert code() == 1


def test_a_character_the_world_does_not_have() -> None:
    for rows in ([], [world_character(6)]):
        assert finish(admission(filled()).grant(rows, 101, ME)) == (5, 0)
        assert admission(filled()).on_entry(rows, ME) == 5


def test_a_ban_for_ever_is_the_whole_accounts_and_a_plain_one_the_characters() -> None:
    assert code(-2) == 18
    assert code(0, -2) == 18
    assert code(-1) == 18
    assert code(0, -1) == 1
    assert code(-2, playing=True) == 18
    assert code(-3) == 0


def test_a_character_that_is_in_the_world_may_be_taken_over_and_another_may_not() -> None:
    rows = [world_character(ME, 101), world_character(6, 101)]
    inside = presence()
    inside.entered(present(101, 6, 1), lambda: None)
    listener = admission(inside)
    assert finish(listener.grant(rows, 101, 6))[0] == listener.on_entry(rows, 6) == 1
    assert finish(listener.grant(rows, 101, ME)) == (7, 0)
    assert listener.on_entry(rows, ME) == 7
    inside.lost_link(6)
    assert listener.on_entry(rows, ME) == 1


@pytest.mark.parametrize(("status", "expected"), [(0, 7), (99, 7), (100, 1)])
def test_an_account_that_is_playing_comes_in_again_only_as_game_master(
    status: int, expected: int
) -> None:
    assert code(status, playing=True) == expected


@pytest.mark.parametrize(("status", "expected"), [(0, 0), (9, 0), (10, 1), (100, 1)])
def test_a_locked_world(status: int, expected: int) -> None:
    assert code(status, locked=True) == expected


@pytest.mark.parametrize(("status", "expected"), [(0, 253), (99, 253), (100, 1)])
def test_a_full_world(status: int, expected: int) -> None:
    assert code(status, full=True) == expected


def test_the_limit_of_players_itself_is_full_and_a_negative_one_never() -> None:
    assert not admission(filled(1), 2).is_full
    assert admission(filled(1, 2), 2).is_full
    assert admission(filled(), 0).is_full
    assert not admission(filled(1, 2)).is_full


def grant(listener: WorldAdmissionRules, account: int, char_id: int = 0, **row: int) -> int:
    """Return the key for a play request, or its code below 1000."""
    char_id = char_id or account
    rows = [world_character(char_id, account, **row)]
    answer, key = finish(listener.grant(rows, account, char_id))
    return key or answer


def test_whoever_has_a_key_has_a_place() -> None:
    clock = ManualClock()
    listener = admission(filled(1), 3, clock=clock)
    first, second = grant(listener, 2), grant(listener, 3)
    assert min(first, second) >= 1000
    assert grant(listener, 4) == 253
    assert finish(listener.redeem(2, first)) is not None
    clock.seconds += 59
    assert grant(listener, 4) >= 1000
    assert grant(listener, 5) == 253
    clock.seconds += 1
    assert grant(listener, 5) >= 1000


def test_ones_own_key_and_ones_own_lost_character_take_nobodys_place() -> None:
    inside = filled(2)
    inside.lost_link(2)
    listener = admission(inside, 1)
    for _ in range(3):
        assert grant(listener, 2) >= 1000
    assert grant(listener, 3) == 253


def test_an_account_has_one_key_and_a_game_master_one_for_each_character() -> None:
    listener = admission(filled())
    first, second = grant(listener, 7, 70), grant(listener, 7, 71)
    assert finish(listener.redeem(7, first)) is None
    assert finish(listener.redeem(7, second)) is not None
    keys = [grant(listener, 8, char_id, admin_status=100) for char_id in (80, 81)]
    assert all(finish(listener.redeem(8, key)) for key in keys)


def test_too_many_keys_are_a_full_world() -> None:
    listener = admission(filled())
    assert all(grant(listener, account) >= 1000 for account in range(1, 51))
    assert grant(listener, 51) == 253


def test_a_character_that_is_gone_neither_comes_in_nor_stays() -> None:
    sent_away = []
    inside = presence()
    inside.entered(present(1, 10, 1), lambda: sent_away.append(10))
    listener = admission(inside)
    key = grant(listener, 2, 20)
    finish(listener.dismiss(10))
    finish(listener.dismiss(20))
    assert sent_away == [10]
    assert finish(listener.redeem(2, key)) is None


def test_the_lock_holds_for_those_who_come_and_not_for_those_who_are_in() -> None:
    """Who changes its zone, or comes back after its link was lost, is in."""
    rows = [world_character(ME)]
    inside = filled(1, 2)
    listener = admission(inside, max_players=2, locked=True)
    assert listener.on_entry(rows, ME) == 0
    assert listener.on_entry(rows, ME, is_zoning=True) == 1
    listener.locked = False
    assert listener.on_entry(rows, ME) == 253
    assert listener.on_entry(rows, ME, is_zoning=True) == 1
    inside.entered(present(101, ME, 1), lambda: None)
    inside.lost_link(ME)
    listener.locked = True
    assert listener.on_entry(rows, ME) == 1
    assert finish(listener.grant(rows, 101, ME))[0] == 1
    for status, answer in ((-1, 18), (-2, 18)):
        banned = [world_character(ME, admin_status=status)]
        assert listener.on_entry(banned, ME, is_zoning=True) == answer, "a ban holds for everybody"
    assert listener.on_entry([], ME, is_zoning=True) == 5


def test_a_lock_takes_back_the_keys_of_those_it_keeps_out() -> None:
    listener = admission(filled())
    player, guide = grant(listener, 1), grant(listener, 2, admin_status=10)
    zoning = finish(listener.handoffs.issue(3, 3, "Zoning", 0, EntryOrigin.ZONE))
    listener.locked = True
    finish(listener.withdraw_refused())
    listener.locked = False
    assert finish(listener.redeem(1, player)) is None, "after the lock, too"
    assert finish(listener.redeem(2, guide)) is not None
    assert finish(listener.redeem(3, zoning)) is not None


def test_hidden_players_take_no_place() -> None:
    inside = filled(1)
    listener = admission(inside, max_players=1)
    assert listener.is_full
    inside.seen(1, hidden=True)
    assert not listener.is_full
    assert listener.on_entry([world_character(ME)], ME) == 1


def test_an_account_enters_20_times_at_once_by_default() -> None:
    rules = admission(filled())
    now = Monotonic(100.0)
    for _ in range(20):
        assert rules.reason_against(101, "192.0.2.7", now) is None
        rules.count_entry(101, "192.0.2.7", now)
    assert rules.reason_against(101, "192.0.2.7", now) == "too often for one account"
    assert rules.reason_against(101, "192.0.2.7", Monotonic(now + 3.0)) is None
