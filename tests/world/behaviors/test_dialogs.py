"""Dialogs: who has which open; what a whole visit looks like is in `test_host`."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import CommandError
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors.dialogs import Dialogs
from emu.world.behaviors.running import RunningBehavior
from emu.world.conversations import Conversations
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness


class DialogScene:
    """A player, a spawn that it sees, and the dialogs of both."""

    def __init__(self) -> None:
        harness = WorldHarness()
        self.client: Client = harness.stand(5, name="Aldana")
        player = self.client.player
        assert player is not None
        self.player: Player = player
        place = Position(3.0, -7.97, 243.45, 0.0)
        self.guard = Spawn(harness.world.next_spawn_id(), SpawnKind.NPC, "Guard", place)
        self.zone = player.zone
        self.behavior = RunningBehavior("guard", {}, self.zone, self.guard)
        self.zone.add(self.guard, harness.now)
        harness.run(1.5)
        self.dialogs = Dialogs(Conversations(), 8)

    def opened(self) -> list[dict[str, Any]]:
        return self.client.decoded("WS_DialogOpen")


def test_a_dialog_is_answered_once_by_its_own_number() -> None:
    scene = DialogScene()
    scene.dialogs.open(scene.behavior, scene.player, "What do you want?", ["Nothing at all", "Go"])
    scene.dialogs.open(scene.behavior, scene.player, "Well?", [])
    first, second = scene.opened()
    assert first["text"] == "What do "
    assert [row["response"] for row in first["response_array"]] == ["Nothing ", "Go"]
    assert second["conversation_id"] != first["conversation_id"]
    assert scene.dialogs.answered(scene.player, first["conversation_id"]) is scene.behavior
    with pytest.raises(CommandError, match="over"):
        scene.dialogs.answered(scene.player, first["conversation_id"])
    assert scene.dialogs.answered(scene.player, second["conversation_id"]) is scene.behavior


@pytest.mark.parametrize("end", ["close", "forget_player", "forget_behavior"])
def test_what_ends_a_dialog(end: str) -> None:
    scene = DialogScene()
    scene.dialogs.open(scene.behavior, scene.player, "Well?", [])
    [dialog] = scene.opened()
    number = dialog["conversation_id"]
    if end == "close":
        scene.dialogs.close(scene.player, number)
    elif end == "forget_player":
        scene.dialogs.forget_player(scene.player)
    else:
        scene.dialogs.forget_behavior(scene.behavior)
    with pytest.raises(CommandError):
        scene.dialogs.answered(scene.player, number)


def test_no_dialog_opens_for_an_unseen_spawn_or_a_zone() -> None:
    scene = DialogScene()
    unseen = Spawn(99, SpawnKind.NPC, "Ghost", Position(9000.0, 0.0, 9000.0, 0.0))
    for behavior in (
        RunningBehavior("ghost", {}, scene.zone, unseen),
        RunningBehavior("zone", {}, scene.zone, None),
    ):
        scene.dialogs.open(behavior, scene.player, "Boo", [])
    assert scene.opened() == []
