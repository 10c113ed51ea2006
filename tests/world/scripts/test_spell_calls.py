"""Scripts of spells: each cast has globals of its own."""

from pathlib import Path

import pytest

from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TOML = """
[[spell]]
id = 700
name = "Count"
script = "Spells/Count.lua"
target = 0
is_friendly = true
[[spell.tier]]
duration1 = 100
call_frequency = 10
values = [3, 0.1]
"""


def test_globals_live_as_long_as_the_cast(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    scene.script(
        """
        count = 0
        function cast(Caster, Target, One, Two)
            count = count + 1
            Say(Caster, GetSpellName() .. count .. " " .. One .. " " .. Two)
        end
        function tick(Caster) count = count + 1 Say(Caster, "tick " .. count) end
        """,
        "Spells/Count.lua",
    )
    for _ in range(2):
        scene.spells.cast_for_free(scene.player, scene.kind(700), 1, None)
    (living,) = scene.effects()
    assert living.environment is not None
    scene.run(1.1)
    said = [text for _, _, text in scene.client.hears()]
    assert said == ["Count1 3 0.10000000149012"] * 2 + ["tick 2"]
    scene.spells.forget(scene.player.spawn)
    assert living.environment is None
    assert living.handle.subject is None


def test_a_living_cast_keeps_its_globals_when_all_scripts_are_read_again(tmp_path: Path) -> None:
    """Its own runtime of Lua must call them, and make the tables that it gets."""
    scene = SpellScene(tmp_path, toml=TOML)
    source = """
        count = 0
        function cast(Caster) Say(Caster, "{0}") end
        function tick(Caster)
            count = count + 1
            Say(Caster, "{0} " .. count .. " " .. #GetPlayersInZone(GetZone(Caster)))
        end
        function remove(Caster) Say(Caster, "{0} ends") end
        """
    scene.script(source.format("old"), "Spells/Count.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(700), 1, None)
    scene.run(1.1)
    scene.script(source.format("new"), "Spells/Count.lua")
    scene.scripts.reload()
    scene.run(1.0)
    scene.spells.forget(scene.player.spawn)
    scene.spells.cast_for_free(scene.player, scene.kind(700), 1, None)
    scene.run(1.1)
    said = [text for _, _, text in scene.client.hears()]
    assert said == ["old", "old 1 1", "old 2 1", "old ends", "new", "new 1 1"]
    assert scene.scripts.counters["errors"] == 0
    scene.spells.forget(scene.player.spawn)


def test_other_scripts_have_no_spell(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    assert scene.says("local id = GetSpellID() SpellDamage(Spawn, 7, 5, 5)", "id") == ["nil"]


def test_a_missing_script_forbids_the_cast(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    scene.know(700)
    scene.cast(700)
    assert scene.errors() == [40]
