"""A mistake with one actor, zone or listener goes no further: everybody else's time goes on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import Behaviors
from emu.world.events import Arrived, Entered, GameEvent, LeftWorld, LeftZone, Order, Spoken
from emu.world.reports import ActorPaused, Fault
from emu.world.saving.saves import PlayerSaves
from emu.world.visibility import baselines, fields
from emu.world.visibility.viewer import Viewer
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness

HERE = Position(3.0, -7.97, 243.45, 0.0)
OTHER_ZONE = 12


class Mistake(Exception):
    """What is raised."""


def faults(harness: WorldHarness) -> list[Fault]:
    return [event for event in harness.events if isinstance(event, Fault)]


def walks(client: Client, harness: WorldHarness) -> float:
    """Move somebody a little; returns where it is then."""
    player = client.player
    assert player is not None
    player.spawn.move(player.position._replace(x=player.position.x + 0.25))
    harness.run(0.3)
    return player.position.x


def put(harness: WorldHarness, zone: Zone, name: str) -> Spawn:
    spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, HERE)
    zone.add_spawn(spawn, harness.now)
    harness.run(0.3)
    return spawn


def fails_for(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that raises whenever its first argument has a name."""

    def call(first: Any, *values: Any, **named: Any) -> Any:
        if getattr(first, "name", "") == name or getattr(first, "spawn", None) == name:
            raise Mistake
        return original(first, *values, **named)

    return call


class Street:
    """Two players and a spawn in one zone, one player in another."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        self.one = self.harness.stand(5, name="Aldana")
        self.two = self.harness.stand(6, name="Borvik")
        self.far = self.harness.stand(7, name="Corin", zone_id=OTHER_ZONE)
        self.far_too = self.harness.stand(8, name="Dorin", zone_id=OTHER_ZONE)
        assert self.one.player is not None
        self.zone: Zone = self.one.player.zone
        self.guard = put(self.harness, self.zone, "Guard")

    def goes_on(self) -> None:
        """Everybody is shown what the others do, in both zones."""
        x = walks(self.one, self.harness)
        assert self.two.fields_of("Aldana")["pos_x"] == pytest.approx(x)
        self.goes_on_afar()

    def goes_on_afar(self) -> None:
        x = walks(self.far, self.harness)
        assert self.far_too.fields_of("Corin")["pos_x"] == pytest.approx(x)


def test_a_spawn_that_cannot_be_encoded_is_paused_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    street = Street()
    harness = street.harness
    with monkeypatch.context() as patch:
        patch.setattr(baselines, "info_fields", fails_for(fields.info_fields, "Broken"))
        broken = put(harness, street.zone, "Broken")
        for _ in range(10):
            street.goes_on()
        assert street.zone.paused_actors() == ["Broken"]
        assert "Broken" not in street.two.sees()
        [paused] = [event for event in harness.events if isinstance(event, ActorPaused)]
        assert paused.actor == "Broken"
        assert paused.failures == 3
        assert len(faults(harness)) <= 3 * 2
        count = harness.world.faults.counts["encoding a spawn"]
        harness.run(5.0)
        assert harness.world.faults.counts["encoding a spawn"] == count, "it is left alone"
    harness.run(31.0)
    assert "Broken" in street.two.sees()
    assert street.zone.paused_actors() == []
    broken.set_info(level=7)
    harness.run(0.3)
    assert street.two.fields_of("Broken")["level"] == 7


def test_a_spawn_that_changes_and_cannot_be_encoded_keeps_nobody_from_seeing_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    street = Street()
    with monkeypatch.context() as patch:
        patch.setattr(baselines, "position_fields", fails_for(fields.position_fields, "Guard"))
        for step in range(10):
            street.guard.move(HERE._replace(x=HERE.x + step))
            street.goes_on()
    street.harness.run(31.0)
    street.guard.move(HERE._replace(x=HERE.x + 20))
    street.harness.run(0.3)
    assert street.two.fields_of("Guard")["pos_x"] == pytest.approx(HERE.x + 20)


@pytest.mark.parametrize("what", ["flush", "send_ghost", "hide"])
def test_a_view_that_fails_is_its_own_trouble(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    street = Street()
    harness = street.harness
    assert street.one.player is not None
    mine = street.one.player.spawn
    with monkeypatch.context() as patch:
        original = getattr(Viewer, what)

        def call(viewer: Viewer, *values: Any) -> Any:
            if viewer.spawn is mine:
                raise Mistake
            return original(viewer, *values)

        patch.setattr(Viewer, what, call)
        for _ in range(10):
            street.goes_on()
            other = put(harness, street.zone, "Passer-by")
            assert "Passer-by" in street.two.sees()
            street.zone.remove(other, harness.now)
            assert "Passer-by" not in street.two.sees()
        assert street.zone.paused_actors() == (["Aldana"] if what == "flush" else [])
    harness.run(31.0)
    street.guard.move(HERE._replace(x=9.0))
    harness.run(0.3)
    assert street.one.fields_of("Guard")["pos_x"] == pytest.approx(9.0)


def test_a_zone_that_always_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    street = Street()
    harness, zones = street.harness, street.harness.zones
    street.goes_on()
    with monkeypatch.context() as patch:
        original = zones.tick
        ticks: list[float] = []

        def tick(zone: Zone, now: Any) -> None:
            if zone is street.zone:
                ticks.append(now)
                raise Mistake
            original(zone, now)

        patch.setattr(zones, "tick", tick)
        walks(street.one, harness)
        for _ in range(5):
            street.goes_on_afar()
        harness.run(60.0)
        assert len(ticks) < 30, "it is tried less and less often"
        assert max(later - one for one, later in pairwise(ticks)) <= 5.01
        [(zone, reason)] = zones.stalled(harness.now)
        assert zone is street.zone
        assert "times in a row" in reason
        street.goes_on_afar()
        assert harness.world.faults.counts["ticking a zone"] == len(ticks)
    harness.run(6.0)
    assert zones.stalled(harness.now) == []
    street.goes_on()


def test_a_zone_is_stalled_from_the_limit_on(monkeypatch: pytest.MonkeyPatch) -> None:
    street = Street()
    zones = street.harness.zones
    failures = list[object]()

    def fail(zone: object, _now: object) -> None:
        failures.append(zone)
        fails_for(print, "")(zone)

    monkeypatch.setattr(zones, "tick", fail)
    street.guard.move(HERE._replace(x=1.0))
    limit = zones.rules.stalled_failures
    while len(failures) <= limit:
        due = zones.timetable.get_timer()  # of the zone, or of something else in the world
        assert due is not None
        zones.timetable.handle_timer(due)
        assert bool(zones.stalled(due)) == (len(failures) >= limit)


def test_a_zone_whose_tick_is_overdue_is_stalled() -> None:
    street = Street()
    street.guard.move(HERE._replace(x=1.0))
    due, after = street.zone.next_tick(), street.harness.zones.rules.stalled_after
    assert due is not None
    assert street.harness.zones.stalled(due + after) == []  # type: ignore[arg-type]
    [(zone, reason)] = street.harness.zones.stalled(due + after + 0.01)  # type: ignore[arg-type]
    assert zone is street.zone
    assert "late" in reason


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Behaviors, "left"),
        (Zones, "_tick"),
        (PlayerSaves, "save"),
        (Zones, "end"),
    ],
)
def test_one_part_of_the_world_that_raises_does_not_stop_the_rest(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    street = Street()
    with monkeypatch.context() as patch:
        original = getattr(owner, name)
        calls: list[int] = []

        def call(*values: Any, **named: Any) -> Any:
            calls.append(1)
            if len(calls) <= 2:
                raise Mistake
            return original(*values, **named)

        patch.setattr(owner, name, call)
        street.goes_on()
        for client in (street.far, street.far_too):
            client.say("OP_RequestCampMsg", b"\1\1")
        street.harness.run(400.0)
        assert len(calls) > 2
    assert street.harness.world.faults.counts.total() >= 1
    x = walks(street.one, street.harness)
    assert street.two.fields_of("Aldana")["pos_x"] == pytest.approx(x)


def test_a_save_that_raises_is_made_again_when_the_next_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = WorldHarness()
    client = harness.stand(5, name="Aldana")
    assert client.player is not None
    harness.run(5.0)
    with monkeypatch.context() as patch:

        def refuse(work: Coroutine[Any, Any, None]) -> None:
            work.close()
            raise Mistake

        patch.setattr(harness.world, "start", refuse)
        client.player.spawn.move(client.player.position._replace(x=2.5))
        harness.run(60.0)
    harness.run(61.0)
    place = harness.store.rows[5].place
    assert place is not None
    assert place[0] == 2.5


@pytest.mark.parametrize("kind", [Spoken, Entered, Arrived, LeftWorld, LeftZone])
def test_a_listener_that_raises_keeps_no_other_from_hearing(kind: type[GameEvent]) -> None:
    harness = WorldHarness()
    heard: list[Any] = []

    def fails(*_values: Any) -> None:
        raise Mistake

    events = harness.world.events
    events.subscribe(kind, fails, Order.OWNER)
    events.subscribe(kind, heard.append, Order.RECORDS)
    client = harness.stand(5, name="Aldana")
    client.types("/say hello")
    client.say("OP_RequestCampMsg", b"\1\1")
    assert heard
    assert all(isinstance(fault.error, Mistake) for fault in faults(harness))
    assert harness.world.players.get(5) is None


def test_reporting_that_raises_is_counted_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = WorldHarness()
    monkeypatch.setattr(harness.world.faults, "report", fails_for(print, ""))
    assert not harness.world.faults.attempt("a task", None, fails_for(print, ""), "")
    assert harness.world.faults.counts == {"a task": 1, "reporting": 1}


def test_a_zone_that_cannot_be_filled_lets_players_in(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = WorldHarness()
    monkeypatch.setattr(harness.zones, "populate", lambda *_values: fails_for(print, "")(""))
    client = harness.stand(5, name="Aldana")
    assert client.player is not None
    assert harness.world.faults.counts["filling a zone"] == 1
