"""Recorded uses, repairs and creations with the set of things, done again here.

Source: three sections of ../shared/data/recordings/items-*-deal; scripts and spells are those of
the real content. What differs has a reason in `DIFFERENT`, and in
docs/protocol/world/crafting.md#recorded.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from tests.support.files.recordings import RECORDINGS
from tests.support.world.item_sections import SectionReplay
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT

ROOT = Path(__file__).parents[3]
pytest.importorskip("lupa", reason="the package lupa is not installed")
DIFFERENT = {
    "food has its own tier": (r"[-+] list [01]: .*(Trail Biscuit|Spring Water)",),
    "the list shows the charges that are left": (r"\+ list 0: 0=.*Whistling Charm",),
    "the content has other words for a spell": (
        r"[-+] text 39: ", r"[-+] text 49: Fireworks!", r"[-+] SpellCast(Start|End)Cmd .*Confetti",
    ),
    "a book shows its pages": (r"\+ ShowBookCmd .*A Sailor's Ledger",),
    "the window of a bag follows both lists": (r"[-+] list 1: 2=-",),
    "components are used as the recipe says": (
        r"[-+] list 0: .*(Lump of Bog Ore|Leather Strap)",
        r"[-+] ShowCreateFromRecipeUIMsg .*Basket of Charcoal",
    ),
    "the list comes once, with the product": (
        r"[-+] list 0: [34]=.*(Cooling Slag|Plain Belt Buckle)",
    ),
    "devices have their own numbers": (r"[-+] ShowRecipeBookMsg .*device_mask",),
    "a skill grows by chance": (r"[-+] text \d+: You get better at",),
}  # fmt: skip
"""Reasons, each with the lines that differ by it: - is recorded alone, + is ours alone."""
LEAST = {
    546: {"use": 35, "mend": 24, "craft": 65}, 561: {"use": 35, "mend": 24, "craft": 55},
    1208: {"craft": 50}, 60114: {"craft": 50},
}  # fmt: skip
"""How many lines of a section have to be equal."""


@pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT)
@pytest.mark.parametrize("version", LEAST)
def test_a_recorded_section_is_answered_alike(version: int) -> None:
    name = f"items-{version}-deal"
    if not (RECORDINGS / f"{name}.jsonl.gz").exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    patterns = [re.compile(one) for lines in DIFFERENT.values() for one in lines]
    equal = {}
    for section in SectionReplay(name).play():
        lines = [one for one in difflib.ndiff(section.recorded, section.ours) if one[0] != "?"]
        different = [one for one in lines if not one.startswith("  ")]
        assert not [one for one in different if not any(p.match(one) for p in patterns)]
        equal[section.name] = len(lines) - len(different)
    assert equal.keys() == LEAST[version].keys()
    assert not {one for one, least in LEAST[version].items() if equal[one] < least}, equal


def test_the_page_names_every_difference() -> None:
    page = (ROOT / "docs" / "protocol" / "world" / "crafting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [^|]*\|$", page.split("{#recorded}")[1], re.MULTILINE)
    assert set(rows) - {"difference"} == set(DIFFERENT)
