"""Commands to speak that do more than speak."""

from __future__ import annotations

from tests.support.world.worlds import WorldHouse


def test_hail_names_whom_one_looks_at(house: WorldHouse) -> None:
    one, two = house.stand(5), house.stand(6, name="Borvik")
    house.run(0.5)
    one.types("/hail")
    one.say("OP_UpdateTargetMsg", b"\2\0")
    one.types("/hail")
    assert [text for _, _, text in two.hears()] == ["Hail", "Hail, Borvik"]


def test_lists_of_friends_are_kept_and_come_back(house: WorldHouse) -> None:
    one = house.stand(5)
    assert one.types("/friend Borvik") == ["Borvik"]
    assert one.types("/unfriend Nobody") == ["Nobody is not on the list"]
    house.run(3.0)
    assert house.store.rows[5].relations == ((0, "Borvik"),)
    one.say("OP_RequestCampMsg", b"\1\1")
    again = house.enter(5)
    lists = again.decoded("WS_ChatRelationship")
    assert [[row["name"] for row in one["name_array"]] for one in lists] == [["Borvik"], []]
