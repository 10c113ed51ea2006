"""Recorded entries of new characters into the real content, done again here as sequences.

Source: ../shared/data/recordings/real-entry-*; what was prepared there is in real-README.md. Each
message and text that concerns the player is compared in its order, at the first entry and at the
second one. What differs has a reason in `MOVED`, `ONCE`, `OTHER`, `OTHER_AT`
or `LEFT_OUT`, and in docs/protocol/world/entering.md#recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.files.recordings import RECORDINGS
from tests.support.world.entry_replay import LEFT_OUT, EntryReplay
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT

ROOT = Path(__file__).parents[3]
pytest.importorskip("lupa", reason="the package lupa is not installed")

MOVED = {
    "passive spells begin when the player stands": r"passive (1002063|1002903)$",
    "the groups' options and the recipes follow the lists of things": (
        r"(DefaultGroupOptions|UpdateRecipeBook) "
    ),
    "the tutorial begins after the zone's script has greeted": (
        r"(InstructionWindow|ShowWindow|FlashWindow) "
    ),
    "spells are unlocked when the avatar stands": r"book 235: ",
    "the name of the place follows the lists of things": r"OnscreenMsg .*The Queen's Colony",
    "the offer of a place follows the lists of things": r"OfferQuest$",
    "a loaded interface is answered at once": r"DoneLoadingUIResources ",
    "unread letters are counted when the avatar stands": r"text 12: You've got mail",
    "a quest is shown with the list of quests": r"QuestJournalReply$",
    "that there is no pet is said behind the own ghost": r"CharacterPet$",
}
"""Reasons, each with the lines that stand at another place."""
ONCE = {
    "what pet there is is said when it changes": r"CharacterPet$",
    "the trees of advancements are sent once": r"AdventureList$",
    "a quest is shown once": r"QuestJournalReply$",
    "the book comes once for all skills that a script changes": r"skills$",
}
"""Reasons, each with the lines that EQ2Emulator repeats."""
OTHER = {
    "a sheet comes with the own ghost, and when it has changed": (
        r"[-+] (sheet|SetControlGhost)$",
    ),
    "traits are not given by themselves": (r"- passive 255040[1-4]$",),
    "the channels of the world are the operator's": (r"- AvailWorldChannels ",),
    "the titles of new characters are this server's own": (r"[-+] TitleUpdate ",),
    "a standing that a script has changed is shown": (
        r"\+ faction \[1[12], 0, 50, 0\]",
    ),
    "a faction that has nothing to say of a player is not listed": (
        r"- faction \[\d+, 0, 50, 0\]",
    ),
    "a letter of a script is mentioned at once": (
        r"\+ text 12: You have unread mail", r"\+ OnscreenMsg .*unread mail",
    ),
    "spaces at the end of a text are left out": (r"[-+] window .*spell=\(id=8089 ",),
    "the journal does not keep which quest is shown beside the map": (
        r"[-+] QuestJournalUpdate .*quest_id=133 ",
    ),
    "of two rows of one skill the higher one counts": (r"[-+] skill 3421494576: ",),
    "a skill that stays keeps its value": (r"[-+] skill 4253456353: ",),
    "spells were put into the recorded database": (r"[-+] book 169: ",),
}  # fmt: skip
"""Reasons, each with the lines that differ by it: - is recorded alone, + is ours alone."""
OTHER_AT: dict[int, dict[str, tuple[str, ...]]] = {
    546: {
        "the class was put into the recorded database after the hotkeys": (
            r"\+ hotkey 1 4 0 ranged_attack$", r"\+ hotkey 2 1 302 $",
        ),
    },
    1208: {
        "spells are unlocked before the zone's script takes them": (r"[-+] book 235: ",),
    },
}  # fmt: skip
"""As `OTHER`, for the recordings of one version."""
LEAST = {"1208-start-fighter-priest": 69, "546-QueensColony-fighter-priest-mage": 75}
"""The recordings, and how many lines have to be equal in each first entry."""


def sorted_out(lines: Iterable[str], sign: str, version: int) -> tuple[list[str], list[str]]:
    """Return the lines that have to be equal, and those that stand at another place."""
    kept, moved, seen = [], [], set()
    reasons = [*OTHER.values(), *OTHER_AT[version].values()]
    for line in lines:
        if any(re.match(one, line) for one in ONCE.values()):
            if line in seen:
                continue
            seen.add(line)
        if any(re.match(one, f"{sign} {line}") for ones in reasons for one in ones):
            continue
        if any(re.match(one, line) for one in MOVED.values()):
            moved.append(line)
        else:
            kept.append(line)
    return kept, sorted(moved)


@pytest.mark.slow
@pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT)
@pytest.mark.parametrize("name", LEAST)
def test_a_recorded_entry_is_answered_alike(name: str, tmp_path: Path) -> None:
    if not (RECORDINGS / f"real-entry-{name}.jsonl.gz").exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    seen: set[str] = set()
    replay = EntryReplay(f"real-entry-{name}", tmp_path)
    for entry in replay.play():
        assert entry.ours is not None
        kept, moved = sorted_out(entry.recorded.lines, "-", replay.version)
        ours, ours_moved = sorted_out(entry.ours.lines, "+", replay.version)
        assert ours == kept, entry.client
        assert ours_moved == moved, entry.client
        assert entry.client in seen or len(kept) + len(moved) >= LEAST[name]
        seen.add(entry.client)


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "entering.md").read_text(encoding="utf-8")
    section = page.split("{#recorded}")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| [^|]*\|$", section, re.MULTILINE)
    assert set(rows) - {"difference"} == {
        *MOVED, *ONCE, *OTHER, *OTHER_AT[546], *OTHER_AT[1208], *LEFT_OUT,
    }  # fmt: skip
