"""Hails and lines: which mind is called, from how far, and what a fault of one engine does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Hailed, Spoken
from emu.world.minds.hearing import HearingReach
from emu.world.minds.walks import Waypoint
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.world.worlds import WorldHarness

PLACE = Position(3.0, -7.97, 243.45, 0.0)


class Ears:
    """An engine whose minds are the names of spawns."""

    def __init__(self, minds: dict[Spawn, str], distance: float, *, stands: bool = False) -> None:
        self.minds = minds
        self.reach = HearingReach(distance, has_height=False)
        self.stands = stands
        self.fails = False
        self.calls: list[tuple[str, ...]] = []

    def mind_of(self, _zone: Zone, spawn: Spawn) -> str | None:
        return self.minds.get(spawn)

    def listeners(self, _zone: Zone, _target: Spawn | None) -> Iterable[tuple[Spawn | None, str]]:
        return [(None, "zone"), *self.minds.items()]

    def hailed(self, mind: Any, _player: Player) -> bool:
        if self.fails:
            raise ValueError
        self.calls.append(("hail", mind))
        return self.stands

    def heard(self, mind: Any, _player: Player, text: str) -> None:
        self.calls.append((text, mind))


class Square:
    """A player between a near and a far spawn."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        client = self.harness.stand(5, name="Aldana")
        assert client.player is not None
        self.player = client.player
        self.player.teleport(PLACE, self.harness.now)
        self.near, self.far = self.put("Near", 5.0), self.put("Far", 40.0)

    def put(self, name: str, away: float) -> Spawn:
        at = PLACE._replace(x=PLACE.x + away)
        spawn = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, at)
        self.player.zone.add_spawn(spawn, self.harness.now)
        return spawn

    def ears(self, *spawns: Spawn, distance: float = 10.0, **values: bool) -> Ears:
        made = Ears({spawn: spawn.name for spawn in spawns}, distance, **values)
        self.harness.minds.hearing.add_engine(made)
        return made

    def hail(self, target: Spawn) -> None:
        self.harness.world.events.publish(Hailed(self.player, "Hail", target))


@pytest.fixture
def square() -> Square:
    return Square()


def test_a_hail_reaches_its_target_if_that_is_near(square: Square) -> None:
    ears = square.ears(square.near, square.far)
    square.hail(square.far)
    assert ears.calls == []
    square.hail(square.near)
    assert ears.calls == [("hail", "Near")]


def test_a_hail_of_an_actor_of_nobody_is_a_line(square: Square) -> None:
    ears = square.ears(square.near)
    square.hail(square.far)
    assert ears.calls == [("Hail", "zone"), ("Hail", "Near")]


def test_a_line_reaches_all_who_are_near(square: Square) -> None:
    ears = square.ears(square.near, square.far)
    square.harness.world.events.publish(Spoken(square.player, "nice day", square.far))
    assert ears.calls == [("nice day", "zone"), ("nice day", "Near")]


def test_a_fault_of_one_engine_does_not_stop_the_next(square: Square) -> None:
    first, second = square.ears(square.near), square.ears(square.near)
    first.fails = True
    square.hail(square.near)
    assert second.calls == [("hail", "Near")]
    assert square.harness.world.faults.counts["a hail"] == 1


@pytest.mark.parametrize("stands", [True, False])
def test_an_engine_says_whether_a_hail_stops_an_actor(square: Square, *, stands: bool) -> None:
    square.ears(square.near, distance=50.0, stands=stands)
    mover = square.harness.minds.moves.of(square.near, square.player.zone, lambda _mark: None)
    way = PLACE._replace(x=PLACE.x + 50.0)
    mover.go(Waypoint(way, 2.0), at_once=True)
    square.harness.run(1.0)
    square.hail(square.near)
    assert mover.is_going is not stands
    square.harness.run(6.0)
    assert mover.is_going


def test_a_reach_counts_height_or_not(square: Square) -> None:
    square.near.position = PLACE._replace(y=PLACE.y + 20.0)
    assert HearingReach(10.0, has_height=False).holds(square.near, square.player)
    assert not HearingReach(10.0, has_height=True).holds(square.near, square.player)
