"""Things that scripts name by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.scripts.folder import LARGEST_SOURCE, ScriptFolder
from emu.scripts.signatures import parse
from emu.scripts.things import LONGEST_NAME, things_of_scripts

KNOWN = {
    "AddQuestStepObtainItem": parse(
        "Q quest, u step, t text, u quantity, f percent, t group?, n icon?, ..."
    ),
    "GiveLoot": parse("S spawn, P player, u coins?, ..."),
    "HasItem": parse("P player, u item, n bank?"),
    "HasQuest": parse("P player, u quest"),
    "SummonItem": parse("P player, u item, 1 show?, t place?, n number=1"),
}


def things(folder: Path, *sources: str) -> dict[int, str]:
    for at, source in enumerate(sources):
        (folder / f"{at}.lua").write_text(source, encoding="utf-8")
    return things_of_scripts(ScriptFolder(folder), KNOWN)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("SummonItem(Player, 700)", {700: ""}),
        ('SummonItem(Player, "0x2bc", 5)', {700: ""}),
        ("GiveLoot(NPC, Player, 90, 700, 701)", {700: "", 701: ""}),
        ("HasQuest(Player, 700) SummonItem(Player, 0) SummonItem(Player, 700 + 1)", {}),
        ("-- SummonItem(Player, 700)", {}),
        ("local function SummonItem() end SummonItem(Player, 700)", {}),
        ("SummonItem(Player, 0xFFFFFFFF) SummonItem(Player) SummonItem(Player, nil)", {}),
        # A variable counts if it never has anything but one number.
        ("local RedHat = 700\nfunction a(Player) HasItem(Player, RedHat) end", {700: "Red Hat"}),
        ("RED_HAT_ID = 700; HasItem(Player, RED_HAT_ID)", {700: "Red Hat"}),
        ("local QuestItem = 700\nHasItem(Player, QuestItem)", {700: ""}),
        ("local hat = 700\nhat = 701\nHasItem(Player, hat)", {}),
        ("local hat = 700\nhat = roll()\nHasItem(Player, hat)", {}),
        ("local hat = 700 + 1\nHasItem(Player, hat)", {}),
        ("for hat = 700, 710 do HasItem(Player, hat) end", {}),
    ],
)
def test_numbers_that_are_written_count(tmp_path: Path, source: str, found: dict[int, str]) -> None:
    assert things(tmp_path, source) == found


def test_the_best_name_of_all_scripts_counts(tmp_path: Path) -> None:
    step = 'AddQuestStepObtainItem(Quest, 1, "I need a hat.", 1, 100, "", 11, 700, 701, 702)'
    remark = "if HasItem(Player, 701) then -- Waulon's hat\nend SummonItem(Player, 700)"
    variable = "local OldHat = 702 -- old\nSummonItem(Player, OldHat) -- give it"
    expected = {700: "I need a hat", 701: "Waulon's hat", 702: "Old Hat"}
    assert things(tmp_path, step, remark, variable) == expected
    assert things(tmp_path, variable, step, remark) == expected


def test_comments_that_are_no_name_and_long_texts(tmp_path: Path) -> None:
    found = things(
        tmp_path,
        "SummonItem(Player, 700) -- SummonItem(Player, 5)\n"
        "SummonItem(Player, 701) --[[ a\n hat ]]\n"
        f"SummonItem(Player, 702) -- {'a ' * LONGEST_NAME}\n",
        f'AddQuestStepObtainItem(Quest, 1, "{"word " * 30}", 1, 100, "", 11, 703)',
    )
    assert found.keys() == {700, 701, 702, 703}
    assert [found[number] for number in (700, 701, 702)] == ["", "", ""]
    assert found[703] == "word word word word word word word word word..."


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "large.lua").write_text("SummonItem(Player, 5)" + " " * LARGEST_SOURCE)
    assert things(tmp_path, "SummonItem(Player, 700)") == {700: ""}
