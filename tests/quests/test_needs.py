"""Whether a character meets the needs of a quest: all quests, one of classes, races, standings.

Source: docs/guides/quests.md#needs.
"""

import pytest

from emu.quests.needs import NO_NEEDS, Candidate, QuestNeeds, are_met

STANDINGS = {20: 500, 21: -500}
ONE = Candidate(10, 3, 9, 134, 4, 1, lambda faction: STANDINGS.get(faction, 0), {5, 6}.__contains__)


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        (NO_NEEDS, True),
        (QuestNeeds(least_level=10), True),
        (QuestNeeds(least_level=11), False),
        (QuestNeeds(most_level=9), False),
        (QuestNeeds(tradeskill_level=5), False),
        (QuestNeeds(classes=(2, 3)), True),
        (QuestNeeds(classes=(2,)), False),
        (QuestNeeds(races=(1,)), False),
        (QuestNeeds(models=(134,)), True),
        (QuestNeeds(tradeskill_classes=(2,)), False),
        (QuestNeeds(quests=(5, 6)), True),
        (QuestNeeds(quests=(5, 7)), False),
        # One of the standings is enough.
        (QuestNeeds(standings=((20, 501, 0), (21, -1000, -1))), True),
        (QuestNeeds(standings=((20, 0, 499),)), False),
    ],
)
def test_needs(needs: QuestNeeds, expected: bool) -> None:
    assert are_met(needs, ONE) is expected
