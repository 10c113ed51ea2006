"""What only scripts take back comes again with a spell that goes on.

Source: eq2-lua.md 7.3 (SetMount, SetVision, BlurVision, BreatheUnderwater are not undone by
themselves), eq2-spells.md 6 (effects are kept over zoning and logout).
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.world.actors.player import Player
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


BREATH = """
[[spell]]
id = {number}
name = "Breath {number}"
icon = 1
backdrop = 314
target = 2
is_group = true
is_friendly = true
visual = 60
script = "Spells/Breath.lua"
lasts_until_cancelled = true
[[spell.tier]]
range = 25
"""
BREATH_SCRIPT = """
function cast(Caster, Target)
    BreatheUnderwater(Target, true)
end

function remove(Caster, Target)
    BreatheUnderwater(Target, false)
end
"""


def breathers(folder: Path) -> tuple[SpellScene, Player]:
    """Return a scene of two players in a group who breathe under water by two spells of one."""
    scene = SpellScene(folder, toml="".join(BREATH.format(number=one) for one in (700, 701)))
    scene.script(BREATH_SCRIPT, "Spells/Breath.lua")
    friend = scene.friend()
    scene.client.types(f"invite {friend.name}")
    scene.client_of(friend).types("acceptinvite")
    scene.know(700, 701)
    for number in (700, 701):
        scene.cast(number)
        scene.run(1.0)
    return scene, friend


def breathes(player: Player) -> bool:
    return bool(player.spawn.sheet.get("breathe_underwater", FieldKind.UNSIGNED))


def test_the_end_of_one_spell_leaves_what_another_one_does_as_well(tmp_path: Path) -> None:
    scene, friend = breathers(tmp_path)
    assert [breathes(one) for one in (scene.player, friend)] == [True, True]
    scene.spells.cancel_maintained(scene.player, 0)
    assert [breathes(one) for one in (scene.player, friend)] == [True, True]
    scene.spells.cancel_maintained(scene.player, 0)
    assert [breathes(one) for one in (scene.player, friend)] == [False, False]


def test_one_of_several_targets_loses_it_when_the_spell_leaves_it(tmp_path: Path) -> None:
    scene, friend = breathers(tmp_path)
    scene.spells.cancel_effect(friend, 700)
    assert breathes(friend)
    scene.client_of(friend).types("leavegroup")
    assert [breathes(one) for one in (scene.player, friend)] == [True, False]


def test_only_known_names_with_their_numbers_are_usable() -> None:
    assert all(are_usable(name, [1.0] * count) for name, (count, _) in REDONE.items())
    assert not any(are_usable(name, [1.0] * (count + 1)) for name, (count, _) in REDONE.items())
    assert not are_usable("size", [1.0])
