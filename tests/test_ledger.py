"""Movements as values: what each owner gives and takes, and how an entry reads for its owners."""

from hypothesis import given
from hypothesis import strategies as st

from emu.ledger import (
    Balance,
    LedgerEntry,
    Moved,
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Reason,
    What,
)
from emu.times import Moment

OWNERS = st.builds(Owner, st.sampled_from(OwnerKind), st.integers(0, 3))
PARTS = st.builds(Part, OWNERS, OWNERS, st.integers(0, 1000), st.just(What.COINS)).filter(
    lambda part: part.giver != part.taker
)


@given(st.lists(PARTS, min_size=1, max_size=8))
def test_what_is_given_is_taken(parts: list[Part]) -> None:
    movement = Movement("a", Reason.SPLIT, tuple(parts))
    assert sum(movement.gives.values()) == sum(movement.takes.values())
    assert movement.gives.keys() == movement.takes.keys()
    for owner in movement.gives:
        assert movement.gives[owner] == sum(one.amount for one in parts if one.giver == owner)
    holders = {one for part in parts for one in part[:2] if one.is_holder}
    assert movement.holders == sorted(holders)


def test_a_result_has_the_balance_of_each_character() -> None:
    moved = Moved(Outcome.DONE, (Balance(5, 70, 2), Balance(6, 30, 1)))
    assert moved.is_done
    assert moved.balance(6) == Balance(6, 30, 1)
    assert moved.balance(7) is None
    assert not Moved(Outcome.BARRED).is_done


def test_an_entry_is_a_loss_for_its_giver_and_a_gain_for_its_taker() -> None:
    giver, taker = Owner.character(5), Owner.letter(5)
    entry = LedgerEntry(
        id=1, request="a", part=0, moment=Moment(1.0), reason=Reason.SENT, what=What.COINS,
        number=0, amount=30, giver=giver.kind, giver_id=5, giver_left=70, giver_revision=2,
        taker=taker.kind, taker_id=5, taker_left=30, taker_revision=1,
    )  # fmt: skip
    assert [entry.change(one) for one in (giver, taker, Owner.character(6))] == [-30, 30, 0]
    assert [entry.left(one) for one in (giver, taker)] == [70, 30]
