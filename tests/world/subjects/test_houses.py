"""Messages and commands of houses that no window sends: they change nothing and raise nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.world.house_scenes import MANOR, HouseScene

MESSAGES = (
    "OP_BuyPlayerHouseMsg", "OP_EnterHouseMsg", "OP_PayHouseUpkeepMsg", "OP_ExitHouseMsg",
    "OP_HouseDefaultAccessSetMsg", "OP_HouseAccessSetMsg", "OP_HouseAccessRemoveMsg",
)  # fmt: skip


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_garbage_is_refused(version: int) -> None:
    scene = HouseScene(version)
    scene.buys(MANOR)
    before = scene.owned()
    for name in MESSAGES:
        for body in (b"", b"\x01", b"\xff" * 9, b"\xff" * 40):
            scene.client.say(name, body)
    scene.harness.run(0.5)
    assert scene.owned() == before
    assert scene.player.zone is scene.zone
    assert scene.is_right


@pytest.mark.parametrize("line", ["/house", "/house x", "/house 9", "/house_ui", "/house_ui 9"])
def test_what_was_not_shown_is_not_shown_again(line: str) -> None:
    scene = HouseScene()
    assert scene.client.types(line) == []
    assert scene.client.decoded("WS_PlayerHouseBaseScreen") == []


def test_outside_nobody_leaves_a_house() -> None:
    scene = HouseScene()
    assert scene.client.types("/leave_house") == []
    assert scene.goal is None


def test_messages_about_things_reach_the_furniture(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, asked = HouseScene(), list[tuple[Any, ...]]()
    furniture = scene.harness.parts.furniture
    for act in ("begin", "cancel"):
        monkeypatch.setattr(
            type(furniture), act, lambda _self, *values, act=act: asked.append((act, *values))
        )
    fields = {"spawn_id": 7, "x": 1.0, "y": 2.0, "z": 3.0, "heading": 10.0}
    layout = scene.client.dialect.layout("WS_PlaceMoveableObject")
    scene.client.say("OP_PositionMoveableObject", layout.encode(fields))
    scene.client.say("OP_CancelMoveObjectModeMsg", bytes(4))
    (begun, cancelled) = asked
    assert begun[:2] == ("begin", scene.player)
    assert fields.items() <= begun[2].items()
    assert cancelled == ("cancel", scene.player)


def test_without_the_store_a_command_says_so() -> None:
    scene = HouseScene()
    scene.buys(MANOR)
    number = scene.number()
    scene.harness.store.broken = True
    lines = scene.client.types(f"/house_deposit {number} 10")
    scene.harness.store.broken = False
    assert any("try again" in line for line in lines)
    assert (scene.coins, scene.player.character.status_points) == (9000, 60)


@pytest.mark.parametrize(
    "words", ["", "x", "1", "1 -5", "9 9 9", "{} 0 0", "{} 99999999999999999999"]
)
def test_an_odd_deposit_changes_nothing(words: str) -> None:
    scene = HouseScene()
    scene.buys()
    scene.client.types(f"/house_deposit {words.format(scene.number())}")
    (house,) = scene.owned()
    assert (house.coins, scene.coins) == (0, 10_000)


def test_an_access_level_above_the_highest_is_the_highest_of_guests() -> None:
    scene = HouseScene()
    scene.buys()
    scene.asks("OP_HouseDefaultAccessSetMsg", "WS_HouseDefaultAccessSetMsg",
               house_id=scene.number(), access_level=200)  # fmt: skip
    (house,) = scene.owned()
    assert house.public_level == 3
