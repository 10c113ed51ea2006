"""Commands to speak that do more than speak."""

from __future__ import annotations

from tests.support.world.worlds import WorldHarness


def test_hail_names_the_target(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6, name="Borvik")
    harness.run(0.5)
    one.types("/hail")
    one.say("OP_UpdateTargetMsg", b"\2\0")
    one.types("/hail")
    assert [text for _, _, text in two.hears()] == ["Hail", "Hail, Borvik"]


def test_lists_of_friends_are_kept_and_come_back(harness: WorldHarness) -> None:
    one = harness.stand(5)
    assert one.types("/friend Borvik") == ["Borvik"]
    assert one.types("/unfriend Nobody") == ["Nobody is not on the list"]
    harness.run(3.0)
    assert harness.store.rows[5].relations == ((0, "Borvik"),)
    one.say("OP_RequestCampMsg", b"\1\1")
    again = harness.enter(5)
    lists = again.decoded("WS_ChatRelationship")
    assert [[row["name"] for row in one["name_array"]] for one in lists] == [["Borvik"], []]
