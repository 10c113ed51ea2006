"""Recorded deals of two players with the set of things, done again here as sequences.

Source: sections of ../shared/data/recordings/items-*; each player's texts, lists, windows and coins
are compared in their order. What differs has a reason in `DIFFERENT`, and in
docs/protocol/world/trade.md#pairs. Wearing and packing are compared in test_items_replay.py.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from tests.support.files.recordings import RECORDINGS
from tests.support.world.pair_sections import PairReplay, Section

ROOT = Path(__file__).parents[3]
DIFFERENT = {
    "a list of a merchant comes once for an act": (r"- merchant ",),
    "a bag is shown when its content changes": (r"\+ window .*Patched Satchel",),
    "the bank gives what it says": (
        r"[-+] text 12: 1 Gold 1 Silver 10 Copper withdrawn",
        r"- UpdateBankCmd .*bank_coins=20100", r"\+ UpdateBankCmd .*bank_coins=10100",
    ),
    "both sides of a trade are one change of the list": (
        r"\+ list 0: 0=.*Grey River Pebble.*; [34]=.*Chipped Marble",
        r"- list 0: (0=-|0=menu_type=16387 icon=155 count=3|[34]=.*Chipped Marble)",
    ),
    "the line of a gift is our own": (r"[-+] text 5: (Gave \w+ item|\w+ is given Chipped)",),
    "other players are not in the test": (
        r"- StateCmd .*Treasure Chest", r"- text 5: Welcome to the NEW Content Server",
    ),
    "a window of a worn thing comes when it is asked for": (r"- window .*Dented Iron Cap",),
    "the collection of another section is not in this one": (r"[-+] CollectionUpdateCmd ",),
    "an attached thing is locked until it is sent": (r"\+ list 0: 0=menu_type=515 .*Marble",),
    "who empties a letter reads so": (r"\+ text 5: You take Chipped Marble and 3 silver 5",),
    "who is inspected reads so": (r"\+ text 5: (\w+ inspects you\.|\w+, level 1)",),
}  # fmt: skip
"""Reasons, each with the lines that differ by it: - is recorded alone, + is ours alone."""
LEAST = {
    "items-546-deal": {
        "shop": (46, 5), "bank": (24, 0), "slain": (26, 9), "trade": (29, 17), "inspect": (12, 1),
        "again": (12, 0), "post": (12, 9),
    },
    "items-561-deal": {
        "shop": (46, 5), "bank": (24, 0), "slain": (26, 9), "trade": (29, 17), "post": (12, 9),
    },
    "items-1208-deal": {
        "shop": (52, 7), "bank": (24, 0), "slain": (26, 9), "trade": (30, 18),
    },
    "items-60114-deal": {
        "shop": (52, 7), "bank": (24, 0), "slain": (26, 9), "trade": (30, 18),
    },
    "items-1096-all": {"shop": (46, 7), "bank": (24, 0), "slain": (26, 9), "trade": (30, 18)},
    "items-546-561-two": {"trade": (29, 17), "slain": (26, 9)},
}  # fmt: skip
"""How many lines of each player have to be equal in a section."""
LETTERS = ("UpdatePlayerMailCmd", "MailGetMessageReplyMsg")
SIGN = 2**31
"""From here on a payment of EQ2Emulator is one below zero."""


def without_faults(line: str) -> str:
    """Return a line without what is known to differ in it.

    A thing on a body has no number here, and a stack of 1. The seconds that are left depend on the
    moment. The figures of a sheet are compared elsewhere. The client reads other ends of letters
    (docs/protocol/world/mail.md#messages), and of a window without a thing EQ2Emulator once sends
    the end as zeros.
    """
    if line.startswith(LETTERS):
        line = re.sub(r" (unknown[25](_2)?=\[[0, ]*\]|item_type=7422|item_subtype=255)", "", line)
    if line.startswith("UpdateLootCmd"):
        line = line.replace("(unique_id=N ", "(").replace(" stack_size=1 ", " ")
        line = re.sub(r"lotto_timeout=1[12]\d", "lotto_timeout=N", line)
    return re.sub(r" health=.*? biography_length", " biography_length", line)


def compared(section: Section) -> tuple[list[str], int]:
    """Return the lines that differ without a reason, and how many are equal."""
    sides = ([without_faults(one) for one in side] for side in (section.recorded, section.ours))
    lines = [one for one in difflib.ndiff(*sides) if one[0] != "?"]
    patterns = [re.compile(one) for group in DIFFERENT.values() for one in group]
    found = [one for one in lines if one[0] != " " and not any(p.match(one) for p in patterns)]
    return found, sum(one[0] == " " for one in lines)


def signed(payment: int) -> int:
    """Return a payment as it would be without an overflow."""
    return (payment + SIGN) % (2 * SIGN) - SIGN


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_a_recorded_section_of_two_players_is_answered_alike(name: str) -> None:
    if not (RECORDINGS / f"{name}.jsonl.gz").exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    equal: dict[str, list[int]] = {}
    for section in PairReplay(name, frozenset(LEAST[name])).play():
        different, count = compared(section)
        assert different == [], (section.name, section.letter)
        theirs, ours = ([signed(one) for one in side] for side in section.payments)
        if section.name == "post":
            # Coins go with the letter here, EQ2Emulator takes them when they are attached.
            theirs, ours = [sum(theirs)], [sum(ours)]
        assert theirs == ours, (section.name, section.letter)
        equal.setdefault(section.name, []).append(count)
    assert equal.keys() == LEAST[name].keys()
    for section_name, least in LEAST[name].items():
        assert all(a >= b for a, b in zip(equal[section_name], least, strict=True)), equal


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "trade.md").read_text(encoding="utf-8")
    section = page.split("{#pairs}")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| [^|]*\|$", section, re.MULTILINE)
    assert set(rows) - {"difference"} == set(DIFFERENT)
