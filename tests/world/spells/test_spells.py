"""The spells of a world: who comes and goes."""

from pathlib import Path

import pytest

from emu.world.actors.sheet import SpellMarks
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.spells.living import Control, WaitingCast
from emu.world.spells.targets import AREA_IMMUNITY
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


HIDE = """
[[spell]]
id = 800
name = "Hide"
icon = 1
backdrop = 314
target = 0
is_friendly = true
visual = 60
script = "Spells/Hide.lua"
lasts_until_cancelled = true
[[spell.tier]]
values = [{kind}]
"""
HIDE_SCRIPT = "function cast(Caster, Target, Kind) Stealth(Kind, Target) end"


def hidden(folder: Path, kind: int, version: int = 546) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = SpellScene(folder, version, toml=SMITE + HIDE.format(kind=kind))
    scene.script(HIDE_SCRIPT, "Spells/Hide.lua")
    scene.know(800, SMITE_ID)
    scene.cast(800)
    return scene


@pytest.mark.parametrize(("kind", "sight"), [(1, "sees_hidden"), (2, "sees_invisible")])
def test_who_is_hidden_is_attacked_only_by_what_sees_it(
    tmp_path: Path, kind: int, sight: str
) -> None:
    """The names of CanSeeInvis, SetSeeHide and SetSeeInvis (eq2-lua.md) say that minds ask."""
    scene = hidden(tmp_path, kind)
    wolf = scene.creature("a wolf", faction=1)
    scene.run(3.0)
    assert not wolf.mind.hates
    setattr(wolf.sheet, sight, True)
    scene.run(3.0)
    assert scene.player.spawn in wolf.mind.hates


@pytest.mark.parametrize("act", ["blow", "spell"])
def test_who_harms_somebody_is_seen_again(tmp_path: Path, act: str) -> None:
    scene = hidden(tmp_path, 1)
    crab = scene.creature()
    scene.cast(SMITE_ID, crab) if act == "spell" else scene.client.types("autoattack 1")
    assert "stealth" in scene.player.spawn.words
    scene.player.set_target(crab)
    scene.run(4.0)
    assert scene.effects() == []
    assert "stealth" not in scene.player.spawn.words


@pytest.mark.parametrize("version", [546, 561, 1208, 60114, 64753])
@pytest.mark.parametrize(("kind", "flag"), [(1, 8), (2, 1)])
def test_others_are_shown_who_is_hidden(tmp_path: Path, version: int, kind: int, flag: int) -> None:
    """docs/protocol/world/spawns.md#info: flags 1 invisible, 8 crouching."""
    scene = hidden(tmp_path, kind)
    client = scene.client_of(scene.friend(version=version))
    name = "flags" if version <= 561 else "visual_flag"
    assert client.fields_of(scene.player.name)[name] & 9 == flag
    scene.spells.cancel_effect(scene.player, 800)
    scene.run(1.0)
    assert client.fields_of(scene.player.name).get(name, 0) & 9 == 0


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


def test_a_spell_on_many_spares_the_mezzed_and_the_immune(scene: SpellScene) -> None:
    """Source: eq2-spells.md (AE spells and mezzed targets; AddImmunitySpell)."""
    crab, spells = scene.creature(), scene.spells
    marks = crab.sheet.spells = SpellMarks()
    assert not spells.is_spared(crab, AREA_IMMUNITY)
    marks.controls = frozenset({Control.MEZ})
    assert spells.is_spared(crab, AREA_IMMUNITY)
    assert not spells.is_spared(crab, AREA_IMMUNITY + 1)
    marks.controls = frozenset()
    marks.immunities = frozenset({AREA_IMMUNITY + 1})
    assert not spells.is_spared(crab, AREA_IMMUNITY)
    assert spells.is_spared(crab, AREA_IMMUNITY + 1)


def test_who_casts_or_is_held_cannot_strike(scene: SpellScene) -> None:
    own = scene.player.spawn
    assert not scene.spells.hinders(own)
    scene.know(SMITE_ID)
    scene.cast(SMITE_ID, scene.creature())
    assert scene.spells.hinders(own)
    scene.run(4.0)
    assert not scene.spells.hinders(own)
    scene.state(own).controls = frozenset({Control.STUN})
    assert scene.spells.hinders(own)


def test_creatures_have_whatever_skill_is_asked(scene: SpellScene) -> None:
    """Source: eq2-spells.md 7: five points for each level."""
    crab = scene.creature(level=8)
    assert scene.spells.skill_of(crab, 77) == 40
    assert scene.spells.skill_of(crab, 0) == 0
    thing = Spawn(9_999, SpawnKind.OBJECT, "a rock", crab.position, level=8)
    assert scene.spells.skill_of(thing, 77) == 0


@pytest.mark.parametrize(("slot", "count"), [(0, 0), (1, 1), (-1, 1)])
def test_a_maintained_spell_is_cancelled_by_its_place(
    scene: SpellScene, slot: int, count: int
) -> None:
    scene.spells.cancel_maintained(scene.player, slot)
    scene.cast(COURAGE, scene.player.spawn)
    assert len(scene.state().maintained) == 1
    scene.spells.cancel_maintained(scene.player, slot)
    assert len(scene.state().maintained) == count


def test_a_spell_is_cast_without_a_cost(scene: SpellScene) -> None:
    own, power = scene.player.spawn, scene.player.spawn.sheet.power
    before = power.current
    assert not scene.spells.cast_on_itself(scene.player, 4711)
    scene.spells.give(scene.player, 4711, 1)
    assert scene.effects() == []
    assert scene.spells.cast_on_itself(scene.player, COURAGE)
    assert [one.caster for one in scene.effects()] == [own]
    scene.spells.cancel_maintained(scene.player, 0)
    scene.spells.give(scene.player, COURAGE, 1)
    assert [one.targets for one in scene.effects()] == [[own]]
    assert power.current == before


def test_a_creature_harms_players_and_whom_it_hates(scene: SpellScene) -> None:
    """Source: eq2-spells.md (targets of creatures)."""
    wolf, crab, own = scene.creature("a wolf"), scene.creature(), scene.player.spawn
    may_harm = scene.spells.may_harm
    assert may_harm(wolf, own)
    assert not may_harm(wolf, wolf)
    assert not may_harm(wolf, crab)
    wolf.mind.hates[crab] = 5
    assert may_harm(wolf, crab)
    scene.harness.minds.harm.kill(scene.zone, crab, None)
    wolf.mind.hates[crab] = 5
    assert not may_harm(wolf, crab)
    own.sheet.is_invulnerable = True
    assert not may_harm(wolf, own)
