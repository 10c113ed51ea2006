"""The lines about a cast: what its caster reads, and what those near it read."""

from pathlib import Path

import pytest

from tests.support.world.spell_scenes import SMITE as SMITE_TOML
from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SMITE = 110014


def test_the_words_to_the_caster_are_not_shown_to_others(tmp_path: Path) -> None:
    """EQ2Emulator shows "You cast ..." to the victim and all around; this fault is not copied."""
    toml = SMITE_TOML.replace("success_message", "effect_message")
    scene = SpellScene(tmp_path, toml=toml)
    scene.know(SMITE)
    other = scene.harness.stand(6, 1208, name="Borvik", class_=11)
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    scene.run(0.3)
    scene.cast(SMITE, scene.creature("a goliath beetle"))
    scene.run(2.2)
    assert scene.shown()[-1] == "You cast Smite on a goliath beetle."
    assert not [one for one in other.decoded("WS_DisplayText") if "You cast" in one["text"]]


def test_content_that_says_the_success_itself_says_it_once(tmp_path: Path) -> None:
    """The two texts of Smite, recorded in real-spells-546-mage at 80.859 s."""
    own = 'success_message = "Your Smite was successful on %t!"\neffect_message = "You cast'
    toml = SMITE_TOML.replace('success_message = "You cast', own)
    scene = SpellScene(tmp_path, toml=toml)
    scene.know(SMITE)
    scene.cast(SMITE, scene.creature("a large coastal crab"))
    scene.run(2.2)
    assert [one for one in scene.shown() if "Smite" in one] == [
        "Your Smite was successful on a large coastal crab!",
        "You cast Smite on a large coastal crab.",
    ]
