"""Messages and commands of houses that no window sends: they change nothing and raise nothing."""

from __future__ import annotations

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
