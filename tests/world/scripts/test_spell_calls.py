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


def test_other_scripts_have_no_spell(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    assert scene.says("local id = GetSpellID() SpellDamage(Spawn, 7, 5, 5)", "id") == ["nil"]


def test_a_missing_script_forbids_the_cast(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TOML)
    scene.know(700)
    scene.cast(700)
    assert scene.errors() == [40]
