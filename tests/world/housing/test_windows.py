"""What the windows of houses hold: texts as EQ2Emulator writes them, forms by version."""

from __future__ import annotations

from typing import Any

import pytest

from emu.content.homes import EVIL, GOOD, HouseKind
from emu.houses import MOST_LISTED, AccessLevel, Deposit, Guest, House, HouseBooks, Paid, Price
from emu.times import Moment
from emu.world.housing import windows
from tests.support.world.house_scenes import HALL, INN, MANOR, HouseScene

NOW = Moment(1_800_000_000.0)
HOUSE = House(
    id=31, home=3, owner_id=5, owner="Aldana", bought=NOW, upkeep_due=Moment(NOW + 90.5),
    coins=77, status=0x1_0000_0000, public_level=AccessLevel.FRIEND,
)  # fmt: skip
BOOKS = HouseBooks(
    tuple(Guest(number, f"Guest{number}", AccessLevel.TRUSTEE) for number in range(300)),
    (Deposit("Aldana", 70, 7, 7, 1, NOW),),
    (Paid("Borvik", 50, 5, "Paid Upkeep", NOW),),
)
TO_BUY = " in order to purchase a home within the "
VERSIONS = [546, 561, 1096, 1208, 60114]


@pytest.mark.parametrize(
    ("home", "text"),
    [
        (INN, ""),
        (
            HALL._replace(guild_level=30),
            f"Requires a guild of level 30 or above{TO_BUY}{HALL.name}.",
        ),
        (MANOR._replace(alignment=GOOD), f"You must be of Good alignment{TO_BUY}{MANOR.name}."),
        (
            MANOR._replace(alignment=EVIL, guild_level=9),
            f"You must be of Evil alignment, and a guild level of 9{TO_BUY}{MANOR.name}.",
        ),
    ],
)
def test_the_line_about_the_buyer(home: HouseKind, text: str) -> None:
    assert windows.requirement(home, asks_alignment=True) == text


def test_without_the_rule_no_alignment_is_asked() -> None:
    assert windows.requirement(MANOR, asks_alignment=False) == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_window_of_a_house(version: int) -> None:
    scene = HouseScene(version)
    shown: dict[str, Any] = {"number": 9, "moment": NOW, "is_inside": True}
    windows.send_house(scene.player, HOUSE, MANOR, BOOKS, level=AccessLevel.OWNER, **shown)
    (found,) = scene.client.decoded("WS_PlayerHouseBaseScreen")
    assert found["house_name"] == "Aldana's Manors of Erollisi"
    assert (found["spawn_id"], found["upkeep_due"], found["inside_house"]) == (9, 90, 1)
    assert (found["escrow_balance_coins"], found["escrow_balance_status"]) == (77, 0xFFFFFFFF)
    assert (found["unknown3"], found["public_access_level"]) == (1, 2)
    assert len(found["access_array"]) == MOST_LISTED
    assert found["access_array"][1]["access_name"] == "Guest1"
    assert found["deposit_array"][0]["deposit_last_coin"] == 7
    assert found["history_array"][0]["history_name"] == "Borvik"
    assert scene.client.decoded("WS_UpdateHouseAccessDataMsg") == [] if version > 561 else True


@pytest.mark.parametrize("version", VERSIONS)
def test_a_visitor_does_not_see_the_books(version: int) -> None:
    scene = HouseScene(version)
    shown: dict[str, Any] = {"number": 9, "moment": NOW, "is_inside": True}
    windows.send_house(scene.player, HOUSE, MANOR, BOOKS, level=AccessLevel.VISITOR, **shown)
    (found,) = scene.client.decoded("WS_PlayerHouseBaseScreen")
    assert found["unknown3"] == 0
    assert found["deposit_array"] == found["history_array"] == found.get("access_array", []) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_visits(version: int) -> None:
    scene = HouseScene(version)
    late = Moment(NOW + 100)
    windows.send_visits(scene.player, MANOR, [(HOUSE, AccessLevel.VISITOR)], late)
    (row,) = scene.client.decoded("WS_DisplayVisitScreen")[-1]["visithouse_array"]
    assert (row["house_id"], row["house_owner"], row["access_level"]) == (31, "Aldana", 1)
    # EQ2Emulator: 1 means that the owner has not paid the upkeep.
    assert row.get("visit_flag", 1) == 1
    assert row.get("house_location", MANOR.name) == MANOR.name


@pytest.mark.parametrize("version", VERSIONS)
def test_a_guest_that_changes(version: int) -> None:
    scene = HouseScene(version)
    windows.send_guest(scene.player, 6, "Borvik", AccessLevel.FRIEND)
    windows.send_guest(scene.player, 6, "", None)
    changed, gone = scene.client.decoded("WS_PlayerHouseAccessUpdateMsg")
    assert (changed["access_name"], changed["access_level"]) == ("Borvik", 2)
    assert (changed["access_delete"], gone["access_delete"]) == (0, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_own_houses(version: int) -> None:
    scene = HouseScene(version)
    windows.send_owned(scene.player, [(HOUSE, MANOR, "Antonica")])
    if version <= 561:
        assert "OP_CharacterHousingList" not in scene.client.names
        return
    (row,) = scene.client.decoded("WS_CharacterHousingList")[-1]["house_array"]
    assert (row["house_id"], row["zone"], row["house_city"]) == (31, "Antonica", MANOR.name)
    assert row["unknown2"] == [0xFFFFFFFF] * 3


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_house_costs(version: int) -> None:
    scene = HouseScene(version)
    home = MANOR._replace(cost=Price(2**40, 0xFFFFFFFF))
    windows.send_purchase(scene.player, home, "Ab", may_buy=False)
    (found,) = scene.client.decoded("WS_PlayerHousePurchase")
    assert (found["purchase_coins"], found["purchase_status"]) == (2**40, 0xFFFFFFFF)
    assert (found["additional_reqs"], found["enable_buy"]) == ("Ab", 0)
