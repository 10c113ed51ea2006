"""A client plays the first evening of the real content by itself, in virtual time.

It needs a content file (EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). The client has its
messages and nothing else; what it has to meet is in ../shared/spec/eq2-real-content.md 1.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.client.evening.player import Preferences
from tests.server.test_content_travel import CONTENT, SCRIPTS
from tools.evenings import EveningPlan, EveningResult, play

pytestmark = [
    pytest.mark.skipif(
        not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
    ),
    pytest.mark.slow,
]
ARCHETYPE, INVASION = 5725, {"Fighter": 5726, "Priest": 5727, "Mage": 5728, "Scout": 5729}
TASKS_ABOARD = 524


def evening(version: int, archetype: str, level: int, seed: int = 1) -> EveningResult:
    """Play up to a level with ten times the usual experience."""
    preferences = Preferences((archetype, "Qeynos"), ("Freeport",))
    plan = EveningPlan(
        Path(CONTENT), Path(SCRIPTS), version, preferences, level, 90.0, 10.0, seed
    )  # fmt: skip
    return play(plan, lambda _entry: None)


@pytest.mark.parametrize(("version", "archetype"), [(546, "Fighter"), (1208, "Mage")])
def test_a_commoner_gets_an_archetype_and_its_first_levels(version: int, archetype: str) -> None:
    result = evening(version, archetype, 4)
    assert result.failure == ""
    assert result.faults == []
    assert result.level == 4
    assert result.evening is not None
    complete = result.evening.player.journal.complete
    assert complete.keys() >= {ARCHETYPE, INVASION[archetype]}
    if version > 546:
        # The client of 2006 begins on the isle, behind the Far Journey.
        assert TASKS_ABOARD in complete
