"""Private copies of zones: who meets whom, and when a player may come again."""

from dataclasses import replace

import pytest

from emu.times import Moment
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.travel.instances import FIRST_COPY
from emu.world.travel.records import read_record
from tests.support.world.travel_scenes import ANTONICA, ISLE, TravelScene
from tests.support.world.worlds import Client

HOUR = 3600.0


class InstanceScene(TravelScene):
    """Antonica has copies; players go there and back."""

    def __init__(self, kind: str = "group") -> None:
        super().__init__()
        self.change_zone(ANTONICA, instance=kind, lockout=2 * HOUR, reenter=HOUR, linger=60.0)

    def other(self, char_id: int) -> Client:
        return self.harness.stand(char_id, name=f"Other{'abcdefgh'[char_id % 8]}")

    def group(self, *members: int) -> None:
        groups = self.harness.world.groups.table
        for member in members:
            groups.invite(5, member, self.harness.now)
            groups.accept(member, self.harness.now)

    def goes(self, char_id: int) -> int:
        """Send a player to Antonica; return the number of the copy that it stands in."""
        player = self.harness.world.players.get(char_id)
        assert player is not None
        assert self.travel.journeys.send(player, Destination(ANTONICA), self.harness.now)
        self.harness.run(0.1)
        self.harness.enter(char_id).load()
        self.harness.run(0.2)
        return player.zone.instance

    def finishes(self, char_id: int) -> Player:
        """Let a character finish the copy in which it is."""
        player = self.harness.world.players.get(char_id)
        assert player is not None
        self.travel.instances.finish(player, success=True)
        return player

    def leaves(self, char_id: int) -> None:
        player = self.harness.world.players.get(char_id)
        assert player is not None
        self.harness.service.send_away(player, "test", self.harness.now)
        self.harness.run(1.0)

    def comes_back(self, char_id: int) -> int:
        client = self.harness.stand(char_id)
        assert client.player is not None
        return client.player.zone.instance


def test_two_players_without_a_group_have_two_copies() -> None:
    scene = InstanceScene()
    scene.other(6)
    one, other = scene.goes(5), scene.goes(6)
    assert FIRST_COPY <= one != other >= FIRST_COPY


@pytest.mark.parametrize(("kind", "is_shared"), [("group", True), ("raid", True), ("solo", False)])
def test_members_of_a_group_meet_in_one_copy(kind: str, is_shared: bool) -> None:
    scene = InstanceScene(kind)
    scene.other(6)
    scene.group(6)
    assert (scene.goes(5) == scene.goes(6)) is is_shared


def test_a_copy_is_the_players_until_the_lockout_is_over() -> None:
    scene = InstanceScene()
    copy = scene.goes(5)
    scene.leaves(5)
    scene.harness.run(300.0)
    assert scene.harness.zones.find(ANTONICA, copy) is None
    assert scene.comes_back(5) == copy
    scene.leaves(5)
    scene.harness.moment = Moment(scene.harness.moment + 2 * HOUR + 1)
    assert scene.comes_back(5) != copy


def test_an_empty_copy_ends_after_the_time_of_its_zone() -> None:
    scene = InstanceScene()
    copy = scene.goes(5)
    scene.leaves(5)
    scene.harness.run(50.0)
    assert scene.harness.zones.find(ANTONICA, copy) is not None
    scene.harness.run(15.0)
    assert scene.harness.zones.find(ANTONICA, copy) is None


@pytest.mark.parametrize(("success", "hours"), [(True, 2), (False, 1)])
def test_whoever_has_finished_may_not_come_again_for_a_while(success: bool, hours: int) -> None:
    scene = InstanceScene()
    copy = scene.goes(5)
    player = scene.harness.world.players.get(5)
    assert player is not None
    scene.travel.instances.finish(player, success=success)
    assert scene.travel.instances.seconds_left(player, ANTONICA) == hours * HOUR
    definition = scene.harness.zones.definition(ANTONICA)
    refused = scene.travel.journeys.refusal(player, definition)
    assert refused == f"You may enter Antonica again in {hours * 60} minutes."
    scene.harness.run(5.0)
    stored = read_record(scene.harness.store.rows[5].travels).instances[ANTONICA]
    assert stored.reenters == scene.harness.moment + hours * HOUR
    scene.harness.moment = Moment(scene.harness.moment + hours * HOUR + 1)
    assert scene.travel.journeys.refusal(player, definition) is None
    assert scene.travel.instances.copy_of(player.character, definition) != copy


def test_the_levels_of_those_who_opened_a_copy() -> None:
    scene = InstanceScene()
    scene.other(6)
    scene.group(6)
    mate = scene.harness.world.players.get(6)
    assert mate is not None
    mate.character = replace(mate.character, level=9)
    scene.goes(5)
    player = scene.harness.world.players.get(5)
    assert player is not None
    assert scene.travel.instances.levels(player.zone) == (player.character.level, 9)
    scene.travel.ended(player.zone)
    assert scene.travel.instances.levels(player.zone) == ()


def test_a_zone_that_all_share_has_no_copies() -> None:
    scene = InstanceScene("")
    assert scene.goes(5) == 0
    player = scene.finishes(5)
    assert player.character.travels == ""


def test_a_client_that_comes_back_does_not_clear_the_time_of_a_finished_copy() -> None:
    scene = InstanceScene()
    copy = scene.goes(5)
    player = scene.finishes(5)
    again = scene.harness.stand(5)
    assert again.player is player
    assert player.zone.instance == copy
    assert scene.travel.instances.seconds_left(player, ANTONICA) == 2 * HOUR


def test_who_leaves_the_world_in_a_finished_copy_comes_back_to_it_while_it_lasts() -> None:
    scene = InstanceScene()
    copy = scene.goes(5)
    scene.finishes(5)
    scene.leaves(5)
    assert scene.comes_back(5) == copy
    back = scene.harness.world.players.get(5)
    assert back is not None
    assert scene.travel.instances.seconds_left(back, ANTONICA) > 0.0


@pytest.mark.parametrize("success", [True, False])
def test_a_finished_copy_that_has_ended_is_not_made_anew_by_entering_the_world(
    success: bool,
) -> None:
    """The time during which a player may not enter counts for the login, too."""
    scene = InstanceScene()
    scene.goes(5)
    player = scene.harness.world.players.get(5)
    assert player is not None
    bound = scene.travel.returning.bound(player)
    scene.travel.instances.finish(player, success=success)
    scene.leaves(5)
    scene.harness.run(70.0)
    scene.comes_back(5)
    back = scene.harness.world.players.get(5)
    assert back is not None
    assert back.zone.zone_id == bound.zone_id == ISLE
    assert scene.travel.instances.seconds_left(back, ANTONICA) > 0.0
