"""Transports: who stands on them, and what happens to their places."""

from typing import Any

import pytest

from emu.times import Monotonic
from emu.world.actors.spawn import Footer, GhostPart, Spawn, SpawnKind, Verb
from emu.world.minds.walks import Walks, Waypoint
from emu.world.travel.rides import LAG, Rides
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.times import timetable
from tests.support.world.travel_scenes import DOOR, PLACE, TravelScene

LIFT = dict(DOOR) | {"kind": "lift", "open_heading": -1.0, "open_y": 12.03, "open_seconds": 0}
TOP = 12.03
WAY_UP = (TOP - PLACE.y) / 4.0 + 0.5
"""Seconds in which the lift is at the top."""


class Deck:
    """A transport at 0, 0, 0 with a radius of 10 units, and who stands there."""

    def __init__(self, kind: SpawnKind = SpawnKind.OBJECT, **values: Any) -> None:
        self.now = Monotonic(100.0)
        self.zone = Zone(ZoneDefinition(1, "Sea", "Sea", "the sea", PLACE))
        self.events: list[tuple[str, bool]] = []
        self.carried: list[Position] = []
        self.rides = Rides(
            lambda: self.now,
            boarded=lambda _zone, _boat, player, is_on: self.events.append((player.name, is_on)),
            carried=lambda _zone, _player, before: self.carried.append(before),
        )
        self._ids = iter(range(1, 99))
        self.boat = self.put(kind, "boat", Position(0.0, 0.0, 0.0), collision_radius=320, **values)
        self.rides.add_carrier(self.zone, self.boat)

    def put(self, kind: SpawnKind, name: str, at: Position, **values: Any) -> Spawn:
        ahead = values.pop("ahead", ())
        spawn = Spawn(next(self._ids), kind, name, at, **values)
        spawn.ahead = ahead
        self.zone.add_spawn(spawn, self.now)
        return spawn

    def player(self, x: float = 1.0, y: float = 0.5, z: float = 2.0) -> Spawn:
        return self.put(SpawnKind.PLAYER, "Aldana", Position(x, y, z, 10.0))

    def creature(self, x: float = 3.0, y: float = 0.5, z: float = 0.0, **values: Any) -> Spawn:
        return self.put(SpawnKind.NPC, "Captain", Position(x, y, z, 90.0), **values)

    def sail(self, x: float, y: float = 0.0, *, after: float = 0.5, **place: float) -> None:
        self.now = Monotonic(self.now + after)
        self.boat.move(self.boat.position._replace(x=x, y=y, **place))

    def step(self, player: Spawn, x: float, y: float, z: float) -> None:
        player.move(Position(x, y, z, 10.0))
        self.rides.stepped(self.zone, player)


@pytest.fixture
def deck() -> Deck:
    return Deck()


def test_who_stands_on_a_transport_is_carried_along(deck: Deck) -> None:
    player, captain = deck.player(), deck.creature()
    thing = deck.put(SpawnKind.OBJECT, "crate", Position(1.0, 0.5, 1.0))
    deck.sail(4.0)
    deck.sail(8.0, 1.0)
    assert player.position == Position(9.0, 1.5, 2.0, 10.0)
    assert captain.position == captain.origin == Position(11.0, 1.5, 0.0, 90.0)
    # A thing may be a part of the place where the transport stood.
    assert thing.position.x == 1.0
    assert deck.carried == [Position(1.0, 0.5, 2.0, 10.0), Position(5.0, 0.5, 2.0, 10.0)]
    assert set(deck.rides.passengers(deck.boat)) == {player, captain}
    assert deck.rides.passengers(thing) == []


@pytest.mark.parametrize(
    "place", [(11.0, 0.0, 0.0), (0.0, 11.0, 0.0), (0.0, -4.5, 0.0), (8.0, 7.0, 0.0)]
)
def test_who_stands_outside_of_the_extent_stays(
    deck: Deck, place: tuple[float, float, float]
) -> None:
    player, creature = deck.player(*place), deck.creature(*place)
    deck.sail(4.0)
    assert player.position[:3] == creature.position[:3] == place


def test_creatures_stand_nearer_to_the_middle_than_players(deck: Deck) -> None:
    player, creature = deck.player(6.0, 0.0, 0.0), deck.creature(6.0, 0.0, 0.0)
    deck.sail(4.0)
    assert (player.position.x, creature.position.x) == (10.0, 6.0)


def test_of_two_transports_in_one_place_the_one_that_moves_carries(deck: Deck) -> None:
    player, other = deck.player(), deck.put(SpawnKind.OBJECT, "twin", Position(0.0, 0.0, 0.0))
    other.collision_radius = 320
    deck.rides.add_carrier(deck.zone, other)
    deck.step(player, 2.0, 0.5, 0.0)
    assert deck.rides.passengers(deck.boat) == [player]
    deck.now = Monotonic(deck.now + 1.0)
    other.move(Position(4.0, 0.0, 0.0))
    assert player.position.x == 6.0
    assert deck.rides.passengers(other) == [player]
    deck.step(player, 6.5, 0.5, 0.0)
    assert deck.rides.passengers(other) == [player]
    # While one carries it, the other takes it not away.
    deck.sail(1.0, after=0.1)
    assert player.position.x == 6.5


@pytest.mark.parametrize(
    "values", [{"ahead": (PLACE, PLACE)}, {"hovers": True}, {"position_state": 49156}]
)
def test_who_walks_flies_or_swims_goes_its_own_way(deck: Deck, values: dict[str, Any]) -> None:
    creature = deck.creature(**values)
    deck.sail(4.0)
    assert creature.position.x == 3.0


def test_a_creature_that_sets_off_or_is_put_elsewhere_is_carried_no_longer(deck: Deck) -> None:
    walker, other = deck.creature(), deck.creature(0.0)
    deck.sail(4.0)
    walker.ahead = (PLACE, PLACE)
    other.move(Position(50.0, 0.0, 0.0))
    deck.sail(8.0)
    assert (walker.position.x, other.position.x) == (7.0, 50.0)
    assert deck.rides.passengers(deck.boat) == []


def test_of_two_transports_side_by_side_the_nearer_one_carries(deck: Deck) -> None:
    other = deck.put(SpawnKind.OBJECT, "twin", Position(12.0, 0.0, 0.0), collision_radius=320)
    deck.rides.add_carrier(deck.zone, other)
    still, player = deck.player(4.0, 0.5, 0.0), deck.player(5.0, 0.5, 0.0)
    deck.step(player, 4.5, 0.5, 0.0)
    for height in (1.0, 2.0, 3.0):
        deck.now = Monotonic(deck.now + 0.5)
        other.move(Position(12.0, height, 0.0))
        deck.step(player, 4.5, 0.5, 0.0)
    assert still.position.y == player.position.y == 0.5
    assert deck.rides.passengers(deck.boat) == [player]


def test_a_script_may_move_a_transport_when_it_hears_of_a_passenger(deck: Deck) -> None:
    def leave(_zone: Zone, boat: Spawn, _player: Spawn, is_on: bool) -> None:
        if is_on:
            boat.move(Position(7.0, 0.0, 0.0))

    deck.rides._boarded = leave
    player = deck.player()
    deck.sail(4.0)
    assert player.position.x == 8.0
    deck.sail(9.0)
    assert player.position.x == 10.0


def test_the_sphere_is_around_the_middle_that_a_widget_names() -> None:
    deck = Deck(SpawnKind.WIDGET, footer=Footer(7, 0.0, 9.0, 0.0))
    beside, above = deck.creature(4.0, 0.0), deck.creature(0.0, 18.0)
    deck.sail(0.0, 4.0)
    assert (beside.position.y, above.position.y) == (0.0, 22.0)


def test_a_lift_that_passes_a_floor_leaves_those_who_stand_there(deck: Deck) -> None:
    bystander = deck.player(1.0, 25.0, 0.0)
    for height in range(2, 40, 2):
        deck.sail(0.0, float(height))
    assert bystander.position.y == 25.0
    # It has stood for a while, and the player stands on it when it sets off again.
    deck.sail(0.0, 25.0)
    deck.sail(0.0, 27.0, after=LAG + 0.1)
    assert bystander.position.y == 27.0


def test_a_player_boards_and_leaves_by_its_steps(deck: Deck) -> None:
    player = deck.player(30.0)
    deck.step(player, 29.0, 0.5, 0.0)
    assert deck.events == []
    deck.step(player, 5.0, 0.5, 0.0)
    deck.step(player, 4.0, 0.5, 0.0)
    deck.sail(1.0)
    assert player.position.x == 5.0
    deck.step(player, 25.0, 0.5, 0.0)
    assert deck.events == [("Aldana", True), ("Aldana", False)]
    deck.sail(2.0)
    assert player.position.x == 25.0


def test_a_step_that_comes_late_is_still_on_a_fast_transport(deck: Deck) -> None:
    player = deck.player()
    for x in range(20, 120, 20):
        deck.sail(float(x), after=0.25)
    # The client shows the boat as it was half a second ago.
    deck.step(player, 61.0, 0.5, 2.0)
    deck.sail(120.0, after=0.25)
    assert player.position.x == 81.0
    # It has stood for long: the place where it was does not count any more.
    deck.now = Monotonic(deck.now + 10.0)
    deck.step(player, 61.0, 0.5, 2.0)
    assert deck.rides.passengers(deck.boat) == []


def test_a_step_begins_where_the_client_may_show_its_player(deck: Deck) -> None:
    player = deck.player()
    assert deck.rides.measured_from(player, Position(9.0, 0.0, 0.0)) == player.position
    deck.sail(8.0)
    here = player.position
    for x, begins in ((-5.0, 1.0), (1.0, 1.0), (6.0, 6.0), (9.0, 9.0), (20.0, 9.0)):
        start = deck.rides.measured_from(player, Position(x, 0.5, 2.0))
        assert start[:3] == pytest.approx((begins, 0.5, 2.0))
    # A step, or the server, puts the player to a place of its own: that one counts then.
    deck.step(player, 6.0, 0.5, 2.0)
    assert deck.rides.measured_from(player, here) == player.position
    deck.sail(9.0)
    player.move(Position(7.5, 0.5, 2.0))
    assert deck.rides.measured_from(player, here) == player.position


def test_a_turning_boat_turns_who_stands_on_it_and_a_widget_does_not(deck: Deck) -> None:
    player, captain = deck.player(0.0, 0.0, 4.0), deck.creature(4.0, 0.0, 0.0)
    deck.sail(10.0, heading=90.0)
    assert player.position == pytest.approx((14.0, 0.0, 0.0, 100.0, 0))
    assert captain.position == pytest.approx((10.0, 0.0, -4.0, 180.0, 0))
    gate = Deck(SpawnKind.WIDGET)
    beside = gate.player(0.0, 0.0, 4.0)
    gate.sail(0.0, heading=90.0)
    assert beside.position == Position(0.0, 0.0, 4.0, 10.0)
    gate.sail(1.0, heading=180.0)
    assert beside.position == Position(1.0, 0.0, 4.0, 10.0)


def test_a_transport_that_a_script_puts_elsewhere_takes_its_crew_and_no_players(
    deck: Deck,
) -> None:
    player, captain = deck.player(), deck.creature()
    deck.sail(4.0)
    deck.sail(500.0)
    assert (player.position.x, captain.position.x) == (5.0, 503.0)
    assert deck.events == [("Aldana", True), ("Aldana", False)]


def test_clients_are_sent_a_carried_creature_and_no_drifting_boat(deck: Deck) -> None:
    player, captain = deck.player(), deck.creature()
    changes: list[tuple[str, int]] = []
    for spawn in (player, captain):
        spawn.watcher = lambda one, change: changes.append((one.name, change))
    deck.now = Monotonic(deck.now + 1)
    deck.boat.drift(Position(2.0, 0.0, 0.0))
    assert changes == [("Aldana", GhostPart.POSITION), ("Captain", GhostPart.POSITION)]
    assert player.position.x == 3.0


def test_what_is_gone_neither_carries_nor_is_carried(deck: Deck) -> None:
    player, captain = deck.player(), deck.creature()
    deck.sail(4.0)
    deck.zone.remove(captain, deck.now)
    deck.rides.remove(player)
    deck.rides.remove(player)
    assert [one.name for one in deck.rides.passengers(deck.boat)] == ["Captain"]
    deck.sail(8.0)
    assert deck.rides.passengers(deck.boat) == []
    assert (player.position.x, captain.position.x) == (5.0, 7.0)
    deck.step(player, 8.0, 0.5, 0.0)
    deck.rides.ended(deck.zone)
    deck.rides.ended(deck.zone)
    assert not deck.rides.has_any(deck.zone)
    assert len(deck.rides) == 0
    assert deck.rides.measured_from(player, PLACE) == player.position
    deck.step(player, 9.0, 0.5, 0.0)
    assert not deck.rides.is_transport(deck.boat)


def test_one_of_two_transports_that_is_removed_leaves_the_other(deck: Deck) -> None:
    other = deck.put(SpawnKind.WIDGET, "lift", Position(50.0, 0.0, 0.0))
    deck.rides.add_carrier(deck.zone, other)
    deck.rides.add_carrier(deck.zone, other)
    assert len(deck.rides) == 2
    deck.rides.remove(deck.boat)
    assert deck.rides.has_any(deck.zone)
    # The least extent is two units.
    player = deck.player(51.5)
    player.move(Position(51.5, 0.5, 0.0))
    deck.now = Monotonic(deck.now + 1)
    other.move(Position(50.0, 3.0, 0.0))
    assert player.position.y == 3.5


def test_a_walk_carries_between_its_corners(deck: Deck) -> None:
    walks = Walks(timetable=timetable())
    walk = walks.of(deck.boat, deck.zone, lambda _mark: None)
    player = deck.player()
    walk.queue.append(Waypoint(Position(0.0, 20.0, 0.0), 4.0))
    walks.changed(walk, deck.now)
    deck.now = Monotonic(deck.now + 2.5)
    walk.drift(deck.now)
    assert player.position.y == pytest.approx(10.5)
    deck.now = Monotonic(deck.now + 2.5)
    walk.step(deck.now)
    assert player.position.y == pytest.approx(20.5)
    assert deck.boat.position == Position(0.0, 20.0, 0.0)


# -- seen from clients -----------------------------------------------------------------------------


def rider(scene: TravelScene, **at: float) -> None:
    scene.harness.run(0.5)
    scene.client.walk(*(PLACE._replace(y=PLACE.y + 0.5)._replace(**at))[:3])
    scene.harness.run(0.5)


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_others_see_a_player_ride_a_lift(version: int) -> None:
    scene = TravelScene(version=version)
    other = scene.harness.stand(6, version)
    lift = scene.put("widgets", LIFT)
    rider(scene)
    rider(scene)
    scene.client.log.clear()
    scene.use(lift)
    heights = []
    for _ in range(4):
        scene.harness.run(WAY_UP / 4)
        heights.append(other.fields_of("Aldana")["pos_y"])
    assert heights == sorted(heights)
    assert len(set(heights)) == 4
    assert heights[-1] == pytest.approx(TOP + 0.5)
    assert scene.player.position.y == pytest.approx(TOP + 0.5)
    # The server has not moved its own client.
    assert scene.client.decoded("WS_MoveClient") == []
    assert scene.client.fields_of(lift.name)["pos_y"] == pytest.approx(TOP)


def test_a_rider_walks_on_the_lift_and_steps_off() -> None:
    scene = TravelScene()
    lift = scene.put("widgets", LIFT)
    rider(scene)
    rider(scene)
    scene.client.log.clear()
    scene.use(lift)
    scene.harness.run(2.4)
    # The client shows the lift half a second late: its word counts, and it still rides.
    late = scene.player.position.y - 2.0
    scene.client.walk(PLACE.x - 0.5, late, PLACE.z)
    assert scene.player.position[:3] == pytest.approx((PLACE.x - 0.5, late, PLACE.z))
    scene.harness.run(WAY_UP)
    assert scene.player.position.y == pytest.approx(TOP + 0.5 - 2.0, abs=0.3)
    scene.client.walk(PLACE.x + 8.0, TOP, PLACE.z)
    scene.use(lift)
    scene.harness.run(WAY_UP)
    assert scene.player.position[:3] == pytest.approx((PLACE.x + 8.0, TOP, PLACE.z))
    assert scene.client.decoded("WS_MoveClient") == []
    assert scene.player.pace.refused == 0


def test_a_client_that_does_not_let_its_player_ride_is_believed() -> None:
    scene = TravelScene()
    lift = scene.put("widgets", dict(LIFT) | {"open_y": 900.0})
    rider(scene)
    rider(scene)
    scene.use(lift)
    scene.harness.run(60.0)
    assert scene.player.position.y > 200.0
    scene.client.walk(PLACE.x, PLACE.y + 0.5, PLACE.z + 1.0)
    assert scene.player.position[:3] == pytest.approx((PLACE.x, PLACE.y + 0.5, PLACE.z + 1.0))
    scene.harness.run(5.0)
    assert scene.player.position.y == pytest.approx(PLACE.y + 0.5)
    # From where the player is now, the place of the lift is too far away.
    scene.client.walk(PLACE.x, lift.position.y, PLACE.z)
    assert scene.player.position.y == pytest.approx(PLACE.y + 0.5)


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_a_client_may_count_its_place_from_the_transport(version: int) -> None:
    scene = TravelScene(version=version)
    other = scene.harness.stand(6, version)
    lift = scene.put("widgets", LIFT)
    rider(scene)
    index = scene.player.index_of(lift)
    for _ in range(2):
        scene.client.walk(1.0, 0.5, -1.0, activity=128 + 256, grid_location=index)
        scene.harness.run(0.3)
    on_it = (PLACE.x + 1.0, PLACE.y + 0.5, PLACE.z - 1.0)
    assert scene.player.position == pytest.approx((*on_it, scene.player.position.heading, 0))
    assert other.fields_of("Aldana")["pos_z"] == pytest.approx(PLACE.z - 1.0)
    assert scene.player.spawn.activity & 256 == 0
    # It says that it stands there although it is far away: it is not believed.
    scene.client.walk(900.0, 0.5, 0.0, activity=384, grid_location=index)
    assert scene.player.position[:3] == pytest.approx(on_it)
    # No such transport: the place is one of the zone.
    scene.client.walk(*PLACE[:3], activity=384, grid_location=9999)
    assert scene.player.position[:3] == pytest.approx(PLACE[:3])


def test_a_player_goes_on_with_a_verb_while_it_is_carried() -> None:
    scene = TravelScene()
    boat = scene.put("widgets", dict(LIFT) | {"open_x": PLACE.x + 30.0})
    bell = scene.put("objects", {}, 902)
    bell.verbs = (Verb("Ring", 100.0, "ring", cast_time=3.0),)
    rider(scene)
    rider(scene)
    scene.use(boat)
    assert "Interrupted!" not in scene.use(bell, "Ring")
    scene.harness.run(4.0)
    assert scene.player.position.x > PLACE.x + 8.0
    assert "Interrupted!" not in scene.lines()


def test_lifts_and_spawns_with_the_icon_of_a_boat_carry() -> None:
    scene = TravelScene()
    lift, door = scene.put("widgets", LIFT), scene.put("widgets", DOOR, 901)
    lever = scene.put("widgets", dict(DOOR) | {"kind": "lift", "action_spawn": 900}, 902)
    rides = scene.travel.rides
    assert [rides.is_transport(one) for one in (lift, door, lever)] == [True, False, False]
    boat = scene.put("objects", {}, 903, icon=28)
    assert rides.is_transport(boat)
    scene.travel.vanished(scene.zone, lift)
    assert len(rides) == 1
    scene.travel.ended(scene.zone)
    assert len(rides) == 0


def test_a_player_who_leaves_the_zone_rides_no_longer() -> None:
    scene = TravelScene()
    lift = scene.put("widgets", LIFT)
    rider(scene)
    rider(scene)
    assert scene.travel.rides.passengers(lift) == [scene.player.spawn]
    scene.client.say("OP_RequestCampMsg", b"\1\1")
    scene.harness.run(30.0)
    assert scene.travel.rides.passengers(lift) == []


def test_a_door_that_carries_stays_solid_when_it_is_open() -> None:
    scene = TravelScene(version=561)
    door = scene.put("widgets", DOOR)
    scene.travel.rides.add_carrier(scene.zone, door, shown=True)
    scene.harness.run(0.3)
    closed = scene.client.fields_of(door.name)["activity_status"]
    assert closed & 0x400800 == 0x400800  # solid, and a transport
    scene.use(door)
    scene.harness.run(0.3)
    assert scene.client.fields_of(door.name)["activity_status"] == closed
