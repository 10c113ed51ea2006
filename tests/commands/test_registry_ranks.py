from __future__ import annotations

import pytest

from emu.commands.registry import account_rank


@pytest.mark.parametrize(
    ("statuses", "rank"),
    [([], 0), ([0, 0], 0), ([0, 100, 10], 100), ([-1], 0), ([-1, 200], 200), ([200, -2], -2)],
)
def test_an_account_has_the_highest_rank_of_its_characters(statuses: list[int], rank: int) -> None:
    assert account_rank(statuses) == rank
