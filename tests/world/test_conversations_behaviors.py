"""Dialogs of behaviors: who has which open; a whole visit is in `tests/world/behaviors`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.conversations import DialogPage, Ends
from emu.world.events import DialogAnswered
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
        self.guard = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", place)
        self.zone = player.zone
        self.zone.add_spawn(self.guard, harness.now)
        harness.run(1.5)
        self.dialogs = harness.minds.conversations
        self.answers: list[DialogAnswered] = []
        harness.world.events.subscribe(DialogAnswered, self.answers.append)

    def open(self, text: str, choices: Sequence[str], spawn: Spawn | None = None) -> None:
        self.dialogs.open(
            self.player, spawn or self.guard,
            DialogPage(text=text, title="Guard", ends=Ends.BY_CLIENT),
            [(choice, number) for number, choice in enumerate(choices, 1)], owner="guard",
        )  # fmt: skip

    def opened(self) -> list[dict[str, Any]]:
        return self.client.decoded("WS_DialogOpen")

    def answer(self, number: int, answer: int) -> None:
        body = number.to_bytes(4, "little") + answer.to_bytes(4, "little")
        self.client.say("OP_DialogSelectMsg", body)

    def closes(self) -> list[int]:
        return [one["conversation_id"] for one in self.client.decoded("WS_ServerDialogClose")]


def test_a_dialog_is_answered_once_by_its_own_number() -> None:
    scene = DialogScene()
    scene.open("What do you want?", ["Nothing at all", "Go"])
    scene.open("Well?", ["Yes"])
    first, second = scene.opened()
    assert first["text"] == "What do you want?"
    assert [row["response"] for row in first["response_array"]] == ["Nothing at all", "Go"]
    assert second["conversation_id"] != first["conversation_id"]
    scene.answer(first["conversation_id"], 1)
    assert scene.answers == [DialogAnswered(scene.player, "guard", 2)]
    assert scene.closes() == []
    scene.answer(first["conversation_id"], 1)
    assert len(scene.answers) == 1
    assert scene.closes() == [first["conversation_id"]]
    scene.answer(second["conversation_id"], 0)
    assert scene.answers[1:] == [DialogAnswered(scene.player, "guard", 1)]


def test_an_answer_that_a_dialog_does_not_offer_closes_it() -> None:
    scene = DialogScene()
    scene.open("Well?", ["Yes"])
    number = scene.opened()[0]["conversation_id"]
    for answer in (1, 0xFFFFFFFF):
        scene.answer(number, answer)
    assert (scene.answers, scene.closes()) == ([], [number, number])


@pytest.mark.parametrize("end", ["close", "forget_player", "forget_behavior"])
def test_what_ends_a_dialog(end: str) -> None:
    scene = DialogScene()
    scene.open("Well?", ["Yes"])
    [dialog] = scene.opened()
    number = dialog["conversation_id"]
    if end == "close":
        scene.client.say("OP_DialogCloseMsg", number.to_bytes(4, "little"))
    elif end == "forget_player":
        scene.dialogs.forget(scene.player)
    else:
        scene.dialogs.forget_owner("guard")
    scene.answer(number, 0)
    assert (scene.answers, scene.closes()) == ([], [number])


def test_no_dialog_opens_for_an_unseen_spawn() -> None:
    scene = DialogScene()
    unseen = Spawn(99, SpawnKind.NPC, "Ghost", Position(9000.0, 0.0, 9000.0, 0.0))
    scene.open("Boo", [], unseen)
    assert scene.opened() == []
