"""The recorded fights, done again here: the same messages and texts in the same order.

Source: ../shared/data/recordings/fight-*, real-spells-* and real-fight-*. What differs has a reason
in `DIFFERENT` or `DIFFERENT_THERE`, and in docs/protocol/world/fights.md#recorded.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.files.recordings import RECORDINGS
from tests.support.world.fight_comparison import compared, differing
from tests.support.world.fight_replay import Replay

ROOT = Path(__file__).parents[3]
pytest.importorskip("lupa", reason="the package lupa is not installed")

DIFFERENT = {
    "traits are not given by themselves": (
        r"- .*(Fighter Archetype|spell_id=2550401)",
    ),
    "a spell is gained by its class alone": (r"- SpellGainedMsg .*spell_name=Taunt",),
    "a queued spell waits until it can be cast again": (
        r"[-+] book: \{110014: (169|173)\}", r"- book: \{110014: 239, 120013: 235\}",
        r"[-+] book: \[235, 239\]", r"[-+] book: \[235\]",
    ),
    "a spell that is not in the book is refused": (r"\+ DisplaySpellFailCmd \(error_code=8",),
    "what lies in a body is decided by chance": (r"- text \d+: You loot",),
    "who gives up a fight is decided by chance": (
        r"\+ text 12: .* is no longer worth any experience",
    ),
    "an old shard lay there": (r"- text 0: You recover a spirit shard",),
    "a revived player does not change the zone": (r"- book: \{8308: 169",),
    "nobody reports a fault by a refused spell": (r"- text 5: Successfully submitted bug",),
    "an invitation has a line, and who leaves a group is named": (
        r"\+ text 14: .* (invites you to a group|has left the group)",
    ),
    "a heal of the dead is refused with a code": (r"\+ DisplaySpellFailCmd \(error_code=17",),
    "another place to revive is nearer": (r"[-+] ShowDeathWindowCmd .*(Scout's Gorge|Camp)",),
    "an interruption is sent once": (
        r"- HearSpellInterruptCmd .*spell_id=110011", r"- DisplaySpellFailCmd \(error_code=10",
    ),
    "an instant cast does not lock the book": (
        r"- book: \[169\]", r"\+ book: \{110006: 169\}",
        r"- book: \{110012: 169, 110014: 169, 120013: 169\}",
    ),
    "an answer of EQ2Emulator comes with the next turn of its loop": (
        r"[-+] text 56: You stop fighting",
    ),
}  # fmt: skip
"""Reasons, each with the lines that differ by it: - is recorded alone, + is ours alone."""
MAGE, PRIEST = "real-spells-546-mage", "real-spells-546-priest"
FIGHTER = "real-fight-546-QueensColony-fighter"
DIFFERENT_THERE: dict[str, dict[str, tuple[str, ...]]] = {
    MAGE: {
        "a window of an unknown spell is answered with a line": (
            r"\+ text 3: There is nothing to examine",
        ),
        "the words of a caster go to the caster alone": (r"- text 49: You call lightning down",),
        "a line of a spell once names the target": (
            r"[-+] text 49: .* begins to gather strands of arcane energy",
        ),
        "auto attack begins with an order alone": (r"\+ text 56: You start fighting",),
    },
    PRIEST: {
        "auto attack begins with an order alone": (r"\+ text 56: You start fighting",),
        "what a spell summons is not in the test": (r"- text 12: 5 Sacred Food and Water have",),
        "a spell that another one replaced is shown as waiting no more": (
            r"- book: \[169, 173\]", r"\+ book: \[169\]",
        ),
        "a queued spell waits until it can be cast again": (
            r"[-+] (SpellCastStartCmd|SpellCastEndCmd|HearCombatCmd) .*Smite",
            r"[-+] text (39|49): You.* Smite ", r"\+ book: \{110014: 239\}",
        ),
    },
    FIGHTER: {
        "another player gathers near by": (r"- text 49: You begin to gather roots",),
        "the words of a caster go to the caster alone": (r"- text 49: You call lightning down",),
        "a verb that a spawn does not offer is not answered": (
            r"- text 5: Your target is not dead",
        ),
    },
}  # fmt: skip
"""As `DIFFERENT`, for single recordings of the real content."""
SCENES = (
    "control", "death", "encounter", "heroic", "mage", "melee", "pet", "priest", "rez", "ward",
)  # fmt: skip
FILES = sorted(
    path.name.removesuffix(".jsonl.gz") for scene in SCENES
    for path in RECORDINGS.glob(f"fight-*-{scene}-*.jsonl.gz")
) + [name for name in DIFFERENT_THERE if (RECORDINGS / f"{name}.jsonl.gz").exists()]  # fmt: skip
LEAST = {
    "priest": 55, "mage": 45, "ward": 30, "control": 20, "melee": 12,
    MAGE: 280, PRIEST: 185, FIGHTER: 75,
}  # fmt: skip
"""Lines that have to be equal in a scene."""


def differences(replay: Replay) -> tuple[list[str], int]:
    """Return the lines that differ, and how many are equal."""
    found, equal = [], 0
    for client in sorted(replay.clients):
        for part in compared(replay, client):
            lines, count = differing(part)
            found += lines
            equal += count
    return found, equal


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="the recordings are not on this machine (EMU_RECORDINGS)")
@pytest.mark.parametrize("name", FILES)
def test_a_recorded_fight_is_answered_alike(name: str) -> None:
    replay = Replay(name)
    replay.play()
    found, equal = differences(replay)
    reasons = [*DIFFERENT.values(), *DIFFERENT_THERE.get(name, {}).values()]
    patterns = [re.compile(one) for lines in reasons for one in lines]
    unnamed = [line for line in found if not any(one.match(line) for one in patterns)]
    assert not unnamed
    assert equal >= LEAST.get(name, LEAST.get(name.split("-")[2], 5))


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "fights.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| [^|]+ \| ([^|]+) \| [^|]*\|$", page.split("{#recorded}")[1], re.MULTILINE
    )
    there = {reason for reasons in DIFFERENT_THERE.values() for reason in reasons}
    assert set(rows) - {"difference"} == set(DIFFERENT) | there
