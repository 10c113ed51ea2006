"""The windows of spells: their bytes as recorded, and what is not shown.

Source: ../shared/data/recordings/fight-*-priest-a, real-spells-546-*. All fields of two recorded
windows are compared for five versions by tests/world/combat/test_fights_replay.py.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from emu.spells.kinds import ClassLevel, SpellKind, SpellLine, SpellTier
from emu.world.spells.windows import effect_fields, spell_fields
from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SMITE = 110014
WINDOW = "OP_EqExamineInfoCmd"


def asked(scene: SpellScene, kind: int, number: int) -> list[bytes]:
    """Return the windows that answer a request of a client of 546 or 1208."""
    before = len(scene.client.log)
    if scene.client.dialect.version > 561:
        body = struct.pack("<BIIQIH", kind, 0xFFFFFFFF, 0, 1, number, 0) + bytes(0)
    else:
        body = struct.pack("<BIIBB", kind, 0xFFFFFFFF, number, 0, 1)
    scene.client.say("OP_ExamineInfoRequestMsg", body)
    return [payload for name, payload in scene.client.log[before:] if name == WINDOW]


def test_the_window_of_a_spell_begins_as_recorded(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path)
    (window,) = asked(scene, 3, SMITE)
    # fight-546-priest-a, up to the skills of the spell
    assert window.hex().startswith("01000003000000bead010098000e003b0110000f0000")
    assert b"Inflicts 8 - 10 divine damage on target" in window


@pytest.mark.parametrize(("level", "color"), [(1, 3), (4, 3), (5, 6), (12, 6)])
def test_the_name_of_an_easy_spell_has_a_color_of_its_own(
    tmp_path: Path, level: int, color: int
) -> None:
    # real-spells-546-priest: of level 8, spells up to level 4; fight-546-priest-a: of level 12.
    scene = SpellScene(tmp_path, level=level)
    asked(scene, 3, SMITE)
    assert scene.client.decoded("WS_ExamineInfo")[-1]["spell"]["spell_text_color"] == color


def test_what_nothing_describes_has_no_window(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path)
    assert asked(scene, 3, 77) == []
    assert asked(scene, 4, 0) == []
    assert scene.shown() == ["There is nothing to examine."] * 2


def test_an_effect_has_a_window(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path)
    asked(scene, 4, SMITE)
    shown = scene.client.decoded("WS_ExamineInfo")[-1]
    assert (shown["packettype"], shown["effect"]["name"]) == (1, "Smite")


def test_times_are_tenths_and_later_hundredths() -> None:
    tier = SpellTier(cast_time=2.0, recovery=0.5, duration=36.0, longest=36.0)
    kind = SpellKind(1, "x", classes=(ClassLevel(11, 255, 1),))
    assert [spell_fields(kind, tier, one)["cast_time"] for one in (546, 1096)] == [20, 200]
    assert spell_fields(kind, tier, 546)["duration1"] == 360
    assert spell_fields(kind, tier, 546)["recovery"] == 5


def test_lines_are_cut_to_what_a_window_counts() -> None:
    tier = SpellTier(lines=(SpellLine("x"),) * 300)
    assert effect_fields(SpellKind(1, "x"), tier, 546)["num_effects"] == 255


# real-entry-546-QueensColony-fighter-priest-mage and real-entry-1208-start-fighter-priest: the
# window of Collecting, whose row of a class is for everybody.
@pytest.mark.parametrize(("version", "icon"), [(546, 167), (561, 167), (1208, 778)])
def test_an_ability_of_everybody_has_no_levels_and_its_icon_of_old(
    tmp_path: Path, version: int, icon: int
) -> None:
    toml = """
        [[spell]]
        id = 8062
        name = "Collecting"
        icon = 778
        class = [{class = 255, tradeskill_class = 255, level = 1}]
        [[spell.tier]]
        """
    scene = SpellScene(tmp_path, version, toml=toml)
    asked(scene, 3, 8062)
    shown = scene.client.decoded("WS_ExamineInfo")[-1]["spell"]
    assert (shown["icon"], shown["level_array"]) == (icon, [])
