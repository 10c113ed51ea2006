"""Behaviors at work, and those that misbehave."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import OutOfTime
from emu.world.behaviors.api import Actor, ZoneActor
from emu.world.reports import BehaviorFailed
from emu.world_stream.movement import Position
from tests.support.times import IDLE, waiting
from tests.support.world.worlds import Client, WorldHarness

NEAR = Position(1.56, -7.97, 243.45, 92.0)
"""Where players of the tests stand."""


class Notes:
    """A behavior that writes down what happens to it."""

    log: list[tuple[Any, ...]]

    def __init__(self, me: Any, options: Any) -> None:
        self.me = me
        self.log = options["log"]

    def on_start(self) -> None:
        self.log.append(("start",))

    def on_enter(self, visitor: Any) -> None:
        self.log.append(("enter", visitor.name))

    def on_leave(self, visitor: Any) -> None:
        self.log.append(("leave", visitor.name))

    def on_hail(self, visitor: Any) -> None:
        self.log.append(("hail", visitor.name))
        self.me.ask(visitor, "Well?", "Yes", "No")

    def on_say(self, visitor: Any, text: str) -> None:
        self.log.append(("say", visitor.name, text))

    def on_choice(self, visitor: Any, number: int) -> None:
        self.log.append(("choice", visitor.name, number))

    def on_timer(self, name: str) -> None:
        self.log.append(("timer", name))

    def on_arrive(self) -> None:
        self.log.append(("arrive",))


class Scene:
    def __init__(self, behavior: type, options: dict[str, Any] | None = None) -> None:
        self.harness = WorldHarness()
        self.harness.library._classes["test"] = behavior
        self.client: Client = self.harness.stand(5, name="Aldana")
        self.zone = self.client.player.zone
        self.spawn = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", NEAR)
        self.log: list[tuple[Any, ...]] = []
        self.options = {"log": self.log} if options is None else options
        self.zone.add_spawn(self.spawn, self.harness.now)

    def begin(self) -> None:
        self.harness.behaviors.start_behavior("test", self.options, self.zone, self.spawn)
        self.harness.run(1.5)

    def target(self) -> None:
        index = self.client.player.index_of(self.spawn)
        self.client.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))

    def failures(self) -> list[str]:
        return [event.line for event in self.harness.events if isinstance(event, BehaviorFailed)]


def test_a_visit() -> None:
    scene = Scene(Notes)
    scene.begin()
    assert scene.log == [("start",), ("enter", "Aldana")]
    scene.client.types("/say nice weather")
    scene.target()
    scene.client.types("/hail")
    [dialog] = scene.client.decoded("WS_DialogOpen")
    assert (dialog["title"], dialog["text"]) == ("Guard", "Well?")
    assert [row["response"] for row in dialog["response_array"]] == ["Yes", "No"]
    assert dialog["spawn_id"] == scene.client.player.index_of(scene.spawn)
    scene.client.say(
        "OP_DialogSelectMsg", dialog["conversation_id"].to_bytes(4, "little") + b"\1\0\0\0"
    )
    scene.client.say(
        "OP_DialogSelectMsg", dialog["conversation_id"].to_bytes(4, "little") + b"\1\0\0\0"
    )
    scene.client.say("OP_RequestCampMsg", b"\1\1")
    assert scene.log[2:] == [
        ("say", "Aldana", "nice weather"), ("hail", "Aldana"), ("choice", "Aldana", 2),
        ("leave", "Aldana"),
    ]  # fmt: skip
    assert scene.failures() == []


def test_who_walks_away_leaves() -> None:
    scene = Scene(Notes)
    scene.begin()
    scene.client.player.spawn.move(NEAR._replace(x=60.0))
    scene.harness.run(1.5)
    assert scene.log[-1] == ("leave", "Aldana")
    scene.client.types("/say anybody?")
    assert scene.log[-1] == ("leave", "Aldana")


def test_nothing_runs_where_nobody_is() -> None:
    scene = Scene(Notes)
    scene.begin()
    scene.client.say("OP_RequestCampMsg", b"\1\1")
    scene.harness.run(3.0)
    assert waiting(scene.harness.timetable) <= IDLE
    scene.harness.stand(6, name="Borvik")
    scene.harness.run(1.5)
    assert scene.log[-1] == ("enter", "Borvik")


def test_a_timer_that_is_set_when_a_player_leaves_counts_from_then() -> None:
    class Waits(Notes):
        def on_leave(self, visitor: Any) -> None:
            super().on_leave(visitor)
            self.me.after(30.0, "later")

    scene = Scene(Waits)
    scene.begin()
    scene.harness.now = Monotonic(scene.harness.now + 40.0)
    scene.harness.service.send_away(scene.client.player, "test", scene.harness.now)
    assert ("leave", "Aldana") in scene.log
    scene.harness.run(29.0)
    assert ("timer", "later") not in scene.log
    scene.harness.run(2.0)
    assert ("timer", "later") in scene.log


def test_timers_and_ways() -> None:
    class Walker(Notes):
        def on_start(self) -> None:
            self.me.after(1.0, "go")
            self.me.after(2.0, "go")

        def on_timer(self, name: str) -> None:
            super().on_timer(name)
            self.me.walk((NEAR.x + 3.0, NEAR.y, NEAR.z), (NEAR.x + 3.0, NEAR.y, NEAR.z + 4.0),
                         speed=2.0)  # fmt: skip

    scene = Scene(Walker)
    scene.begin()
    assert ("timer", "go") not in scene.log
    scene.harness.run(2.0)
    assert scene.log.count(("timer", "go")) == 1
    assert 0 < scene.spawn.position.x - NEAR.x < 3.01
    assert scene.spawn.speed == 2.0
    scene.harness.run(3.0)
    assert scene.log[-1] == ("arrive",)
    assert scene.spawn.position[:3] == pytest.approx((NEAR.x + 3.0, NEAR.y, NEAR.z + 4.0))
    assert scene.client.fields_of("Guard")["pos_x"] == pytest.approx(NEAR.x + 3.0)
    assert "pos_speed" not in scene.client.fields_of("Guard")


def raises() -> None:
    raise RuntimeError("a mistake")


def too_deep() -> None:
    too_deep()


def asks_for_nonsense(me: Any) -> None:
    me.walk((float("nan"), 0.0, 0.0))


@pytest.mark.parametrize(
    ("mistake", "reported"),
    [
        (lambda _me: raises(), r"test_host\.py, line \d+: RuntimeError: a mistake"),
        (lambda _me: too_deep(), "RecursionError"),
        (asks_for_nonsense, "ValueError: not a place"),
        (lambda me: me.walk("abc"), "ValueError"),
        (lambda me: [me.after(1.0, str(n)) for n in range(99)], "16 timers already"),
        (lambda _me: exec("1 / 0"), "ZeroDivisionError"),
    ],
)
def test_what_raises_is_switched_off_and_reported_with_its_place(
    mistake: Callable[[Any], object], reported: str
) -> None:
    class Broken(Notes):
        def on_say(self, visitor: Any, text: str) -> None:
            super().on_say(visitor, text)
            mistake(self.me)

    scene = Scene(Broken)
    scene.begin()
    scene.client.types("/say one")
    scene.client.types("/say two")
    assert scene.log[-1] == ("say", "Aldana", "one")
    [line] = scene.failures()
    assert line.startswith("behavior test of Guard is switched off: ")
    assert re.search(reported, line)
    assert not scene.client.is_closed
    assert scene.client.hears()


def test_a_behavior_that_cannot_be_made_or_found() -> None:
    class Never:
        def __init__(self, me: Any, options: Any) -> None:
            raise KeyError("path")

        def on_start(self) -> None: ...

    scene = Scene(Never)
    scene.begin()
    assert "KeyError: 'path'" in scene.failures()[0]
    assert not scene.harness.behaviors.start_behavior("no_such", {}, scene.zone, scene.spawn)
    assert "there is no such behavior" in scene.failures()[1]


def test_who_takes_too_long_is_switched_off() -> None:
    class Slow(Notes):
        def on_say(self, visitor: Any, text: str) -> None:
            super().on_say(visitor, text)
            scene.harness.watch += 5.0

    scene = Scene(Slow)
    scene.begin()
    scene.client.types("/say one")
    scene.client.types("/say two")
    assert scene.log[-1] == ("say", "Aldana", "one")
    assert "took longer than 0.25 s" in scene.failures()[0]


def test_who_is_interrupted_is_reported_with_its_place() -> None:
    class Endless(Notes):
        def on_say(self, visitor: Any, text: str) -> None:
            raise OutOfTime

    scene = Scene(Endless)
    scene.begin()
    scene.client.types("/say one")
    assert "test_host.py, line" in scene.failures()[0]
    assert "took longer" in scene.failures()[0]


class NeedsMore(Notes):
    def __init__(self, me: Any) -> None:
        super().__init__(me, {"log": []})


class NotMade:
    def on_start(self) -> None: ...


class ForNobody(Notes):
    def on_start(self, visitor: Any) -> None:  # type: ignore[override]  # the fault under test
        super().on_start()


class FarAway(Notes):
    near = "far"


@pytest.mark.parametrize("behavior", [NeedsMore, NotMade, ForNobody, FarAway])
def test_a_call_that_does_not_reach_the_behavior_names_its_file(behavior: type) -> None:
    scene = Scene(behavior)
    scene.begin()
    (line,) = scene.failures()
    assert "test_host.py, line" in line
    assert "/host.py, line" not in line


def test_a_reload_begins_again() -> None:
    scene = Scene(Notes)
    scene.begin()
    again = type("Again", (Notes,), {})
    keep = scene.harness.library.reload
    scene.harness.library.reload = lambda: (
        keep(),
        scene.harness.library._classes.update(test=again),
    )[0]
    answer = scene.harness.behaviors.reload()
    assert "1 running, 0 problems" in answer
    assert scene.log.count(("start",)) == 2
    scene.harness.run(1.5)
    assert scene.log[-1] == ("enter", "Aldana")


def test_a_zone_can_have_a_behavior() -> None:
    scene = Scene(Notes)
    scene.spawn = None  # type: ignore[assignment]
    scene.begin()
    assert scene.log == [("start",), ("enter", "Aldana")]
    other = scene.harness.stand(6, name="Borvik")
    assert scene.log[-1] == ("enter", "Borvik")
    other.say("OP_RequestCampMsg", b"\1\1")
    assert scene.log[-1] == ("leave", "Borvik")
    scene.harness.behaviors.forget_zone(scene.zone)
    scene.client.types("/say hello")
    assert scene.log[-1] == ("leave", "Borvik")


def test_a_behavior_knows_nothing_of_a_hidden_player() -> None:
    scene = Scene(Notes)
    scene.begin()
    master = scene.harness.stand(6, name="Boss", admin_status=100)
    scene.harness.run(1.5)
    assert scene.log[1:] == [("enter", "Aldana"), ("enter", "Boss")]
    master.types("/hide")
    scene.harness.run(1.5)
    assert scene.log[3:] == [("leave", "Boss")]
    actor = Actor(scene.harness.behaviors._of_spawn[scene.spawn.id], scene.spawn,
                  scene.harness.behaviors.context)  # fmt: skip
    assert [visitor.name for visitor in actor.visitors(100.0)] == ["Aldana"]
    zone = ZoneActor(
        scene.harness.behaviors._of_spawn[scene.spawn.id], scene.harness.behaviors.context
    )
    assert [visitor.name for visitor in zone.visitors()] == ["Aldana"]


def test_a_zone_that_has_ended_stays_forgotten_when_behaviors_begin_again() -> None:
    scene = Scene(Notes)
    scene.begin()
    behaviors = scene.harness.behaviors
    behaviors.forget_zone(scene.zone)
    scene.log.clear()
    assert behaviors.restart() == 0
    scene.target()
    scene.client.types("/hail")
    scene.client.types("/say hello")
    scene.harness.run(5.0)
    assert scene.log == []
    assert waiting(scene.harness.timetable) <= IDLE


def test_a_zone_with_nothing_in_it_can_end() -> None:
    scene = Scene(Notes)
    scene.harness.behaviors.forget_zone(scene.zone)
    scene.begin()
    assert scene.log[0] == ("start",)
