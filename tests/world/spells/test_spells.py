"""The spells of a world: who comes and goes."""

from pathlib import Path

import pytest

from emu.world.spells.living import WaitingCast
from tests.support.world.spell_scenes import BUFF, SMITE, SpellScene

SMITE_ID, COURAGE = 110014, 110002


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(tmp_path, toml=SMITE + BUFF)
    scene.know(COURAGE)
    return scene


@pytest.mark.slow
def test_a_player_who_leaves_is_forgotten(scene: SpellScene) -> None:
    friend = scene.friend()
    scene.cast(COURAGE, friend.spawn)
    assert scene.effects(friend.spawn)
    scene.harness.world.players.remove(scene.player)
    scene.spells.forget(scene.player.spawn)
    assert scene.effects(friend.spawn) == []
    assert friend.spawn.sheet.attribute("sta") == 20
    assert scene.spells.states.get(scene.player.spawn) is None


def test_a_creature_that_is_gone_is_forgotten(scene: SpellScene) -> None:
    crab = scene.creature()
    scene.cast(SMITE_ID, crab)
    scene.spells.vanished(scene.zone, crab)
    scene.zone.remove(crab, scene.harness.now)
    scene.run(3.0)
    assert scene.errors()[-1] == 17
    scene.spells.ended(scene.zone)


def test_the_spells_of_creatures_end_with_their_zone_without_their_scripts(
    scene: SpellScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    crab = scene.creature()
    kind = scene.kind(COURAGE)
    what = WaitingCast(kind, kind.tier(1))
    scene.spells.casts.cast(scene.zone, crab, what, crab, is_given=True)
    (buff,) = scene.effects(crab)
    scripts = scene.spells.lasting._scripts()
    monkeypatch.setattr(type(scripts), "call", lambda _self, _one, name, *_: called.append(name))
    scene.spells.ended(scene.zone)
    assert (buff.is_over, called) == (True, [])
    assert scene.spells.states.get(crab) is None


def test_friendly_effects_are_cancelled_by_number(scene: SpellScene) -> None:
    scene.cast(COURAGE)
    scene.client.types("cancel_effect 5")
    assert scene.effects()
    scene.client.types(f"cancel_effect {COURAGE}")
    assert scene.effects() == []


def test_who_leaves_a_group_loses_its_spells(tmp_path: Path) -> None:
    """Source: eq2-combat.md 10 (that group buffs are never checked again is a fault)."""
    scene = SpellScene(tmp_path, toml=BUFF.replace("target = 1", "target = 2"))
    friend, other = scene.friend(), scene.friend(7, "Corwin")
    for one in (friend, other):
        scene.client.types(f"invite {one.name}")
        scene.client_of(one).types("acceptinvite")
    scene.run(0.5)
    scene.know(110002)
    scene.cast(110002)
    assert len(scene.effects(other.spawn)) == 1
    scene.client_of(friend).types("leavegroup")
    scene.run(0.5)
    assert scene.effects(friend.spawn) == []
    assert len(scene.effects(other.spawn)) == 1
    assert all(friend.spawn not in one.targets for one in scene.state().maintained)
    # Two are left: the group ends, and the caster keeps its own.
    scene.client.types("leavegroup")
    scene.run(0.5)
    assert [one.targets for one in scene.state().maintained] == [[scene.player.spawn]]


def test_a_spell_for_anybody_stays_on_who_leaves_a_group(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    friend = scene.friend()
    scene.client.types("invite Borvik")
    scene.client_of(friend).types("acceptinvite")
    scene.know(110002)
    scene.cast(110002, friend.spawn)
    scene.client_of(friend).types("leavegroup")
    scene.run(0.5)
    assert len(scene.effects(friend.spawn)) == 1
