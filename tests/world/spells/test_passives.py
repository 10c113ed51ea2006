"""Passive spells: who has them, from when on, and that no list shows them.

Source: ../shared/data/recordings/real-spells-546-* (effects of a race from the entry on, nothing in
the list of maintained spells).
"""

from pathlib import Path

import pytest

from emu.world.events import Entered, LeftZone
from tests.support.world.spell_scenes import BUFF, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
COURAGE = 110002
PASSIVE = BUFF.replace("cast_kind = 1\n", "book = 4\n").replace("concentration = 1\n", "")


def test_a_passive_spell_lasts_from_the_moment_it_is_learned(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=PASSIVE)
    scene.know(COURAGE)
    assert [one.kind.id for one in scene.effects()] == [COURAGE]
    assert scene.state().maintained == []
    assert scene.player.spawn.sheet.attribute("sta") == 32
    # Recorded: nothing but the cast itself is shown.
    assert scene.payloads("OP_EqSpellCastEndCmd") == []


def test_it_lasts_through_death_and_in_the_next_zone(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=PASSIVE)
    scene.know(COURAGE)
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    assert len(scene.effects()) == 1
    events = scene.harness.world.events
    events.publish(LeftZone(scene.player))
    assert "effects" not in scene.player.past.lasting
    events.publish(Entered(scene.player, scene.harness.now))
    scene.run(0.1)
    # The dead cast nothing.
    assert scene.effects() == []
    scene.harness.parts.combat.falls.resurrect(scene.player, health=50.0, power=50.0)
    scene.run(0.1)
    assert len(scene.effects()) == 1


def test_those_of_a_player_who_enters_begin_in_turns_of_their_own(tmp_path: Path) -> None:
    """A crowd that enters would otherwise keep everybody waiting: each spell runs its script."""
    scene = SpellScene(tmp_path, toml=PASSIVE)
    scene.know(COURAGE)
    events = scene.harness.world.events
    events.publish(LeftZone(scene.player))
    events.publish(Entered(scene.player, scene.harness.now))
    assert scene.effects() == []
    before = scene.payloads("OP_EqDisplayTextCmd")
    scene.run(0.1)
    assert len(scene.effects()) == 1
    events.publish(LeftZone(scene.player))
    # Who enters or leaves reads nothing of them (recorded in real-entry-*).
    assert scene.payloads("OP_EqDisplayTextCmd") == before
    events.publish(Entered(scene.player, scene.harness.now))
    events.publish(LeftZone(scene.player))
    scene.run(0.1)
    assert scene.effects() == []


def test_what_the_script_of_a_passive_spell_says_at_the_entry_is_not_heard(tmp_path: Path) -> None:
    """The passive spells of real-entry-546-QueensColony-fighter-priest-mage say something in their
    scripts, 1002063 and 1002903; no player of that recording reads it."""
    scene = SpellScene(tmp_path, toml=PASSIVE)
    scene.script(
        "function cast(Caster, Target) Say(Target, 'Not yet!') Shout(Target, 'No!') end",
        "Spells/Buff.lua",
    )
    scene.player.past.learn(COURAGE, 1)
    events = scene.harness.world.events
    events.publish(LeftZone(scene.player))
    events.publish(Entered(scene.player, scene.harness.now))
    scene.run(0.1)
    assert len(scene.effects()) == 1
    assert scene.payloads("OP_EqHearChatCmd") == []


def test_a_hidden_spell_with_an_end_is_no_passive_one(tmp_path: Path) -> None:
    timed = PASSIVE.replace("lasts_until_cancelled = true\n", "")
    scene = SpellScene(tmp_path, toml=timed)
    scene.know(COURAGE)
    assert scene.effects() == []


# Scripts of traits say aloud that they are not made yet; nobody hears it in real-entry-*.
def test_what_a_script_says_at_an_entry_is_not_heard(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=PASSIVE)
    scene.script(
        """
        function cast(Caster, Target) Say(Target, "Not yet!") SendMessage(Target, "cast") end
        function remove(Caster, Target) Say(Target, "Gone!") SendMessage(Target, "gone") end
        """,
        "Spells/Buff.lua",
    )
    scene.player.past.learn(COURAGE, 1)
    events = scene.harness.world.events
    scene.heard()
    scene.shown()
    events.publish(Entered(scene.player, scene.harness.now))
    scene.run(0.1)
    assert len(scene.effects()) == 1
    events.publish(LeftZone(scene.player))
    assert scene.effects() == []
    assert (scene.heard(), scene.shown()) == ([], [])
    scene.know(COURAGE)
    assert scene.says("SendMessage(Spawn, 'after it')", "1") == ["1"]
    assert scene.shown() == ["after it"]
