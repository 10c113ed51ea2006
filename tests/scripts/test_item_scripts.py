"""Item scripts of things that no table describes: a quest connects them, one to one."""

from pathlib import Path

import pytest

from emu.scripts.folder import ScriptFolder
from emu.scripts.item_scripts import item_scripts_of
from emu.scripts.signatures import parse

KNOWN = {
    "CanReceiveQuest": parse("P player, u quest"),
    "GetQuestStep": parse("P player, u quest"),
    "GiveQuestItem": parse("Q quest, P player, t text, u item, ..."),
    "HasCompletedQuest": parse("P player, u quest"),
    "HasQuest": parse("P player, u quest"),
    "OfferQuest": parse("S spawn?, P player, u quest, b forced?"),
    "RemoveItem": parse("P player, u item, n number=1"),
    "SummonItem": parse("P player, u item, 1 show?, t place?, n number=1"),
}
SIGN = """
local Sheet = 700
if HasQuest(Player, 50) and not HasCompletedQuest(Player, 51) then
    GiveQuestItem(Quest, Player, "Read it.", Sheet)
end
"""
NOTE = "function examined(Item, Player) OfferQuest(nil, Player, 51) end"


def scripts(folder: Path, **sources: str) -> dict[int, str]:
    for name, source in sources.items():
        path = folder / f"{name.replace('_', '/')}.lua"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return item_scripts_of(ScriptFolder(folder), KNOWN)


def test_a_thing_has_the_item_script_that_offers_the_quest_of_its_giver(tmp_path: Path) -> None:
    found = scripts(tmp_path, SpawnScripts_sign=SIGN, ItemScripts_note=NOTE)
    assert found == {700: "ItemScripts/note.lua"}


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"ItemScripts_copy": NOTE}, id="two scripts offer the quest"),
        pytest.param(
            {"ItemScripts_note": NOTE + " OfferQuest(nil, Player, 52)"}, id="of several quests"
        ),
        pytest.param({"SpawnScripts_other": SIGN.replace("700", "701")}, id="two things fit"),
        pytest.param(
            {
                "SpawnScripts_other": SIGN.replace("51", "53"),
                "ItemScripts_other": NOTE.replace("51", "53"),
            },
            id="two scripts fit",
        ),
        pytest.param({"SpawnScripts_sign": SIGN.replace("51", "54")}, id="another quest"),
        pytest.param({"SpawnScripts_sign": SIGN.replace("Sheet)", "roll())")}, id="no number"),
    ],
)
def test_without_a_single_pair_there_is_no_script(tmp_path: Path, others: dict[str, str]) -> None:
    sources = {"SpawnScripts_sign": SIGN, "ItemScripts_note": NOTE} | others
    assert scripts(tmp_path, **sources) == {}


BAIT = """
local Bait = 800
function examined(Item, Player)
    if GetQuestStep(Player, 60) == 4 then RemoveItem(Player, Bait) end
end
"""


def test_a_thing_has_the_item_script_that_takes_it_and_nothing_else(tmp_path: Path) -> None:
    assert scripts(tmp_path, ItemScripts_bait=BAIT) == {800: "ItemScripts/bait.lua"}


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"ItemScripts_other": BAIT}, id="two scripts take it"),
        pytest.param(
            {"ItemScripts_bait": BAIT + " RemoveItem(Player, 801)"}, id="it takes another one too"
        ),
        pytest.param({"ItemScripts_bait": BAIT.replace("Bait)", "roll())")}, id="no number"),
    ],
)
def test_whose_thing_it_takes_must_be_sure(tmp_path: Path, others: dict[str, str]) -> None:
    assert scripts(tmp_path, **({"ItemScripts_bait": BAIT} | others)) == {}
