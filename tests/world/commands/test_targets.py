"""Commands about the target, dice, and questions."""

from __future__ import annotations

import re

import pytest

from emu.times import Monotonic
from emu.world.actors.player import Relation
from emu.world.commands.targets import STUCK_PAUSE
from tests.support.world.worlds import Client, WorldHarness


@pytest.fixture
def pair(harness: WorldHarness) -> tuple[Client, Client]:
    found = harness.stand(5, name="Aldana", level=10), harness.stand(6, name="Borvik", level=10)
    harness.run(1.0)
    return found


def test_the_nearest_of_a_name_becomes_the_target(
    harness: WorldHarness, pair: tuple[Client, Client]
) -> None:
    one, other = pair
    assert one.types("target bor") == []
    assert one.player.target is other.player.spawn
    [sent] = one.decoded("WS_ServerUpdateTarget")
    assert sent["spawn_id"] == one.player.index_of(other.player.spawn)
    assert one.types("target nobody") == ["nobody is not here"]
    assert one.player.target is other.player.spawn


def test_assist_takes_the_target_of_another(
    harness: WorldHarness, pair: tuple[Client, Client]
) -> None:
    one, other = pair
    assert one.types("assist") == ["you have no target"]
    assert one.types("assist borvik") == ["Borvik has no target"]
    other.types("target Aldana")
    one.types("target borvik")
    one.types("assist")
    assert one.player.target is one.player.spawn


@pytest.mark.parametrize(
    ("level", "words"),
    [(1, "no challenge"), (5, "easy fight"), (9, "should win"), (10, "even fight"),
     (12, "a hard fight"), (14, "very hard"), (15, "likely kill")],
)  # fmt: skip
def test_consider_compares_levels(harness: WorldHarness, level: int, words: str) -> None:
    one = harness.stand(5, name="Aldana", level=10)
    harness.stand(6, name="Borvik", level=level)
    harness.run(1.0)
    [line] = one.types("consider borvik")
    assert words in line
    assert one.types("con aldana") == ["You consider yourself."]


def test_inspect_names_the_player_who_looks(pair: tuple[Client, Client]) -> None:
    one, other = pair
    assert one.types("inspect borvik") == ["Borvik, level 10"]
    texts = [row["text"] for row in other.decoded("WS_DisplayText")]
    assert texts[-1] == "Aldana inspects you."


def test_a_target_by_name_is_shown_to_others(
    harness: WorldHarness, pair: tuple[Client, Client]
) -> None:
    one, other = pair
    one.types("target bor")
    assert one.player.spawn.target_id == other.player.spawn.id


def test_inspect_does_not_show_a_hidden_player(
    harness: WorldHarness, pair: tuple[Client, Client]
) -> None:
    _, other = pair
    master = harness.stand(7, name="Boss", admin_status=100)
    harness.run(1.0)
    master.types("/hide")
    before = other.decoded("WS_DisplayText")
    assert master.types("inspect borvik") == ["Borvik, level 10"]
    assert other.decoded("WS_DisplayText") == before
    master.types("/hide")
    master.types("inspect borvik")
    assert other.decoded("WS_DisplayText")[-1]["text"] == "Boss inspects you."


def test_inspecting_cannot_flood_a_chat(pair: tuple[Client, Client]) -> None:
    one, other = pair
    before = len(other.decoded("WS_DisplayText"))
    for _ in range(200):
        one.types("inspect borvik")
    assert len(other.decoded("WS_DisplayText")) - before < 50
    other.player.relations.add_name(Relation.IGNORED, "Aldana")
    before = len(other.decoded("WS_DisplayText"))
    one.types("inspect borvik")
    assert len(other.decoded("WS_DisplayText")) == before


def test_dice_are_seen_by_those_near(pair: tuple[Client, Client]) -> None:
    one, other = pair
    for line, first, last in (("random", 1, 100), ("random 6", 1, 6), ("random 10 20", 10, 20)):
        [shown] = one.types(line)
        found = re.fullmatch(r"Aldana rolls from (\d+) to (\d+): (\d+)\.", shown)
        assert found is not None
        assert (int(found[1]), int(found[2])) == (first, last)
        assert first <= int(found[3]) <= last
        assert other.decoded("WS_DisplayText")[-1]["text"] == shown
    for line in ("random 5 5", "random 9 1", "random 0 99999999", "random -4 2"):
        assert "the smaller one first" in one.types(line)[0]


def test_time_shows_both_clocks(pair: tuple[Client, Client]) -> None:
    world, server = pair[0].types("time")
    assert re.fullmatch(r"In the world it is \d\d:\d\d, day \d+ of month \d+ of \d+\.", world)
    assert server.startswith("The server's clock shows ")


def test_stuck_leads_to_the_safe_place_but_not_at_any_time(harness: WorldHarness) -> None:
    one = harness.stand(5)
    safe = harness.world.zones.definition(one.player.zone.zone_id).safe
    one.player.teleport(one.player.position._replace(x=900.0), harness.now)
    assert one.types("stuck") == ["You are at a safe place of the zone."]
    assert one.player.position == safe
    assert "again in 300 seconds" in one.types("stuck")[0]
    harness.now = Monotonic(harness.now + STUCK_PAUSE)
    assert one.types("stuck") == ["You are at a safe place of the zone."]


def test_played_counts_from_the_entry_and_over_all_sessions(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", created=harness.moment - 3 * 86_400, played=3600)
    harness.run(125.0)
    here, since = one.types("played")
    assert "for 0:02:05 since" in here
    assert "for 1:02:05 in all" in here
    one.say("OP_RequestCampMsg", b"\1\1")
    assert harness.store.rows[5].played == 3725
    again = harness.stand(5)
    harness.run(10.0)
    assert "for 1:02:15 in all" in again.types("played")[0]
    assert since.startswith("Aldana exists since ")
    assert since.endswith("for 3 days.")


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_a_waypoint_is_shown_and_cleared(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version)
    for line in ("waypoint 10 -5.5 240", "waypoint 10, -5.5, 240"):
        assert one.types(line) == ["Your waypoint is 10, -5.5, 240."]
        path = one.decoded("WS_GlowPath")[-1]
        assert path["points_array"] == [{"x": 10.0, "y": -5.5, "z": 240.0}]
        assert (path["waypoint_x"], path["waypoint_z"]) == (10.0, 240.0)
    assert one.types("waypoint") == ["You have no waypoint any more."]
    assert one.decoded("WS_GlowPath")[-1]["num_points"] == 0
    assert one.types("waypoint 1 2")[0].startswith("a waypoint has three numbers")
    assert one.types("waypoint nan 2 3")[0].startswith("a waypoint lies between")


def grouped(harness: WorldHarness, version: int = 546) -> tuple[Client, Client]:
    one, other = harness.stand(5, version, name="Aldana"), harness.stand(6, name="Borvik")
    one.types("invite Borvik")
    other.types("accept")
    return one, other


def followed(one: Client) -> int:
    return int(one.view.fields(1).get("follow_target", 0))


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_the_client_of_a_follower_is_sent_whom_it_follows(
    harness: WorldHarness, version: int
) -> None:
    one, other = grouped(harness, version)
    nobody = followed(one)
    one.types("follow Borvik")
    harness.run(0.5)
    index = one.player.index_of(other.player.spawn)
    assert followed(one) == (index if version <= 561 else 0xFFFFFFFF - index)
    assert one.types("stopfollow") == ["You are no longer following Borvik."]
    harness.run(0.5)
    assert followed(one) == nobody
    assert one.types("stopfollow") == []


def test_only_members_of_the_group_are_followed(harness: WorldHarness) -> None:
    one, other = grouped(harness)
    harness.stand(7, name="Cenwyn")
    assert one.types("follow Cenwyn") == ["you can follow only members of your group"]
    assert one.types("follow Aldana") == ["you can follow only members of your group"]
    assert one.types("follow Borvik") == ["You start to follow Borvik."]
    one.types("leavegroup")
    assert one.player.follows.leader is None
    assert other.player.follows.followers == set()


def test_nobody_follows_a_player_that_has_left(harness: WorldHarness) -> None:
    one, other = grouped(harness)
    one.types("follow Borvik")
    other.say("OP_RequestCampMsg", b"\1\1")
    assert one.player.follows.leader is None
    assert one.decoded("WS_DisplayText")[-1]["text"] != ""
    one, other = grouped(harness)
    one.types("follow Borvik")
    other.types("disband")
    assert one.player.follows.leader is None


def test_what_a_player_asks_about_its_client_and_languages(harness: WorldHarness) -> None:
    one = harness.stand(5, 561)
    assert one.types("version") == ["Your client has the version 561."]
    assert one.types("languages")[0].startswith("You know ")
    assert one.types("welcome_info") == one.types("motd")


def test_a_leader_asks_who_is_ready(harness: WorldHarness) -> None:
    one, other = grouped(harness)
    assert "the members of your group are asked" in one.types("readycheck")
    shown = [row["text"] for row in other.decoded("WS_DisplayText")]
    assert shown[-1] == "Aldana asks whether you are ready."
    assert other.types("readycheck") == ["only the leader of a group may do that"]
