"""What only scripts take back comes again with a spell that goes on.

Source: eq2-lua.md 7.3 (SetMount, SetVision, BlurVision, BreatheUnderwater are not undone by
themselves), eq2-spells.md 6 (effects are kept over zoning and logout).
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.world.actors.sheet import FieldKind
from emu.world.spells.remains import REDONE, are_usable
from tests.support.world.spell_scenes import BUFF, SpellScene
from tests.world.spells.test_kept import change_zone, come_again

pytest.importorskip("lupa", reason="the package lupa is not installed")
COURAGE = 110002
SCRIPT = """
function cast(Caster, Target)
    SetMount(Caster, 12987)
    SetMountColor(Caster, 1, 2, 3, 4, 5, 6)
    BreatheUnderwater(Caster, 1)
    SetVision(Caster, 4)
    BlurVision(Caster, 0.5)
    SetSeeInvis(Caster, 1)
    AddSpellBonus(Caster, 611, 30)
end

function remove(Caster, Target)
    SetMount(Caster, 0)
    BreatheUnderwater(Caster, false)
    SetVision(Caster, 0)
    BlurVision(Caster, 0)
    SetSeeInvis(Caster, 0)
end
"""


def rider(folder: Path, script: str = SCRIPT) -> SpellScene:
    scene = SpellScene(folder, toml=BUFF)
    scene.script(script, "Spells/Buff.lua")
    scene.know(COURAGE)
    scene.cast(COURAGE)
    return scene


def marks(scene: SpellScene) -> list[object]:
    spawn = scene.player.spawn
    sheet, looks = spawn.sheet, spawn.appearance
    fields = [sheet.get(one, FieldKind.UNSIGNED) for one in ("breathe_underwater", "vision")]
    colors = [looks.get(f"mount_{one}") for one in ("type", "color", "saddle_color")]
    return [*colors, *fields, sheet.get("drunk", FieldKind.FRACTION), sheet.sees_invisible]


NONE = [None, None, None, 0, 0, 0, False]


@pytest.mark.parametrize("leave", [change_zone, come_again])
def test_who_rides_and_sees_does_so_in_the_next_zone(
    tmp_path: Path, leave: Callable[[SpellScene], None]
) -> None:
    scene = rider(tmp_path)
    before = marks(scene)
    assert before == [12987, [1, 2, 3], [4, 5, 6], 1, 4, 0.5, True]
    leave(scene)
    assert marks(scene) == before
    scene.cast(COURAGE)
    assert scene.effects() == []
    assert marks(scene) == NONE
    leave(scene)
    assert marks(scene) == NONE


def test_what_the_script_has_taken_back_does_not_come_again(tmp_path: Path) -> None:
    scene = rider(tmp_path, SCRIPT.replace("AddSpellBonus", "SetMount(Caster, 0) AddSpellBonus"))
    change_zone(scene)
    assert marks(scene)[0] is None
    assert marks(scene)[3:5] == [1, 4]


def test_only_known_names_with_their_numbers_are_usable() -> None:
    assert all(are_usable(name, [1.0] * count) for name, (count, _) in REDONE.items())
    assert not any(are_usable(name, [1.0] * (count + 1)) for name, (count, _) in REDONE.items())
    assert not are_usable("size", [1.0])
