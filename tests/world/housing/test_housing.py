"""Houses of players: the windows of a door, buying, entering, leaving, and visits of others.

What the windows hold is EQ2Emulator's: `ClientPacketFunctions` of its housing, and the fields of
its struct files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.content.homes import HomeTables
from emu.errors import StoreError
from emu.houses import FIRST_HOUSE, AccessLevel
from emu.times import Moment
from emu.world.actors.player import DEAD
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Destination
from emu.world.housing.housing import UNPAID, house_of
from emu.world.travel.records import read_record
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.house_scenes import HALL, HOMES, INN, MANOR, WEEK, HouseScene
from tests.support.world.travel_scenes import ANTONICA, ISLE

VERSIONS = [546, 561, 1096, 1208, 60114]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_door_of_a_house_that_one_does_not_own_shows_its_price(version: int) -> None:
    scene = HouseScene(version)
    scene.use(scene.door(MANOR), "Access")
    (window,) = scene.client.decoded("WS_PlayerHousePurchase")
    assert window["house_name"] == "Manors of Erollisi"
    assert (window["house_id"], window["purchase_coins"], window["purchase_status"]) == (
        3,
        1000,
        40,
    )
    assert (window["upkeep_coins"], window["upkeep_status"], window["enable_buy"]) == (70, 5, 1)
    assert window.get("vendor_vault_slots", 6) == 6
    assert window["additional_reqs"] == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_house_is_bought_entered_left_and_found_again(version: int) -> None:
    scene = HouseScene(version)
    scene.buys(MANOR)
    (house,) = scene.owned()
    assert (house.home, house.owner, house.upkeep_due) == (3, "Aldana", scene.harness.moment + WEEK)
    assert (scene.coins, scene.player.character.status_points) == (9000, 60)
    window = scene.client.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert window["house_name"] == "Aldana's Manors of Erollisi"
    assert (window["privlage_level"], window["inside_house"]) == (4, 0)
    assert (window["upkeep_due"], window["upkeep_cost_coins"]) == (int(WEEK), 70)
    assert scene.enters() == []
    assert (scene.player.zone.zone_id, scene.player.zone.instance) == (
        ANTONICA, FIRST_HOUSE + house.id,
    )  # fmt: skip
    scene.harness.run(0.5)
    # The player comes back to it after it has left the world.
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(2.0)
    scene.client = scene.harness.stand(5, version)
    assert scene.client.player is not None
    scene.player = scene.client.player
    assert house_of(scene.player.zone) == house.id
    assert scene.is_right


def test_the_way_out_of_a_house_is_the_place_of_its_row() -> None:
    scene = HouseScene()
    scene.buys(INN)
    scene.enters()
    scene.client.say("OP_ExitHouseMsg")
    scene.harness.run(0.2)
    assert scene.goal == Destination(ISLE, Position(648.5, -24.93, 349.37, 323.0))
    scene.arrives(scene.player)
    assert (scene.player.zone.zone_id, scene.player.zone.instance) == (ISLE, 0)
    scene.client.say("OP_ExitHouseMsg")
    scene.harness.run(0.2)
    assert scene.goal is None, "outside of a house it does nothing"


def test_a_house_whose_exit_is_no_zone_is_left_to_the_bind_place() -> None:
    scene = HouseScene()
    scene.buys(MANOR)
    scene.enters()
    assert scene.client.types("/leave_house") == []
    scene.harness.run(0.2)
    bound = scene.travel.returning.bound(scene.player)
    assert scene.goal is not None
    assert scene.goal.zone_id == bound.zone_id


def test_without_a_place_one_leaves_to_the_safe_place() -> None:
    scene = HouseScene()
    scene.harness.parts.memberships.of = lambda _char_id: object()  # type: ignore[assignment,method-assign,return-value]
    scene.buys(HALL)
    scene.enters()
    scene.client.types("/leave_house")
    scene.harness.run(0.2)
    assert scene.goal is not None
    assert scene.goal.position == scene.harness.zones.definition(ISLE).safe


def test_the_old_client_names_the_house_by_its_door() -> None:
    scene = HouseScene(546)
    door = scene.buys()
    assert scene.number() == scene.player.index_of(door)


@pytest.mark.parametrize("version", [1096, 1208, 60114])
def test_the_newer_client_is_sent_what_lets_it_enter(version: int) -> None:
    # EQ2Emulator: visits, own houses, access data, then the window.
    scene = HouseScene(version)
    door = scene.buys()
    scene.client.log.clear()
    scene.use(door, "Access")
    order = [
        "OP_DisplayInnVisitScreenMsg", "OP_CharacterHousingList", "OP_UpdateHouseAccessDataMsg",
        "OP_PlayerHouseBaseScreenMsg",
    ]  # fmt: skip
    assert [name for name in scene.client.names if name in order] == order
    assert scene.client.decoded("WS_UpdateHouseAccessDataMsg")[-1] == {
        "success": 0xFFFFFFFF, "house_id": 0xFFFFFFFFFFFFFFFF, "unknown2": 0xFFFFFFFF,
        "unknown3": 0xFFFFFFFF,
    }  # fmt: skip
    (row,) = scene.client.decoded("WS_DisplayVisitScreen")[-1]["visithouse_array"]
    (house,) = scene.owned()
    assert (row["house_id"], row["house_owner"], row["access_level"]) == (house.id, "Aldana", 4)


# --- refusals


def refused(scene: HouseScene, home: Any) -> list[str]:
    scene.use(scene.door(home), "Access")
    return scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=home.id)


@pytest.mark.parametrize("values", [{"coins": 999}, {"status_points": 39}])
def test_who_has_too_little_buys_nothing(values: dict[str, int]) -> None:
    scene = HouseScene(**values)
    assert refused(scene, MANOR) == ["You do not have enough money to purchase the house."]
    assert scene.owned() == []
    assert scene.player.character.status_points == values.get("status_points", 100)
    assert scene.coins == values.get("coins", 10_000)


def test_a_house_asks_for_a_guild() -> None:
    scene = HouseScene()
    text = (
        "Requires a guild of level 1 or above in order to purchase a home within the Halas Guild"
        " Hall."
    )
    assert refused(scene, HALL) == [text]
    (window,) = scene.client.decoded("WS_PlayerHousePurchase")
    assert (window["additional_reqs"], window["enable_buy"]) == (text, 0)
    assert scene.owned() == []


@pytest.mark.parametrize(("alignment", "may_buy"), [(0, False), (1, True)])
def test_a_house_asks_for_an_alignment_by_the_rule(alignment: int, *, may_buy: bool) -> None:
    scene = HouseScene(tables=HomeTables(HOMES.homes, asks_alignment=True))
    scene.player.spawn.sheet.set("alignment", FieldKind.SIGNED, alignment)
    lines = refused(scene, MANOR)
    text = (
        "You must be of Good alignment in order to purchase a home within the Manors of Erollisi."
    )
    assert lines == ([] if may_buy else [text])
    assert len(scene.owned()) == int(may_buy)


def test_nothing_is_bought_that_no_window_has_shown() -> None:
    scene = HouseScene()
    door = scene.door()
    for house_id in (12, 3, 0, 0xFFFFFFFF):
        scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=house_id)
    scene.use(door, "Access")
    scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=3)
    scene.go(30.0)
    scene.harness.run(0.5)
    assert scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=12) == [
        "You are too far away!"
    ]
    assert scene.owned() == []


def test_a_second_purchase_of_the_same_window_does_nothing() -> None:
    scene = HouseScene()
    scene.buys(MANOR)
    scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=3)
    assert len(scene.owned()) == 1
    assert scene.coins == 9000


def test_no_house_is_entered_that_no_window_has_shown() -> None:
    scene = HouseScene()
    scene.buys()
    (house,) = scene.owned()
    for number in (house.id, 0, 0xFFFFFFFF):
        if number != scene.number():
            scene.enters(number=number)
    assert scene.player.zone is scene.zone


def test_the_dead_enter_no_house() -> None:
    scene = HouseScene()
    scene.buys()
    scene.dies()
    assert DEAD in scene.enters()
    assert scene.player.zone is scene.zone


def test_without_the_store_nothing_happens() -> None:
    scene = HouseScene()
    scene.use(scene.door(MANOR), "Access")
    scene.harness.store.broken = True
    lines = scene.asks("OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=3)
    scene.harness.store.broken = False
    assert lines == ["This cannot be done now; try again."]
    assert scene.owned() == []
    assert (scene.coins, scene.player.character.status_points) == (10_000, 100)


# --- upkeep


def later(scene: HouseScene, seconds: float) -> None:
    scene.harness.moment = Moment(scene.harness.moment + seconds)


def test_an_unpaid_house_cannot_be_entered_until_its_upkeep_is_paid() -> None:
    scene = HouseScene()
    door = scene.buys()
    later(scene, WEEK + 1)
    scene.use(door, "Access")
    assert scene.client.decoded("WS_PlayerHouseBaseScreen")[-1]["upkeep_due"] == 0
    assert scene.enters() == [UNPAID]
    assert scene.player.zone is scene.zone
    assert scene.asks("OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=scene.number()) == []
    assert scene.coins == 9500
    assert scene.client.decoded("WS_PlayerHouseBaseScreen")[-1]["upkeep_due"] == int(WEEK)
    assert scene.enters() == []
    assert house_of(scene.player.zone)
    assert scene.is_right


def test_the_deposit_pays_by_itself() -> None:
    scene = HouseScene()
    door = scene.buys(MANOR)
    scene.client.types(f"/house_deposit {scene.number()} 200 11")
    assert (scene.coins, scene.player.character.status_points) == (8800, 49)
    later(scene, 2 * WEEK + 1)
    scene.use(door, "Access")
    window = scene.client.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert (window["escrow_balance_coins"], window["escrow_balance_status"]) == (60, 1)
    assert window["upkeep_due"] == int(WEEK) - 1
    (deposit,) = window["deposit_array"]
    assert (deposit["deposit_name"], deposit["deposit_total_coin"]) == ("Aldana", 200)
    (paid,) = window["history_array"]
    assert (paid["history_name"], paid["history_coins"], paid["history_status"]) == ("", 140, 10)
    assert scene.is_right


def test_upkeep_takes_what_the_deposit_lacks() -> None:
    scene = HouseScene()
    scene.buys(MANOR)
    scene.client.types(f"/house_deposit {scene.number()} 50 3")
    scene.asks("OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=scene.number())
    (house,) = scene.owned()
    assert (house.coins, house.status) == (0, 0)
    assert (scene.coins, scene.player.character.status_points) == (9000 - 70, 60 - 5)


def test_who_cannot_pay_keeps_everything() -> None:
    scene = HouseScene(coins=1020)
    scene.buys(MANOR)
    lines = scene.asks("OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=scene.number())
    assert lines == ["You do not have enough money  or status to pay for upkeep."]
    assert (scene.coins, scene.player.character.status_points) == (20, 60)


def test_upkeep_has_a_longest_time() -> None:
    scene = HouseScene()
    scene.buys()
    for _ in range(11):
        assert scene.asks("OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=scene.number()) == []
    assert scene.asks("OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=scene.number()) == [
        "You cannot pay more than 3 months of upkeep."
    ]


# --- visits


class Neighbors(HouseScene):
    """Aldana owns a house, Borvik stands at its door."""

    def __init__(self, version: int = 546) -> None:
        super().__init__(version)
        self.at = self.buys()
        (self.house,) = self.owned()
        self.other = self.harness.stand(6, version, name="Borvik")
        assert self.other.player is not None
        self.guest = self.other.player
        self.guest.teleport(self.player.position, self.harness.now)
        self.harness.run(1.0)

    def visits(self) -> list[dict[str, Any]]:
        self.choose("Visit")
        return list(self.other.decoded("WS_DisplayVisitScreen")[-1]["visithouse_array"])

    def choose(self, verb: str) -> None:
        index = self.guest.index_of(self.at)
        assert index is not None
        text = verb.encode()
        body = index.to_bytes(4, "little") + len(text).to_bytes(2, "little") + text
        self.other.say("OP_EntityVerbsVerbMsg", body)
        self.harness.run(0.2)


@pytest.mark.parametrize("version", VERSIONS)
def test_everybody_may_visit_a_house_at_first(version: int) -> None:
    scene = Neighbors(version)
    (row,) = scene.visits()
    assert (row["house_id"], row["house_owner"], row["access_level"]) == (
        scene.house.id,
        "Aldana",
        1,
    )
    assert row.get("visit_flag", 0) == 0
    assert scene.enters(scene.other, scene.house.id) == []
    assert house_of(scene.guest.zone) == scene.house.id


def test_the_owner_chooses_who_may_come() -> None:
    scene = Neighbors()
    number = scene.number()
    assert scene.asks("OP_HouseDefaultAccessSetMsg", "WS_HouseDefaultAccessSetMsg",
                      house_id=number, access_level=0) == []  # fmt: skip
    assert scene.visits() == []
    assert scene.asks("OP_HouseAccessSetMsg", "WS_HouseAccessSetMsg", house_id=number,
                      player_name="Borvik", access_level=2) == []  # fmt: skip
    assert scene.client.decoded("WS_PlayerHouseAccessUpdateMsg")[-1] == {
        "unique_id": 6, "access_delete": 0, "access_name": "Borvik", "access_level": 2,
    }  # fmt: skip
    assert [row["access_level"] for row in scene.visits()] == [2]
    assert scene.enters(scene.other, scene.house.id) == []
    inside = scene.guest.zone
    assert house_of(inside) == scene.house.id
    assert scene.asks("OP_HouseAccessRemoveMsg", "WS_HouseAccessRemoveMsg", house_id=number,
                      unique_id=6) == []  # fmt: skip
    gone = scene.client.decoded("WS_PlayerHouseAccessUpdateMsg")[-1]
    assert (gone["unique_id"], gone["access_delete"]) == (6, 1)
    assert finish(scene.housing.store.find(scene.house.id, 6))[1] is AccessLevel.NONE  # type: ignore[index]


def test_only_the_owner_chooses() -> None:
    scene = Neighbors()
    scene.visits()
    assert scene.asks_of(
        scene.other, "OP_HouseDefaultAccessSetMsg", "WS_HouseDefaultAccessSetMsg",
        house_id=scene.house.id, access_level=0,
    ) == ["This is not your home!"]  # fmt: skip
    assert scene.asks("OP_HouseAccessSetMsg", "WS_HouseAccessSetMsg", house_id=scene.number(),
                      player_name="Nobody", access_level=3) == [
        "There is no other character Nobody."
    ]  # fmt: skip
    assert finish(scene.housing.store.find(scene.house.id, 6))[1] is AccessLevel.VISITOR  # type: ignore[index]


def test_a_house_that_is_full_of_guests_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Neighbors()
    monkeypatch.setattr("emu.store.houses.MOST_LISTED", 0)
    assert scene.asks("OP_HouseAccessSetMsg", "WS_HouseAccessSetMsg", house_id=scene.number(),
                      player_name="Borvik", access_level=2) == [
        "This house has too many guests."
    ]  # fmt: skip


def test_a_guest_of_an_unpaid_house_stays_outside() -> None:
    scene = Neighbors()
    later(scene, WEEK + 1)
    (row,) = scene.visits()
    assert scene.enters(scene.other, row["house_id"]) == ["The upkeep of this house is not paid."]
    assert scene.guest.zone is scene.zone


def test_who_may_not_be_there_any_more_is_sent_out() -> None:
    scene = Neighbors()
    scene.visits()
    scene.enters(scene.other, scene.house.id)
    scene.harness.service.send_away(scene.guest, "test", scene.harness.now)
    scene.harness.run(2.0)
    finish(scene.housing.store.set_public(scene.house.id, AccessLevel.NONE))
    client = scene.harness.stand(6)
    scene.harness.run(1.0)
    assert client.player is not None
    assert client.player.journey.destination == Destination(
        ISLE, Position(648.5, -24.93, 349.37, 323.0)
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_the_books_are_for_those_who_look_after_the_house(version: int) -> None:
    scene = Neighbors(version)
    scene.client.types(f"/house_deposit {scene.number()} 10")
    scene.visits()
    scene.other.types(f"/house {scene.house.id}")
    window = scene.other.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert (window["privlage_level"], window["deposit_array"]) == (1, [])
    finish(scene.housing.store.set_access(scene.house.id, 6, AccessLevel.TRUSTEE))
    scene.other.types(f"/house_ui {scene.house.id}")
    window = scene.other.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert (window["privlage_level"], len(window["deposit_array"])) == (3, 1)


# --- inside


def test_a_door_inside_shows_the_house_in_which_one_is() -> None:
    scene = HouseScene()
    scene.buys()
    scene.enters()
    scene.zone = scene.player.zone
    scene.go(1.0)
    scene.use(scene.door(MANOR, 901), "Access")
    window = scene.client.decoded("WS_PlayerHouseBaseScreen")[-1]
    assert window["house_name"] == "Aldana's The Nettleville Inn"
    assert window["inside_house"] == 1
    before = len(scene.client.decoded("WS_PlayerHouseBaseScreen"))
    assert scene.client.types("/house") == []
    assert len(scene.client.decoded("WS_PlayerHouseBaseScreen")) == before + 1


def test_another_house_of_the_same_zone_is_another_copy() -> None:
    scene = Neighbors()
    scene.buys(MANOR, scene.door(MANOR, 901))
    scene.enters()
    first = scene.player.zone
    scene.guest.character = replace(scene.guest.character, coins=10_000, status_points=50)
    scene.visits()
    scene.enters(scene.other, scene.house.id)
    assert scene.guest.zone.zone_id == first.zone_id
    assert scene.guest.zone is not first


def test_the_record_of_a_character_names_the_house_of_a_zone() -> None:
    scene = HouseScene()
    scene.buys()
    scene.enters()
    (house,) = scene.owned()
    lock = read_record(scene.player.character.travels).instances[ANTONICA]
    assert lock.number == FIRST_HOUSE + house.id


def test_a_door_whose_house_is_gone_does_nothing() -> None:
    scene = HouseScene()
    door = scene.door(INN._replace(id=77))
    assert scene.use(door, "Access") != []
    assert scene.client.decoded("WS_PlayerHousePurchase") == []


def test_reload_replaces_the_houses() -> None:
    scene = HouseScene(tables=HomeTables())
    door = scene.door()
    scene.use(door, "Access")
    assert scene.client.decoded("WS_PlayerHousePurchase") == []
    scene.housing.reload(HOMES)
    scene.use(door, "Access")
    assert len(scene.client.decoded("WS_PlayerHousePurchase")) == 1


def test_the_store_may_fail_while_a_house_is_shown() -> None:
    scene = HouseScene()

    async def broken(_char_id: int) -> list[Any]:
        raise StoreError("away")

    scene.housing.store.owned = broken  # type: ignore[method-assign,assignment]
    assert scene.use(scene.door(), "Access") == ["This cannot be done now; try again."]
