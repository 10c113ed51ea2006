"""Lists of friends and ignored players, and the notices about friends."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred

from emu.world.commands.relations import FRIEND_NOTICE
from emu.world.social.mail import ARRIVED
from tests.support.world.worlds import Client, WorldHarness


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def test_lists_are_kept_and_come_back(harness: WorldHarness) -> None:
    harness.exist("Borvik", "Cestra")
    one = harness.stand(5)
    assert one.types("/friend_add borvik") == ["Borvik is your friend now."]
    assert one.types("/ignore_add Cestra") == ["Cestra is ignored now."]
    assert one.types("/friend_remove Nobody") == ["Nobody is not on the list"]
    assert one.types("/friends") == ["You have 1 friend.", "Borvik"]
    assert one.types("/ignores") == ["You have 1 ignored player.", "Cestra"]
    harness.run(3.0)
    assert harness.store.rows[5].relations == ((0, "Borvik"), (2, "Cestra"))
    one.say("OP_RequestCampMsg", b"\1\1")
    again = harness.enter(5)
    lists = again.decoded("WS_ChatRelationship")
    assert [[row["name"] for row in one["name_array"]] for one in lists] == [["Borvik"], ["Cestra"]]
    again.load()
    assert again.types("/unfriend borvik") == ["Borvik is not your friend any more."]


def test_a_character_that_does_not_exist_is_refused(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    assert one.types("/friend_add Nobody") == ["there is no character Nobody"]
    assert one.types("/ignore_add Nobody") == ["there is no character Nobody"]
    assert one.types("/friend_add aldana") == ["you cannot add yourself"]
    assert one.types("/friends") == ["You have 0 friends."]


def test_a_name_is_stored_as_it_is_known_although_a_save_ran_meanwhile(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.exist("Borvik")
    one = harness.stand(5)
    find, waiting = harness.store.find_named, list[Deferred[None]]()

    async def slow(name: str) -> object:
        waiting.append(Deferred())
        await waiting[-1]
        return await find(name)

    monkeypatch.setattr(harness.store, "find_named", slow)
    monkeypatch.setattr(harness, "start", Deferred.fromCoroutine)
    for name, stored in (("borvik", ((0, "Borvik"),)), ("Nobody", ((0, "Borvik"),))):
        one.types(f"/friend_add {name}")
        harness.run(5.0)  # the name is stored as the player has typed it
        waiting.pop().callback(None)
        harness.run(5.0)
        assert harness.store.rows[5].relations == stored


def test_friends_are_notified_when_a_player_comes_and_goes(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    one, other = harness.stand(5), harness.stand(7)
    one.types("/friend_add Borvik")
    friend = harness.stand(1000)
    assert lines(one)[-1] == "Borvik has logged in."
    assert one.types("/friends")[1].startswith("Borvik, in ")
    friend.say("OP_RequestCampMsg", b"\1\1")
    assert lines(one)[-1] == "Borvik has logged out."
    assert not any("logged" in line for line in lines(other))


def test_a_change_of_zones_is_no_login(harness: WorldHarness) -> None:
    one = harness.stand(5)
    friend = harness.stand(6, name="Borvik", admin_status=100)
    one.types("/friend_add Borvik")
    before = lines(one)
    friend.types("/zone 12")
    assert harness.stand(6).player.zone.zone_id == 12
    assert lines(one) == before


def test_a_hidden_friend_is_absent(harness: WorldHarness) -> None:
    one = harness.stand(5)
    master = harness.stand(6, name="Boss", admin_status=100)
    one.types("/friend_add Boss")
    for line, notice in (("/hide", "Boss has logged out."), ("/hide", "Boss has logged in.")):
        master.types(line)
        assert lines(one)[-1] == notice
    master.types("/hide")
    assert one.types("/friends") == ["You have 1 friend.", "Boss"]
    before = lines(one)
    master.say("OP_RequestCampMsg", b"\1\1")
    assert lines(one) == before


def test_an_anonymous_friend_is_listed_without_a_zone(harness: WorldHarness) -> None:
    one, friend = harness.stand(5), harness.stand(6, name="Borvik")
    one.types("/friend_add Borvik")
    friend.types("/anon")
    assert one.types("/friends")[1] == "Borvik, in the world"


def test_friends_in_another_process_are_notified(harness: WorldHarness) -> None:
    there = WorldHarness(beside=harness)
    harness.exist("Borvik")
    one = there.stand(5)
    one.types("/friend_add Borvik")
    harness.stand(1000)
    assert lines(one)[-1] == "Borvik has logged in."


ISLE, ANTONICA = 325, 12


def on_two_nodes() -> tuple[WorldHarness, WorldHarness, Client, Client]:
    """Return two nodes with a player on each, and its friend that goes from one to the other."""
    here = WorldHarness(elsewhere={ANTONICA: ("192.0.2.9", 9002)})
    there = WorldHarness(beside=here, elsewhere={ISLE: ("127.0.0.1", 9001)})
    near, far = here.stand(5), there.stand(7, zone_id=ANTONICA)
    friend = here.stand(6, name="Borvik", admin_status=100)
    for one in (near, far):
        one.types("/friend_add Borvik")
    friend.types("/zone 12")
    return here, there, near, far


def test_a_change_of_the_node_is_no_login() -> None:
    _, there, near, far = on_two_nodes()
    there.stand(6, is_zoning=True).say("OP_DoneLoadingUIResourcesMsg")
    assert not any("logged" in line for line in lines(near) + lines(far))
    there.stand(6)
    assert lines(near)[-1] == lines(far)[-1] == "Borvik has logged in.", "with another client"


@pytest.mark.parametrize("arrives", [True, False])
def test_who_does_not_come_to_the_other_node_has_logged_out(arrives: bool) -> None:
    here, there, near, far = on_two_nodes()
    if arrives:
        there.stand(6, is_zoning=True).say("OP_RequestCampMsg", b"\1\1")
    here.run(61.0)
    there.run(61.0)
    for one in (near, far):
        assert [line for line in lines(one) if "logged" in line] == ["Borvik has logged out."]


def test_two_hundred_friends_cost_nothing_while_nobody_logs_in(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"Friend{number}" for number in range(200)]
    relations = tuple((0, name) for name in names)
    clients = [harness.stand(one, name=f"Player{one}", relations=relations) for one in range(5, 15)]
    harness.run(5.0)
    asked: list[str] = []
    published: list[str] = []
    for topic in (FRIEND_NOTICE, ARRIVED):
        harness.bus.subscribe(topic, lambda _note, topic=topic: published.append(topic))  # type: ignore[misc]
    for name in ("find_named", "find", "of_account"):
        monkeypatch.setattr(harness.store, name, lambda *_: asked.append("read"))
    saves, sent = len(harness.store.saves), [len(one.log) for one in clients]
    harness.run(300.0)
    assert (published, asked) == ([], [])
    # The regular saves have the places alone, not the lists.
    assert all("relations" not in save.facts for save in harness.store.saves[saves:])
    assert [len(one.log) for one in clients] == sent
