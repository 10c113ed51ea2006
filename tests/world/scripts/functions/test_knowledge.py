"""What scripts ask and change of a character: factions, events, skills, languages."""

from pathlib import Path
from typing import Any

import pytest

from emu.model import SavedKind
from emu.world.actors.past import Past
from emu.world.scripts.bodies import MOST_REQUIREMENTS
from emu.world.scripts.functions.knowledge import KNOWLEDGE
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


class Factions:
    def __init__(self) -> None:
        self.factions = {20: {"name": "The Watch", "default": -200}}

    def population(self, _zone: Any) -> Any:
        return self


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    scene = ScriptScene(tmp_path)
    zones: Any = Factions()
    scene.scripts.maker.zones = zones
    return scene


def says(scene: ScriptScene, *values: str, first: str = "") -> list[str]:
    return scene.says(first, *values)


def test_a_standing_is_changed_said_and_stored(scene: ScriptScene) -> None:
    assert says(
        scene, "GetFactionAmount(Spawn, 20)", "ChangeFaction(Spawn, 20, 150)",
        "GetFactionAmount(Spawn, 20)", "ChangeFaction(Spawn, 5, 150)", "GetFactionAmount(NPC, 20)",
        "ChangeFaction(Spawn, 20, -12000)", "ChangeFaction(nil, 20, 1)",
    ) == ["-200", "true", "-50", "false", "nil", "true", "nil"]  # fmt: skip
    lines = [one["text"] for one in scene.client.decoded("WS_DisplayText")]
    assert lines[-2:] == [
        "Your faction standing with The Watch got better.",
        "Your faction standing with The Watch got worse.",
    ]
    (row,) = scene.client.decoded("WS_FactionUpdate")[-1]["response_array"]
    assert (row["name"], row["con"], row["value"]) == ("The Watch", -1, -12050)
    assert scene.player.past.standing(20) == -12050
    assert SavedKind.PAST in scene.player.unsaved.kinds
    scene.harness.run(3.0)
    assert scene.player.unsaved.kinds == set()


def test_the_faction_of_a_spawn(scene: ScriptScene) -> None:
    assert says(
        scene, "GetFactionID(NPC)", "GetFactionID(Spawn)",
        first="SetFactionID(NPC, 20) SetFactionID(Spawn, 20)",
    ) == ["20", "0"]  # fmt: skip


def test_events_are_noted(scene: ScriptScene) -> None:
    assert says(
        scene, "GetPlayerHistory(Spawn, 3)", "select(2, GetPlayerHistory(Spawn, 4))",
        first="SetPlayerHistory(Spawn, 4, 7, 8) SetPlayerHistory(NPC, 4, 1, 1)",
    ) == ["nil", "8"]  # fmt: skip
    assert scene.player.past.event(4) == (7, 8)
    scene.harness.run(3.0)
    assert '"4":[7,8]' in scene.harness.store.rows[scene.player.id].past


def test_spells_of_the_book_are_stored(scene: ScriptScene) -> None:
    assert says(
        scene, "HasSpell(Spawn, 70, 1)", "HasSpell(Spawn, 70, 3)", "HasSpell(Spawn, 71, 5)",
        "HasSpell(Spawn, 71)", "HasSpell(Spawn, 72)", "HasSpell(NPC, 70)",
        first="""
            AddSpellBookEntry(Spawn, 70, 3) AddSpellBookEntry(Spawn, 71, 1)
            AddSpellBookEntry(Spawn, 71, 5, true, false) AddSpellBookEntry(Spawn, 71, 2)
            AddSpellBookEntry(Spawn, 72, 1) RemoveSpellBookEntry(Spawn, 72)
            AddSpellBookEntry(NPC, 70, 1) AddSpellBookEntry(Spawn, 0, 1)""",
    ) == ["true", "false", "true", "true", "false", "false"]  # fmt: skip
    assert SavedKind.PAST in scene.player.unsaved.kinds
    again = Past(scene.player.past.text)
    assert [again.spell_tier(spell) for spell in (0, 70, 71, 72)] == [0, 1, 5, 0]


def test_languages(scene: ScriptScene) -> None:
    assert says(
        scene, "HasLanguage(Spawn, 0)", "HasLanguage(Spawn, 200)", "HasLanguage(NPC, 1)",
        first="AddLanguage(Spawn, 7) AddLanguage(Spawn, 7) AddLanguage(Spawn, 999)",
    ) == ["true", "false", "nil"]  # fmt: skip
    assert 7 in scene.player.character.languages
    sent = scene.client.decoded("WS_Languages")[-1]["language_array"]
    assert 7 in [one["language_id"] for one in sent]


def test_skills(scene: ScriptScene) -> None:
    knowledge = scene.harness.world.knowledge
    own = {one.id for one in knowledge.beginners.skills(scene.player.character)}
    new = next(one for one in knowledge.skills.values() if one.id not in own)
    assert says(
        scene, f"GetSkillIDByName('{new.name.upper()}') == {new.id}", "GetSkillIDByName('none')",
        f"HasSkill(Spawn, {new.id})", f"AddSkill(Spawn, {new.id}, 90, 50)",
        f"AddSkill(Spawn, {new.id}, 1, 1)", "AddSkill(Spawn, 4, 1, 1)",
        f"GetSkillValue(GetSkill(Spawn, '{new.name}'))", "GetSkill(Spawn, 'none')",
        "HasSkill(NPC, 1)",
    ) == ["true", "nil", "false", "true", "nil", "nil", "50", "nil", "nil"]  # fmt: skip
    change = scene.spawn(
        f"""
        function hailed(NPC, Spawn)
            local skill = GetSkill(Spawn, "{new.name}")
            SetSkillMaxValue(skill, 80) SetSkillValue(skill, 75)
            Say(NPC, GetSkillName(skill) .. GetSkillValue(skill) .. "/" .. GetSkillMaxValue(skill))
            SetSkillMaxValue(skill, 60)
            Say(NPC, GetSkillValue(skill))
            RemoveSkill(Spawn, {new.id}) RemoveSkill(Spawn, {new.id})
            Say(NPC, tostring(HasSkill(Spawn, {new.id})) .. tostring(GetSkillValue(skill)))
        end""",
        "Other",
    )
    assert [text for _, text in scene.hail(change)] == [f"{new.name}75/80", "60", "falsenil"]
    assert {one.id for one in scene.player.character.skills} == own


def test_a_client_is_sent_what_a_script_has_changed_of_its_skills(scene: ScriptScene) -> None:
    """Recorded (real-entry-1208-start-fighter-priest): the book follows when skills are removed."""
    own = scene.harness.world.knowledge.beginners.skills(scene.player.character)
    first, second = (one.id for one in own[:2])
    says(scene, "1", first=f"RemoveSkill(Spawn, {first}) RemoveSkill(Spawn, {second})")
    scene.harness.run(0.1)
    books = [body for name, body in scene.client.log if name == "OP_UpdateSkillBookMsg"]
    _, book = books
    assert int.from_bytes(book[:2], "little") == len(own) - 2


def test_a_class_that_a_script_gives_leaves_the_skills(scene: ScriptScene) -> None:
    """As `real-entry-1208-start-fighter-priest`: a script takes and gives them by their numbers."""
    before = scene.player.character.skills
    assert before
    says(scene, "1", first="SetAdventureClass(Spawn, 21)")
    assert scene.player.character.class_ == 21
    assert scene.player.character.skills == before


def test_the_step_of_the_tutorial_is_stored(scene: ScriptScene) -> None:
    steps = ("GetTutorialStep(Spawn)", "GetTutorialStep(NPC)")
    assert scene.says("SetTutorialStep(Spawn, 4)", *steps) == ["4", "0"]
    assert Past(scene.player.past.text).tutorial_step == 4
    assert Past('{"tutorial":-3}').tutorial_step == 0


def test_a_spawn_is_seen_and_used_by_those_with_a_past(scene: ScriptScene) -> None:
    secret = scene.spawn(
        "function spawn(NPC) SetRequiredHistory(NPC, 12, 1, 2, 1) end", "Secret", 71
    )
    public = scene.spawn(
        "function spawn(NPC) SetRequiredHistory(NPC, 12, 1, 2, 0) end", "Public", 72
    )
    scene.harness.run(1.0)
    assert not secret.may_be_seen_by(scene.player.spawn)
    assert public.may_be_seen_by(scene.player.spawn)
    events = scene.scripts.events
    assert not events.may_use(scene.player, public, "push")
    scene.says("SetPlayerHistory(Spawn, 12, 1, 2)")
    assert secret.may_be_seen_by(scene.player.spawn)
    assert events.may_use(scene.player, public, "push")
    assert events.may_use(scene.player, secret, "push")
    scene.scripts.left(scene.player)
    assert not secret.may_be_seen_by(scene.player.spawn)
    scene.scripts.entered(scene.player)
    assert secret.may_be_seen_by(scene.player.spawn)
    scene.hail(
        scene.spawn("function hailed(NPC, Spawn) SetPlayerHistory(Spawn, 12, 3, 2) end", "Sage")
    )
    assert not secret.may_be_seen_by(scene.player.spawn)


def test_the_requirements_of_a_spawn_are_limited(scene: ScriptScene) -> None:
    """Each is looked at for each player who comes, and stays while the spawn stands."""
    guard = scene.spawn(
        "function ask(NPC) for i = 1, 3000 do SetRequiredHistory(NPC, i, 7, 7) end end", location=75
    )
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None
    scene.scripts.call(body, "ask")
    assert len(body.home.requirements._of_spawns[body]) == MOST_REQUIREMENTS


def test_the_caps_of_a_type_of_skills_are_raised(scene: ScriptScene) -> None:
    """Source: eq2-lua.md 3 (IncreaseSkillCapsByType: type n, amount n)."""
    skills = scene.harness.world.knowledge.skills
    first = next(one for one in skills.values() if one.name == "Slashing")
    other = next(one for one in skills.values() if one.type != first.type)
    scene.says(f"""AddSkill(Spawn, {first.id}, 5, 10) AddSkill(Spawn, {other.id}, 5, 10)
        IncreaseSkillCapsByType(Spawn, {first.type}, 15)""")
    after = {one.id: one.most for one in scene.player.character.skills}
    assert after[first.id] - after[other.id] == 15


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), KNOWLEDGE) == []
