"""Petitions in the database: limits, answers that wait for their player, and cancelling."""

from __future__ import annotations

import pytest

from emu.correspondence import NewPetition, PetitionKind, PetitionLimits
from emu.errors import CommandError
from emu.store import Store
from emu.store.petitions import KEPT, PetitionRepository
from emu.times import DAY, Moment
from tests.support.world.world_fakes import world_character

NOW = Moment(1_000_000.0)
LIMITS = PetitionLimits(open_of_one=2, daily=3, most_open=4)


@pytest.fixture
def store(empty_store: Store) -> Store:
    for name in ("Aldana", "Borvik"):
        empty_store.world.characters.create(world_character(0, 1, name=name))
    return empty_store


def petition(account: int = 1, char_id: int = 1, text: str = "Help") -> NewPetition:
    return NewPetition(
        account_id=account, char_id=char_id, player="Aldana", kind=PetitionKind.BUG, text=text,
        place="Qeynos 1.0, 2.0, 3.0",
    )  # fmt: skip


def opened(petitions: PetitionRepository, moment: Moment = NOW, account: int = 1) -> int:
    return petitions.open(petition(account), LIMITS, moment)


def test_a_petition_is_answered_seen_and_closed(store: Store) -> None:
    petitions = store.world.petitions
    number = opened(petitions)
    [found] = petitions.every(is_open=True, most=9)
    assert (found.id, found.kind, found.text, found.opened) == (number, "bug", "Help", NOW)
    assert petitions.unseen(1) == []
    answer = petitions.answer(number, "We come", "Olwyn", NOW)
    assert answer is not None
    assert (answer.answer, answer.operator, answer.closed) == ("We come", "Olwyn", None)
    assert petitions.unseen(1) == [answer]
    assert petitions.unseen(2) == [], "another character of the account"
    petitions.seen(1)
    assert petitions.unseen(1) == []
    closed = petitions.close(number, "Olwyn", NOW)
    assert closed is not None
    assert petitions.every(is_open=True, most=9) == []
    assert petitions.every(is_open=False, most=9) == [closed] == petitions.of_account(1, 9)
    assert petitions.close(number, "Olwyn", NOW) is None
    assert petitions.answer(number + 1, "?", "Olwyn", NOW) is None


def test_an_account_cancels_its_own_petitions_alone(store: Store) -> None:
    petitions = store.world.petitions
    number = opened(petitions)
    assert petitions.cancel(2, number, NOW) is None
    assert petitions.cancel(1, number, NOW) is not None
    assert petitions.cancel(1, number, NOW) is None
    assert petitions.find(number + 1) is None


def test_limits_of_an_account_of_a_day_and_of_all(store: Store) -> None:
    petitions = store.world.petitions
    first, second = opened(petitions), opened(petitions)
    with pytest.raises(CommandError, match="too many open petitions; cancel"):
        opened(petitions)
    petitions.cancel(1, first, NOW)
    opened(petitions)
    petitions.cancel(1, second, NOW)
    with pytest.raises(CommandError, match="enough for today"):
        opened(petitions)
    opened(petitions, Moment(NOW + DAY + 1))
    opened(petitions, account=2)
    opened(petitions, account=3)
    with pytest.raises(CommandError, match="operators have too many"):
        opened(petitions, account=4)


def test_closed_petitions_are_removed_after_a_time(store: Store) -> None:
    petitions = store.world.petitions
    number, still_open = opened(petitions), opened(petitions)
    petitions.close(number, "Olwyn", NOW)
    opened(petitions, Moment(NOW + KEPT), account=2)
    assert petitions.find(number) is None
    assert petitions.find(still_open) is not None


def test_a_petition_outlives_its_character(store: Store) -> None:
    number = opened(store.world.petitions)
    with store.database.transaction():
        store.database.connection.execute("DELETE FROM world_characters WHERE id = 1")
    found = store.world.petitions.find(number)
    assert found is not None
    assert (found.char_id, found.player) == (0, "Aldana")
