"""Commands of spells."""

from pathlib import Path

import pytest

from tests.support.world.spell_scenes import BUFF, SMITE, SpellScene


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path, toml=SMITE + BUFF, admin_status=200)


def test_a_book_is_listed_and_cast_by_name(scene: SpellScene) -> None:
    assert scene.client.types("spells") == ["Smite (110014), tier 1"]
    scene.player.set_target(scene.creature())
    scene.client.types("cast smite")
    assert scene.spells.casts.is_casting(scene.player.spawn)
    assert scene.client.types("cast Fireball") == ["your book has no spell Fireball"]


def test_guides_change_books_and_cast_anything(scene: SpellScene) -> None:
    assert scene.client.types("givespell 110002 1") == ["Aldana has Courage now."]
    assert scene.client.types("givespell 110002 1") == ["Aldana has Courage of this tier already"]
    # EQ2Emulator's WS_SpellGainedMsg of 1011 has the tier in one byte.
    assert scene.client.types("givespell 110002 230028") == ["Aldana has Courage now."]
    assert scene.player.past.spell_tier(110002) == 255
    assert scene.client.types("takespell 110002") == ["Aldana does not have Courage any more."]
    assert scene.client.types("takespell 110002") == ["Aldana does not have Courage"]
    assert scene.client.types("castspell 9 1") == ["there is no spell 9"]
    scene.client.types("castspell 110002 1")
    assert scene.player.spawn.sheet.attribute("sta") == 32
    scene.client.types("takespell 110014")
    assert scene.client.types("spells") == ["Your book has no spells."]
