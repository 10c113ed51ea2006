"""What is shown of spells: ghosts, sheets, control flags."""

from pathlib import Path
from typing import Any

import pytest

from emu.world.actors.sheet import NO_MARKS
from emu.world.spells.states import milliseconds
from tests.support.world.spell_scenes import BUFF, SpellScene

COURAGE = 110002
STUN = """
[[spell]]
id = 500
name = "Knock"
script = "Spells/Knock.lua"
target = 1
[[spell.tier]]
range = 25
duration1 = 30
"""


@pytest.fixture
def scene(tmp_path: Path) -> SpellScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return SpellScene(tmp_path, toml=BUFF + STUN)


def test_a_ghost_shows_icons_as_recorded(scene: SpellScene) -> None:
    # Courage in fight-546-priest-a: 4d52feff 6dff 3a81 00
    scene.know(COURAGE)
    friend = scene.friend()
    scene.cast(COURAGE, friend.spawn)
    scene.run(0.5)
    icon = scene.client.fields_of("Borvik")["spell_effects"][0]
    assert icon["spell_id"] == 0xFFFE524D
    assert icon["spell_icon"] == 0xFF6D
    assert icon["spell_icon_backdrop"] == 0x813A


def test_a_stunned_player_is_held_and_let_go(scene: SpellScene) -> None:
    scene.script("function cast(C, T) AddControlEffect(T, 4) end", "Spells/Knock.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(500), 1, scene.player.spawn)
    assert 4 in scene.player.spawn.sheet.spells.controls
    scene.run(4.0)
    assert scene.player.spawn.sheet.spells.controls == frozenset()


def test_who_has_nothing_of_spells_is_forgotten(scene: SpellScene) -> None:
    scene.know(COURAGE)
    scene.cast(COURAGE)
    assert scene.player.spawn.sheet.spells is not NO_MARKS
    scene.cast(COURAGE)
    scene.run(2.0)
    assert scene.spells.states.get(scene.player.spawn) is None


def test_who_listens_learns_when_a_creature_is_controlled(scene: SpellScene) -> None:
    scene.script("function cast(C, T) AddControlEffect(T, 4) end", "Spells/Knock.lua")
    crab, seen = scene.creature(), list[tuple[str, bool]]()
    scene.spells.states.controlled.append(
        lambda spawn, marks: seen.append((spawn.name, 4 in marks.controls))
    )
    scene.spells.cast_for_free(scene.player, scene.kind(500), 1, crab)
    scene.spells.states.recount(crab)
    assert seen == [("a crab", True)]
    scene.run(4.0)
    assert seen == [("a crab", True), ("a crab", False)]


def test_the_marks_of_who_has_a_pet_stay(scene: SpellScene) -> None:
    own, states = scene.player.spawn, scene.spells.states
    states.of(own)
    pet: Any = object()
    states.marks(own).pet = pet
    states.tidy(own)
    assert states.get(own) is None
    assert own.sheet.spells is not NO_MARKS
    states.of(own)
    states.marks(own).pet = None
    states.tidy(own)
    assert own.sheet.spells is NO_MARKS


def test_times_are_milliseconds_of_the_servers_clock() -> None:
    assert milliseconds(12.5) == 12_500
    assert milliseconds(2**32 / 1000 + 1) == 1000


ROOT = """
[[spell]]
id = 900
name = "Hold"
script = "Spells/Hold.lua"
target = 0
is_friendly = true
[[spell.tier]]
duration1 = 1000
"""


def rooted(folder: Path, toml: str = ROOT) -> SpellScene:
    scene = SpellScene(folder, toml=toml)
    scene.script("function cast(Caster) AddControlEffect(Caster, 5) end", "Spells/Hold.lua")
    scene.spells.cast_for_free(scene.player, scene.kind(900), 1, None)
    return scene


def flags(scene: SpellScene) -> dict[int, int]:
    """Return the control flags as the client has them by now: 8 for who cannot walk."""
    shown = scene.client.decoded("WS_ServerControlFlags")
    return {one["parameter"]: one["value"] for one in shown}


def test_the_end_of_a_root_does_not_let_the_dead_walk(tmp_path: Path) -> None:
    """Recorded (fight-546-death-a): 8 and 16 are on until the player lives again."""
    scene = rooted(tmp_path)
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    assert scene.effects() == []
    assert flags(scene) == {8: 1, 16: 1}
    scene.client.types("revive")
    assert flags(scene) == {8: 0, 16: 0}


def test_who_lives_again_is_held_by_what_lasts_through_death(tmp_path: Path) -> None:
    scene = rooted(tmp_path, ROOT.replace("target = 0", "target = 0\nlasts_through_death = true"))
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    scene.harness.parts.combat.resurrections.resurrect(scene.player, health=50.0, power=50.0)
    assert flags(scene) == {8: 1, 16: 0}


def test_a_client_that_comes_back_knows_that_its_player_is_held(tmp_path: Path) -> None:
    scene = rooted(tmp_path)
    scene.harness.departures.link_lost(scene.player, "gone", scene.harness.now)
    scene.client = scene.harness.stand(scene.player.id, 546)
    assert scene.client.player is scene.player
    assert flags(scene) == {8: 1}
