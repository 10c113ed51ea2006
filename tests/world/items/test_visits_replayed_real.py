"""Recorded visits to merchants, nodes and bags of the real content, done again here.

Source: ../shared/data/recordings/real-*; what was prepared there is in real-README.md. What differs
has a reason in `DIFFERENT`, and in docs/protocol/world/trade.md#recorded.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from tests.support.files.recordings import RECORDINGS
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT
from tests.support.world.thing_replay import ThingReplay

ROOT = Path(__file__).parents[3]
pytest.importorskip("lupa", reason="the package lupa is not installed")
pytestmark = pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT)

DIFFERENT = {
    "a merchant pays no more than was paid": (
        r"[-+] text 81: You sell .*Plain Tin Arrow",
    ),
    "who is too far away reads so": (r"\+ text 3: You are too far away!",),
    "a greeting is chosen by chance": (r"[-+] says (Groak|Galan Crestrider|Hanna Deeppockets): ",),
    "a talk with a mender can be closed": (r"[-+] DialogOpenCmd .*Menders like me",),
    "spaces at the end of a text are left out": (
        r"[-+] window .*effect=.*(89856|43387)", r"[-+] window .*(Weapon 89856|Ranged 43387)",
    ),
    "a weapon for two hands and the second hand are one change": (
        r"[-+] list 1: (0=.*name=Weapon 76143|1=-)", r"[-+] list 0: (2=.*name=Weapon 79782|3=)",
    ),
    "charges of things that do not stack are not their number": (
        r"[-+] list 0: 6=.*name=a basic firework",
    ),
    "the words of a caster go to the caster alone": (
        r"- text (49|52): (You cast |You begin to gather \?|Fighter Archetype casting|Your Sticky)",
    ),
    "other players and creatures are not in the test": (
        r"[-+] text 12: (This encounter|.* is no longer worth)",
    ),
}  # fmt: skip
"""Reasons, each with the lines that differ by it: - is recorded alone, + is ours alone."""
FAULTY_PRICES = {20509: (4, 1), 36213: (29, 19)}
"""What EQ2Emulator offers for things that it sells for less, and what is offered here."""
LEAST = {
    "real-merchants-546-QueensColony": 75, "real-things-546-use-scribe": 11,
    "real-things-546-use-scribe-wear": 24, "real-examine-546-20-items": 21,
    "real-harvest-546-QueensColony": 60, "real-harvest-1208-QueensColony-collect": 75,
}  # fmt: skip
"""The recordings, and how many of their lines have to be equal."""
MOVED = re.compile(r"EntityVerbsReply")
"""Lines that may stand at another place: the recorded server answers late."""


def differences(recorded: list[str], ours: list[str]) -> tuple[list[str], int]:
    """Return the lines that differ, and how many are equal."""
    lines = [line for line in difflib.ndiff(recorded, ours) if line[0] != "?"]
    for line in [one for one in lines if one.startswith("- ") and MOVED.match(one[2:])]:
        if "+ " + line[2:] in lines:
            lines.remove("+ " + line[2:])
            lines[lines.index(line)] = "  " + line[2:]
    different = [line for line in lines if not line.startswith("  ")]
    return different, len(lines) - len(different)


def without_faults(line: str) -> str:
    """Return a recorded list of what a player can sell with the prices of this server."""
    for item, (theirs, ours) in FAULTY_PRICES.items():
        row = f"item_id={item} unique_item_id=N"
        line = line.replace(f"price={theirs} {row}", f"price={ours} {row}")
    return line


@pytest.mark.parametrize("name", LEAST)
def test_a_recorded_visit_is_answered_alike(name: str, tmp_path: Path) -> None:
    if not (RECORDINGS / f"{name}.jsonl.gz").exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    replay = ThingReplay(name, tmp_path)
    replay.play()
    recorded = [without_faults(line) for line in replay.recorded.lines]
    found, equal = differences(recorded, replay.ours.lines)
    patterns = [re.compile(one) for lines in DIFFERENT.values() for one in lines]
    assert not [line for line in found if not any(one.match(line) for one in patterns)]
    assert equal >= LEAST[name]
    faulty = dict(FAULTY_PRICES.values())
    assert replay.ours.payments == [faulty.get(one, one) for one in replay.recorded.payments]
    assert not replay.lost


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "trade.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]*\|$", page.split("{#recorded}")[1], re.MULTILINE
    )  # fmt: skip
    assert set(rows) - {"difference", "---"} == set(DIFFERENT)
