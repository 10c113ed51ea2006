"""Quests of the real content, done again: the same offers, dialogs, journals and reward windows.

Source: ../shared/data/recordings/real-quests-*. It needs the recordings, a content file
(EMU_CONTENT) and its scripts (EMU_CONTENT_SCRIPTS). What differs has a reason in `DIFFERENT` or
`MORE`, and in docs/protocol/world/quests.md#recorded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.world.quest_replay import QuestReplay, compared, unlike
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT

pytest.importorskip("lupa", reason="the package lupa is not installed")
ROOT = Path(__file__).parents[3]
needs_content = pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT)

PREFIX = "real-quests"
UNTIL = {
    "546-QueensColony-fighter": "quest 131: 6 of 6",
    "546-QueensColony-mage": "quest 162 step 4",
    "546-QueensColony-priest": "answer 0: I will set them free",
    "1208-QueensColony-mage": "",
    "60114-QueensColony-scout": "",
}
"""Recordings, each with the beginning of the mark up to which it is compared."""
DIALOGS = {"546-QueensColony-fighter": 27, "1208-QueensColony-mage": 61}
"""How many dialogs have to be equal."""
DIFFERENT = {
    "a quest taken now has its usual display status, and its zone as a heading": {
        "display_status", "zone_id", "num_quest_zones", "quest_zones_array",
    },
    "the coins of a reward are drawn by chance": {"max_coin"},
    "the last of several objects is shown as any other": {
        "onscreen_update", "onscreen_update_count", "onscreen_update_text", "onscreen_update_icon",
    },
}  # fmt: skip
"""Reasons, each with the fields that differ by it."""
OF_COMPLETE = {"description"}
"""What differs in a quest that EQ2Emulator shows as completed with its last step already."""
MORE = {
    "the last step is shown before the reward, and the completed quest after it": (
        "OP_EqQuestJournalReplyCmd"
    ),
    "a completed quest leaves the list at once": "OP_EqQuestJournalUpdateCmd",
}
"""Reasons, each with the messages that ours sends and EQ2Emulator does not always."""


def rest(kind: str, recorded: list[Any], ours: list[Any]) -> list[Any]:
    """Return the recorded messages of a kind that ours has not sent in the same order."""
    missing, at = [], 0
    for one in recorded:
        allowed = set().union(*DIFFERENT.values()) | (OF_COMPLETE if one.get("complete") else set())
        found = next((
            place for place in range(at, len(ours)) if unlike(one, ours[place]) <= allowed
        ), None)  # fmt: skip
        if found is None:
            missing.append(one)
        else:
            if found > at:
                assert kind in MORE.values(), ours[at:found]
            at = found + 1
    assert at == len(ours) or kind in MORE.values(), ours[at:]
    return missing


@needs_content
@pytest.mark.slow
@pytest.mark.parametrize("name", UNTIL)
def test_a_recorded_quest_is_answered_alike(name: str, tmp_path: Path) -> None:
    replay = QuestReplay(f"{PREFIX}-{name}", tmp_path, UNTIL[name])
    replay.play()
    assert not replay.lost
    found = compared(replay)
    for kind, (recorded, ours) in found.items():
        assert not rest(kind, recorded, ours), kind
    assert len(found["OP_EqDialogOpenCmd"][0]) >= DIALOGS.get(name, 15)


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "quests.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]* \|$", page.split("{#recorded}")[1], re.MULTILINE)
    assert set(rows) - {"this server", "---"} == {*DIFFERENT, *MORE}
