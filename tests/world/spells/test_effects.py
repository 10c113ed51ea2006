"""Spells that last: ticks, ends, stacking, and that all is as before."""

from pathlib import Path
from typing import Any

import pytest

from emu.structs.packed import unpack, xor
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn
from emu.world.reports import Fault
from tests.support.world.spell_scenes import BUFF, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

COURAGE, PULSE = 110002, 210015
DOT = """
[[spell]]
id = 210015
name = "Static Pulse"
icon = 30
backdrop = 315
target = 1
effect = "DoT"
detriment = 2
script = "Spells/Pulse.lua"
[[spell.tier]]
range = 25
duration1 = 240
call_frequency = 40
resistibility = 0.1
values = [5, 3, 3]
"""
DOT_SCRIPT = """
function cast(Caster, Target, Type, Low, High)
    SpellDamage(Target, Type, Low, High, 2, 1)
end

function tick(Caster, Target, Type, Low, High)
    SpellDamage(Target, Type, Low, High, 2, 1)
end

function remove(Caster, Target, Reason)
    Say(Caster, Reason)
end
"""


def state_of(spawn: Spawn) -> dict[str, Any]:
    sheet = spawn.sheet
    names = ("str", "sta", "agi", "wis", "intel", "haste", "cur_avoidance", "potency")
    found: dict[str, Any] = {name: sheet.get(name, FieldKind.FRACTION) for name in names}
    for name in ("cur_mitigation", "heat", "cold", "magic", "mental", "divine"):
        found[name] = sheet.get(name, FieldKind.UNSIGNED)
    pools = sheet.health, sheet.power
    return found | {"pools": [(one.current, one.most) for one in pools], "words": spawn.words}


def test_a_toggle_adds_and_takes_back(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    scene.know(COURAGE)
    spawn = scene.player.spawn
    # As the formula of players gives it at level 1: 2 + 40, and 3 for each point of stamina.
    spawn.sheet.health.fill(102)
    before = state_of(spawn)
    scene.cast(COURAGE)
    assert spawn.sheet.attribute("sta") == 32
    assert spawn.sheet.health.most == 138
    assert scene.state().concentration == 1
    scene.run(0.5)
    sheet = scene.harness.parts.sheets.fields(scene.player)
    assert sheet["conc_used"] == 1
    assert sheet["spell_effects"][0]["spell_id"] == COURAGE
    assert sheet["maintained_effects"][0]["name"] == "Courage"
    assert spawn.effect_icons[0].spell_id == COURAGE
    scene.cast(COURAGE)
    assert scene.shown()[-1] == "Your Courage fades."
    scene.run(0.5)
    before["pools"][1] = (995, 1000)
    assert state_of(spawn) == before
    assert scene.state().concentration == 0
    assert spawn.effect_icons == ()


def shown_to_the_caster(scene: SpellScene) -> tuple[list[int], list[str]]:
    """Return the effects and the maintained spells of the sheet as the client has it."""
    layout = scene.client.dialect.layout("WS_CharacterSheet")
    sheet = bytes(len(layout.encode({})))
    for payload in scene.payloads("OP_UpdateCharacterSheetMsg"):
        change, _ = unpack(payload, len(sheet), scene.client.dialect.version)
        sheet = xor(sheet, change)
    fields = layout.decode(sheet)
    effects = [row["spell_id"] for row in fields["spell_effects"]]
    return effects, [row["name"].rstrip("\0") for row in fields["maintained_effects"]]


@pytest.mark.parametrize("version", [373, 546, 562, 908, 1096, 1208, 57080, 60114, 64753])
def test_each_version_shows_what_lasts_on_its_player(tmp_path: Path, version: int) -> None:
    """Rows of effects and maintained spells have other fields in each version.

    EQ2Emulator's structs of 373 have neither the whole time of an effect nor the kind of a target.
    """
    scene = SpellScene(tmp_path, version, toml=BUFF)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(0.5)
    assert [one for one in scene.harness.events if isinstance(one, Fault)] == []
    effects, maintained = shown_to_the_caster(scene)
    assert effects[0] == COURAGE
    assert maintained[0] == "Courage"


def test_a_spell_of_24_seconds_ticks_five_times(tmp_path: Path) -> None:
    # Static Pulse was recorded with hits after 0, 4, 8, 12, 16 and 20 seconds.
    scene = SpellScene(tmp_path, toml=DOT)
    scene.script(DOT_SCRIPT, "Spells/Pulse.lua")
    scene.know(PULSE)
    crab = scene.creature()
    scene.cast(PULSE, crab)
    blow = scene.payloads("OP_EqHearCombatCmd")[-1]
    lost = []
    for _ in range(7):
        lost.append(scene.payloads("OP_EqHearCombatCmd").count(blow))
        scene.run(4.01)
    assert lost == [1, 2, 3, 4, 5, 6, 6]
    assert scene.effects(crab) == []
    assert crab.effect_icons == ()
    said = [text for _, _, text in scene.client.hears()]
    assert said[-1] == "expired"


def test_death_ends_effects(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=DOT + BUFF)
    scene.script(DOT_SCRIPT, "Spells/Pulse.lua")
    scene.know(PULSE, COURAGE)
    crab = scene.creature()
    scene.cast(PULSE, crab)
    scene.run(0.6)
    scene.cast(COURAGE)
    scene.run(1.0)
    assert scene.effects(crab)
    assert scene.effects()
    scene.harness.minds.harm.take_health(scene.zone, scene.player.spawn, None, 100_000)
    assert scene.effects() == []
    assert scene.effects(crab) == []


def test_a_higher_tier_stays(tmp_path: Path) -> None:
    toml = BUFF.replace("cast_kind = 1\n", "") + "[[spell.tier]]\ntier = 2\nvalues = [1, 20]\n"
    scene = SpellScene(tmp_path, toml=toml)
    kind = scene.kind(COURAGE)
    spawn = scene.player.spawn
    scene.spells.cast_for_free(scene.player, kind, 2, spawn)
    assert spawn.sheet.attribute("sta") == 40
    scene.spells.cast_for_free(scene.player, kind, 1, spawn)
    assert spawn.sheet.attribute("sta") == 40
    assert len(scene.effects()) == 1
    scene.spells.cast_for_free(scene.player, kind, 2, spawn)
    assert len(scene.effects()) == 1


def test_the_own_maintained_spell_is_cancelled_by_its_place(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.client.types("cancel_maintained 5")
    assert scene.effects()
    scene.client.types("cancel_maintained 0")
    assert scene.effects() == []


def test_one_of_several_whom_a_spell_leaves_reads_of_it(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF.replace("target = 1", "target = 2"))
    friend = scene.friend()
    scene.client.types("invite Borvik")
    scene.harness.world.groups.table.accept(friend.id, scene.harness.now)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    assert len(scene.effects(friend.spawn)) == 1
    scene.spells.cancel_effect(friend, COURAGE)
    assert scene.effects(friend.spawn) == []
    assert scene.read_by(friend)[-1] == "Your Courage fades."
    assert len(scene.effects()) == 1
    assert "Your Courage fades." not in scene.shown()
