"""What scripts change of a character: levels, classes, titles, flags."""

from pathlib import Path

import pytest

from emu.content.figures import Figures
from emu.model import SavedKind, Title
from emu.world.scripts.functions.progress import PROGRESS
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

FIGURES = Figures(experience={7: 2800, 8: 3200}, titles={"the Brave": False, "Sir": True})


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path, figures=FIGURES)


def says(scene: ScriptScene, *values: str, first: str = "") -> list[str]:
    said = "\n".join(f"Say(NPC, tostring({value}))" for value in values)
    # A file is read once, so each call has a spawn and a file of its own.
    name = f"Guard {len(scene.scripts.homes.of(scene.zone).bodies)}"
    guard = scene.spawn(f"function hailed(NPC, Spawn)\n{first}\n{said}\nend", name)
    return [text for _, text in scene.hail(guard)]


def test_a_level_is_said_shown_and_stored(scene: ScriptScene) -> None:
    sheets = scene.client.names.count("OP_UpdateCharacterSheetMsg")
    scene.shown()
    first = "SetPlayerLevel(Spawn, 7) SetPlayerLevel(NPC, 7)"
    assert says(scene, "GetLevel(Spawn)", "GetMaxHP(Spawn)", first=first) == ["7", "198"]
    character = scene.player.character
    assert (character.level, character.experience, character.experience_needed) == (7, 0, 3200)
    # Recorded: skills of magic rise with each level, behind the line.
    assert scene.shown()[0] == "You are now level 7!"
    assert SavedKind.PROGRESS in scene.player.unsaved.kinds
    scene.harness.run(1.0)
    assert scene.client.names.count("OP_UpdateCharacterSheetMsg") == sheets + 1
    assert scene.client.fields_of("Aldana")["level"] == 7
    assert [one["visual"] for one in scene.client.decoded("WS_HearSpellCast")] == [322]


def test_the_same_level_changes_nothing_and_a_high_one_is_cut(scene: ScriptScene) -> None:
    level = scene.player.character.level
    assert says(scene, "GetLevel(Spawn)", first=f"SetPlayerLevel(Spawn, {level})") == [str(level)]
    assert SavedKind.PROGRESS not in scene.player.unsaved.kinds
    most = scene.harness.world.rules.max_level
    assert says(scene, "GetLevel(Spawn)", first="SetPlayerLevel(Spawn, 900)") == [str(most)]
    effects = len(scene.client.decoded("WS_HearSpellCast"))
    assert effects == 1
    assert says(scene, "GetLevel(Spawn)", first="SetPlayerLevel(Spawn, -3)") == ["1"]
    assert len(scene.client.decoded("WS_HearSpellCast")) == effects, "no effect of a lost level"


def test_classes_are_shown_and_stored(scene: ScriptScene) -> None:
    assert says(
        scene, "GetClass(Spawn)", "GetClass(NPC)", "GetTradeskillClass(Spawn)",
        "GetTradeskillLevel(Spawn)",
        first="SetAdventureClass(Spawn, 4) SetAdventureClass(NPC, 5) SetTradeskillClass(Spawn, 3)"
        " SetTradeskillLevel(Spawn, 9) SetTradeskillClass(NPC, 3) SetTradeskillLevel(nil, 3)"
        " SetAdventureClass(Spawn, 4000) SetTradeskillClass(Spawn, -1)",
    ) == ["4", "5", "3", "9"]  # fmt: skip
    character = scene.player.character
    assert (character.class_, character.tradeskill_class, character.tradeskill_level) == (4, 3, 9)
    assert SavedKind.PROGRESS in scene.player.unsaved.kinds
    scene.harness.run(1.0)
    assert scene.client.fields_of("Aldana")["class"] == 4


def test_points_to_a_level(scene: ScriptScene) -> None:
    assert says(scene, "GetExpRequiredByLevel(8)", "GetExpRequiredByLevel(99)") == ["3200", "0"]


def test_titles_of_the_world_are_given_and_shown(scene: ScriptScene) -> None:
    assert says(
        scene, 'AddCharacterTitle(Spawn, "the Brave")', 'AddCharacterTitle(Spawn, "Sir")',
        'AddCharacterTitle(Spawn, "unknown")', 'AddMasterTitle("the Tired", 0)',
        'AddCharacterTitle(Spawn, "the Tired")', 'AddCharacterTitle(NPC, "Sir")',
        'AddMasterTitle("")',
    ) == ["1", "2", "-1", "0", "3", "-1", "-1"]  # fmt: skip
    assert Title("Sir", is_prefix=True) in scene.player.titles.given
    says(
        scene,
        first='SetCharacterTitlePrefix(Spawn, "Sir") SetCharacterTitleSuffix(Spawn, "the Tired")'
        ' SetCharacterTitleSuffix(Spawn, "Sir")',
    )
    sent = scene.client.decoded("WS_TitleUpdate")[-1]
    assert (sent["current_prefix"], sent["current_suffix"]) == (2, 3)
    scene.harness.run(1.0)
    shown = scene.client.fields_of("Aldana")
    assert (shown["prefix"], shown["suffix"]) == ("Sir", "the Tired")
    says(scene, first="ResetCharacterTitlePrefix(Spawn) ResetCharacterTitleSuffix(Spawn)")
    assert (scene.player.titles.prefix, scene.player.titles.suffix) == ("", "")
    assert SavedKind.TITLES in scene.player.unsaved.kinds


def test_scripts_add_a_limited_number_of_titles(scene: ScriptScene) -> None:
    says(scene, first='for i = 1, 1100 do AddMasterTitle("title " .. i) end')
    assert len(scene.scripts.titles) == 1000


def test_flags_are_switched_and_stored(scene: ScriptScene) -> None:
    flags = "GetCharacterFlag(Spawn, 12)", "GetCharacterFlag(Spawn, 36)"
    assert says(
        scene, *flags, "GetCharacterFlag(Spawn, 64)", "GetCharacterFlag(NPC, 12)",
    ) == ["false", "false", "false", "nil"]  # fmt: skip
    first = "for _, n in ipairs({12, 36, 2}) do ToggleCharacterFlag(Spawn, n) end"
    assert says(scene, *flags, first=first) == ["true", "true"]
    assert "anonymous" in scene.player.spawn.words
    assert SavedKind.OPTIONS in scene.player.unsaved.kinds


def test_a_title_of_a_creature_is_not_laid_down(scene: ScriptScene) -> None:
    said = says(
        scene, "1", first="ResetCharacterTitlePrefix(NPC) ResetCharacterTitleSuffix(NPC)"
        ' SetCharacterTitlePrefix(NPC, "Sir")',
    )  # fmt: skip
    assert said == ["1"]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), PROGRESS) == []
