"""The window of a transporter's destinations, and the choice of one."""

import struct
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest

from emu.errors import StoreError
from emu.quests.journal import Completion
from emu.times import Moment
from emu.world.actors.spawn import Destination, Spawn
from emu.world.entry.leaving import LeaveReason
from emu.world.travel.tables import TravelTables, Way
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.travel_scenes import ANTONICA, ISLE, PLACE, TravelScene

THERE = Position(1.0, 2.0, 3.0, 45.0)
NORTH = Way(51, "North", Destination(ANTONICA, THERE), message="Off you go.")
BEACH = Way(52, "Beach", Destination(ISLE, PLACE._replace(x=200.0)), map_at=(10, 20))
NEAR = Way(53, "Near", Destination(ISLE, PLACE._replace(x=13.0)), map_at=(30, 40))


def scene_with(
    ways: Sequence[Way], picture: str | None = None, version: int = 546
) -> tuple[TravelScene, Spawn]:
    maps = {} if picture is None else {3: picture}
    scene = TravelScene(TravelTables({3: ways}, maps=maps), version)
    return scene, scene.put("objects", {}, transport=3)


def names(scene: TravelScene) -> list[list[str]]:
    return [
        [row["display_name"] for row in one["destination_array"]]
        for one in scene.client.decoded("WS_TeleportList")
    ]


def choose(scene: TravelScene, number: int, *, cost: int = 0, index: int = 0) -> None:
    name = b"x"
    body = struct.pack("<IIH", index, number, len(name)) + name + struct.pack("<I", cost)
    scene.client.say("OP_SelectZoneTeleporterDestinatio", body)
    scene.harness.run(0.1)


@pytest.mark.parametrize("version", [546, 561, 562, 1045, 1096, 1208, 57048, 60114, 64753])
def test_the_window_shows_the_ways_and_a_choice_takes_one(version: int) -> None:
    scene, bell = scene_with([NORTH, BEACH], version=version)
    assert scene.use(bell) == []
    (window,) = scene.client.decoded("WS_TeleportList")
    assert window["spawn_id"] == scene.player.index_of(bell)
    first, second = window["destination_array"]
    assert (first["unique_id"], first["display_name"], first["cost"]) == (51, "North", 0)
    assert first["zone_name"] == scene.harness.zones.definition(ANTONICA).description
    assert second["display_name"] == "Beach"
    choose(scene, 51)
    assert scene.goal == NORTH.to
    assert "Off you go." in scene.lines()


@pytest.mark.parametrize("how", ["walks", "is gone"])
def test_who_is_far_from_the_transporter_takes_no_way(how: str) -> None:
    """The window stays open at a client that walks away, as those of merchants and houses do."""
    scene, bell = scene_with([NORTH, BEACH])
    scene.use(bell)
    if how == "walks":
        scene.player.teleport(bell.position._replace(x=bell.position.x + 120.0), scene.harness.now)
    else:
        scene.player.zone.remove(bell, scene.harness.now)
    choose(scene, 51)
    assert scene.goal is None
    assert "too far away" in scene.lines()[-1].casefold()


def test_a_way_within_the_zone_is_a_jump() -> None:
    scene, bell = scene_with([NORTH, BEACH], version=1208)
    scene.use(bell)
    choose(scene, 52)
    assert scene.goal is None
    assert scene.player.position.x == 200.0
    assert scene.client.decoded("WS_MoveClient")[-1]["x"] == 200.0


def test_what_is_too_near_is_offered_on_a_map_only() -> None:
    scene, bell = scene_with([NORTH, NEAR])
    scene.use(bell)
    assert names(scene) == [["North"]]


@pytest.mark.parametrize("map_name", ["antonica", ""])
def test_a_map_shows_where_the_player_is(map_name: str) -> None:
    """A map without a file counts, too."""
    scene, bell = scene_with([NORTH, NEAR], map_name, 1208)
    scene.use(bell)
    assert names(scene) == [["North", "Near"]]
    (window,) = scene.client.decoded("WS_TeleportList")
    assert (window["map_name"], window["current_zone"]) == (map_name, "Near")
    assert (window["current_map_x"], window["current_map_y"]) == (30, 40)


def test_without_a_way_for_the_window_the_last_one_is_taken_at_once() -> None:
    generic = NORTH._replace(kind="generic transport")
    scene, bell = scene_with([NEAR, generic])
    scene.use(bell)
    assert names(scene) == []
    assert scene.goal == NORTH.to


def test_only_those_whom_a_way_fits_are_offered_it() -> None:
    ways = [
        NORTH._replace(id=1, name="low", max_level=4),
        NORTH._replace(id=2, name="high", min_level=5, max_level=9),
        NORTH._replace(id=3, name="done", quests=(77,)),
        NORTH._replace(id=4, name="new", versions=(1208, 0)),
        NORTH._replace(id=5, name="old", versions=(0, 1000)),
    ]
    scene, bell = scene_with(ways)
    scene.level(5)
    scene.use(bell)
    assert names(scene) == [["high", "old"]]
    choose(scene, 3)
    assert scene.goal is None


def test_a_way_behind_a_quest_is_for_those_who_have_it_or_had_it() -> None:
    ways = [NORTH._replace(id=3, name="behind", quests=(77,)), NORTH._replace(name="open")]
    scene, bell = scene_with(ways)
    scene.use(bell)
    assert names(scene) == [["open"]]
    journal = scene.harness.parts.quests.journals.of(scene.player)
    journal.completed[77] = Completion(1, Moment(0.0))
    scene.use(bell)
    assert names(scene)[-1] == ["behind", "open"]


def test_who_may_take_no_way_hears_so() -> None:
    scene, bell = scene_with([NORTH._replace(min_level=50)])
    assert scene.use(bell) == ["There is no destination for you here."]
    assert names(scene) == []


@pytest.mark.parametrize(("number", "cost"), [(99, 0), (51, 1)])
def test_a_choice_that_was_not_offered_has_no_effect(number: int, cost: int) -> None:
    scene, bell = scene_with([NORTH, BEACH])
    choose(scene, 51)
    scene.use(bell)
    choose(scene, number, cost=cost)
    assert scene.goal is None
    assert scene.harness.world.faults.drops["way not offered"] == 2


def test_a_way_costs_what_the_player_must_have() -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    scene.use(bell)
    choose(scene, 51, cost=250)
    assert scene.goal is None
    assert scene.lines()[-1] == "You do not have enough coins."


def rich(scene: TravelScene, coins: int) -> None:
    """Give the player coins, also in the store."""
    scene.player.character = replace(scene.player.character, coins=coins)
    scene.harness.store.rows[5] = replace(scene.harness.store.rows[5], coins=coins)


def stored(scene: TravelScene) -> int:
    return scene.harness.store.rows[5].coins


def test_the_price_is_shown_and_taken_before_the_player_sets_off() -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    scene.use(bell)
    (window,) = scene.client.decoded("WS_TeleportList")
    assert window["destination_array"][0]["cost"] == 250
    choose(scene, 51, cost=250)
    assert scene.goal == Destination(ANTONICA, THERE)
    assert "Off you go." in scene.lines()
    assert (stored(scene), scene.player.character.coins) == (1050, 1050)


def test_a_price_that_the_store_refuses_is_not_paid() -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    # A letter has taken the coins, and the world does not know it yet.
    scene.harness.store.rows[5] = replace(scene.harness.store.rows[5], coins=100)
    scene.use(bell)
    choose(scene, 51, cost=250)
    assert scene.goal is None
    assert scene.lines()[-1] == "You do not have enough coins."
    scene.harness.store.broken = True
    scene.use(bell)
    choose(scene, 51, cost=250)
    assert scene.goal is None
    assert scene.lines()[-1] == "You could not pay. Try again in a moment."
    scene.harness.store.broken = False
    assert stored(scene) == 100


def test_the_price_is_given_back_if_the_player_cannot_go() -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    scene.change_zone(ANTONICA, min_level=50)
    scene.use(bell)
    choose(scene, 51, cost=250)
    assert scene.goal is None
    assert (stored(scene), scene.player.character.coins) == (1300, 1300)


def test_the_price_is_given_back_if_no_zone_takes_the_player(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)

    async def full(*_what: object) -> None:
        raise StoreError("no key")

    monkeypatch.setattr(scene.harness.departures, "change_zone", full)
    scene.use(bell)
    choose(scene, 51, cost=250)
    assert scene.lines()[-1] == "This way is crowded. Try again in a moment."
    assert (stored(scene), scene.player.character.coins) == (1300, 1300)


def test_a_player_who_pays_while_it_travels_already_pays_nothing() -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    now = scene.harness.now
    scene.travel.journeys.send(scene.player, Destination(ANTONICA), now)
    scene.travel.transporters._take(scene.player, NORTH._replace(cost=250), now)
    assert (stored(scene), scene.player.character.coins) == (1300, 1300)


def test_a_choice_counts_once_while_the_store_takes_the_coins() -> None:
    scene, _ = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    work: list[Coroutine[Any, Any, Any]] = []
    scene.harness.start = work.append
    way, now = NORTH._replace(cost=250), scene.harness.now
    scene.travel.transporters._take(scene.player, way, now)
    scene.travel.transporters._take(scene.player, way, now)
    scene.harness.start = finish
    assert len(work) == 1
    finish(work[0])
    assert stored(scene) == 1050


def test_a_list_without_rows_leaves_the_use_to_others() -> None:
    scene, bell = scene_with([])
    scene.use(bell)
    assert scene.harness.world.faults.drops["verb does nothing"] == 1


def test_the_doors_of_homes_offer_no_ways() -> None:
    scene = TravelScene(TravelTables({3: [NORTH]}))
    scene.use(scene.put("objects", {}, transport=3, command="access"))
    assert names(scene) == []


def test_a_list_that_a_script_has_chosen_lasts_until_the_zone_is_left() -> None:
    scene = TravelScene(TravelTables({3: [NORTH, BEACH]}))
    post = scene.put("objects", {})
    transporters = scene.travel.transporters
    transporters.set_temporary(scene.player, 3)
    scene.use(post)
    assert names(scene) == [["North", "Beach"]]
    choose(scene, 51)
    assert scene.goal == NORTH.to
    assert transporters.temporary(scene.player) == 0


def test_a_way_to_an_unknown_zone_is_not_shown() -> None:
    scene, bell = scene_with([NORTH._replace(to=Destination(9999)), BEACH])
    scene.use(bell)
    assert names(scene) == [["Beach"]]


@pytest.mark.parametrize("how", ["link death", "another session", "camp"])
def test_the_price_is_given_back_if_the_player_is_gone_before_it_sets_off(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, bell = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    harness, player = scene.harness, scene.player
    keys = type(harness.world.processes.handoffs)
    issue = keys.issue

    async def interrupted(*what: Any, **more: Any) -> int:
        if how == "link death":
            harness.departures.link_lost(player, "test", harness.now)
        elif how == "camp":
            harness.departures.leave_saved(player, LeaveReason.CAMPED, harness.now)
        else:
            harness.enter(5)
        return await issue(*what, **more)

    monkeypatch.setattr(keys, "issue", interrupted)
    scene.use(bell)
    choose(scene, 51, cost=250)
    harness.run(1.0)
    assert scene.goal is None
    assert stored(scene) == 1300


@pytest.mark.parametrize("cost", [0, 250])
def test_who_has_died_with_an_open_window_does_not_travel(cost: int) -> None:
    scene, bell = scene_with([NORTH._replace(cost=cost), BEACH])
    rich(scene, 1300)
    scene.use(bell)
    scene.dies()
    at = scene.player.position
    choose(scene, 51, cost=cost)
    assert (scene.goal, scene.player.position, stored(scene)) == (None, at, 1300)
    assert scene.lines()[-1] == "You cannot do that right now."


def test_who_dies_while_the_store_takes_the_coins_gets_them_back() -> None:
    scene, _ = scene_with([NORTH._replace(cost=250)])
    rich(scene, 1300)
    work: list[Coroutine[Any, Any, Any]] = []
    scene.harness.start = work.append
    scene.travel.transporters._take(scene.player, NORTH._replace(cost=250), scene.harness.now)
    scene.harness.start = finish
    scene.dies()
    finish(work[0])
    scene.harness.run(0.1)
    assert (scene.goal, stored(scene)) == (None, 1300)
