"""The parts that behaviors and scripts share: each exists once for both."""

from pathlib import Path
from typing import Any

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


class Asks:
    """A behavior that asks whoever hails it."""

    def __init__(self, me: Any, _options: Any) -> None:
        self.me = me

    def on_hail(self, visitor: Any) -> None:
        self.me.ask(visitor, "Well?", "Yes", "No")

    def on_choice(self, visitor: Any, number: int) -> None:
        self.me.say(f"chose {number}")


def test_dialogs_of_a_behavior_and_a_script_are_answered_by_their_numbers(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    scene.harness.library._classes["asks"] = Asks
    clerk = Spawn(scene.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Clerk", PLACE)
    scene.zone.add_spawn(clerk, scene.harness.now)
    scene.harness.behaviors.start_behavior("asks", {}, scene.zone, clerk)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            local page = CreateConversation()
            AddConversationOption(page, "Who are you?", "who")
            StartConversation(page, NPC, Spawn, "Yes?")
        end
        function who(NPC, Spawn) Say(NPC, "A guard") end""")
    scene.hail(clerk)
    scene.hail(guard)
    assert [page["conversation_id"] for page in scene.dialogs()] == [1, 2]
    assert len(scene.harness.minds.conversations) == 2
    scene.answer(2, 0)
    assert scene.heard() == [("Guard", "A guard")]
    scene.answer(1, 1)
    assert scene.heard() == [("Clerk", "chose 2")]
