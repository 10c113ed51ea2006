from __future__ import annotations

import pytest

from emu.world.admission import AdmissionRules, decide, is_full
from emu.world.presence import WorldPresence
from tests.support.world_fakes import world_character

ME = 5


def present(*accounts: int) -> WorldPresence:
    presence = WorldPresence()
    for account in accounts:
        presence.entered(account, account, 1, lambda: None)
    return presence


def code(status: int = 0, *others: int, locked: bool = False, full: bool = False,
         playing: bool = False) -> int:  # fmt: skip
    rows = [world_character(ME, admin_status=status)]
    rows += [world_character(10 + n, admin_status=one) for n, one in enumerate(others)]
    presence = present(*([101] if playing else []), *([102] if full else []))
    rules = AdmissionRules(max_players=1 if full else -1)
    return decide(rows, ME, presence, rules, locked=locked)


def test_a_player_comes_in() -> None:
    assert code() == 1


def test_a_character_the_world_does_not_have() -> None:
    assert decide([], ME, present(), AdmissionRules(), locked=False) == 5
    rows = [world_character(6)]
    assert decide(rows, ME, present(), AdmissionRules(), locked=False) == 5


def test_a_ban_for_ever_is_the_whole_accounts_and_a_plain_one_the_characters() -> None:
    assert code(-2) == 18
    assert code(0, -2) == 18
    assert code(-1) == 18
    assert code(0, -1) == 1
    assert code(-2, playing=True) == 18
    assert code(-3) == 0


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
    assert not is_full(present(1), AdmissionRules(max_players=2))
    assert is_full(present(1, 2), AdmissionRules(max_players=2))
    assert is_full(present(), AdmissionRules(max_players=0))
    assert not is_full(present(1, 2), AdmissionRules())
