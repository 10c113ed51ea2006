"""Behaviors that make mistakes, or mean harm: nobody else notices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import OutOfTime
from emu.world.reports import BehaviorFailed, BehaviorPaced, BehaviorSlowed
from emu.world_stream.movement import Position
from tests.support.world.worlds import Client, WorldHarness

NEAR = Position(1.56, -7.97, 243.45, 92.0)


class Quiet:
    """A behavior that does what a test says when somebody speaks."""

    act: Callable[[Any, Any], object]

    def __init__(self, me: Any, options: Any) -> None:
        self.me = me
        self.act = options["act"]

    def on_say(self, visitor: Any, _text: str) -> None:
        self.act(self.me, visitor)


class Scene:
    """Two players beside a spawn, and beside another one that works well."""

    def __init__(self, act: Callable[[Any, Any], object], kind: type = Quiet) -> None:
        self.harness = WorldHarness()
        self.harness.library._classes["test"] = kind
        self.one: Client = self.harness.stand(5, name="Aldana")
        self.two: Client = self.harness.stand(6, name="Borvik")
        assert self.one.player is not None
        self.zone = self.one.player.zone
        self.spawn = self.put("Guard", "test", {"act": act})
        self.put("Greeter", "greeter", {"greeting": "Hail!"})
        self.harness.run(1.5)

    def put(self, name: str, behavior: str, options: dict[str, Any]) -> Spawn:
        spawn = Spawn(self.harness.world.zones.next_spawn_id(), SpawnKind.NPC, name, NEAR)
        self.zone.add_spawn(spawn, self.harness.now)
        self.harness.behaviors.start_behavior(behavior, options, self.zone, spawn)
        return spawn

    def failures(self) -> list[str]:
        return [event.line for event in self.harness.events if isinstance(event, BehaviorFailed)]

    def all_is_well(self) -> None:
        """Nobody was harmed: players see each other move, and one who returns can enter."""
        player = self.one.player
        assert player is not None
        assert all(map(math.isfinite, player.position[:4]))
        player.spawn.move(player.position._replace(x=player.position.x + 0.25))
        self.harness.run(0.3)
        shown = self.two.fields_of("Aldana")["pos_x"]
        assert shown == pytest.approx(player.position.x)
        assert not self.one.is_closed
        assert not self.two.is_closed
        self.one.say("OP_RequestCampMsg", b"\1\1")
        again = self.harness.stand(5)
        assert again.player is not None
        again.say("OP_RequestCampMsg", b"\1\1")
        assert not self.harness.world.faults.counts


class Strange:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("a hostile attribute")

    def __str__(self) -> str:
        raise RuntimeError("a hostile text")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a hostile comparison")

    def __hash__(self) -> int:
        raise RuntimeError("a hostile hash")


class StrangeText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise SystemExit

    def __format__(self, spec: str) -> str:
        raise SystemExit

    def __eq__(self, other: object) -> bool:
        raise SystemExit

    def __hash__(self) -> int:
        raise SystemExit

    def __getitem__(self, key: Any) -> str:
        raise SystemExit

    def isprintable(self) -> bool:
        raise SystemExit

    def encode(self, *_values: Any) -> bytes:
        raise SystemExit


class StrangeError(Exception):
    def __str__(self) -> str:
        raise SystemExit

    def __getattribute__(self, name: str) -> Any:
        raise SystemExit


class StrangeOutOfTime(OutOfTime):
    def __init__(self) -> None:
        self.place = StrangeText("x")  # type: ignore[assignment]


def made_of(value: Any) -> Any:
    """Return what a test is to use: pytest itself must not touch what is hostile."""
    return value() if value is Strange else value


def raises(error: Any) -> None:
    raise error


BAD_NUMBERS: list[Any] = [
    math.nan, math.inf, -math.inf, 1e300, 10**400, -(10**400), "1", None, b"1", Strange, [], 33_000,
]  # fmt: skip
BAD_TEXTS: list[Any] = [None, 5, b"bytes", Strange, ["a"], math.nan]


@pytest.mark.slow
@pytest.mark.parametrize("value", BAD_NUMBERS)
@pytest.mark.parametrize(
    "use",
    [
        lambda _me, visitor, n: visitor.move_to(n, 0.0, 0.0),
        lambda _me, visitor, n: visitor.move_to(0.0, n, 0.0),
        lambda _me, visitor, n: visitor.move_to(0.0, 0.0, n, 5.0),
        lambda me, _visitor, n: me.walk((0.0, 0.0, n)),
        lambda _me, visitor, n: visitor.send_to("Antonica", (n, 0.0, 0.0)),
    ],
)
def test_a_coordinate_that_is_none(use: Callable[..., object], value: Any) -> None:
    scene = Scene(lambda me, visitor: use(me, visitor, made_of(value)))
    scene.one.types("/say go")
    assert len(scene.failures()) == 1
    scene.all_is_well()


@pytest.mark.parametrize("value", [one for one in BAD_NUMBERS if one is not None and one != 33_000])
@pytest.mark.parametrize(
    "use",
    [
        lambda _me, visitor, n: visitor.move_to(0.0, 0.0, 0.0, heading=n),
        lambda me, _visitor, n: me.walk((0.0, 0.0, 0.0), speed=n),
        lambda me, _visitor, n: me.after(n, "later"),
    ],
)
def test_a_number_that_is_none(use: Callable[..., object], value: Any) -> None:
    scene = Scene(lambda me, visitor: use(me, visitor, made_of(value)))
    scene.one.types("/say go")
    assert len(scene.failures()) == 1
    scene.all_is_well()


@pytest.mark.slow
@pytest.mark.parametrize("value", BAD_TEXTS)
@pytest.mark.parametrize(
    "use",
    [
        lambda me, _visitor, text: me.say(text),
        lambda me, _visitor, text: me.emote(text),
        lambda _me, visitor, text: visitor.tell(text),
        lambda me, visitor, text: me.ask(visitor, text),
        lambda me, visitor, text: me.ask(visitor, "Well?", text),
        lambda me, _visitor, text: me.after(1.0, text),
        lambda _me, visitor, text: visitor.give_title(text),
        lambda me, _visitor, other: me.look_at(other),
        lambda me, _visitor, other: me.ask(other, "Well?"),
    ],
)
def test_a_text_or_visitor_that_is_none(use: Callable[..., object], value: Any) -> None:
    scene = Scene(lambda me, visitor: use(me, visitor, made_of(value)))
    scene.one.types("/say go")
    assert len(scene.failures()) == 1
    scene.all_is_well()


@pytest.mark.parametrize(
    "use",
    [
        lambda me, visitor: me.say(StrangeText("hello")),
        lambda me, visitor: visitor.tell(StrangeText("hello\x00\ud800")),
        lambda me, visitor: me.ask(visitor, StrangeText("hello"), StrangeText("yes")),
        lambda me, visitor: me.after(1.0, StrangeText("later")),
        lambda me, visitor: visitor.give_title(StrangeText("the Brave")),
        lambda me, visitor: visitor.move_to(True, False, 1),
        lambda me, visitor: me.say("x" * 10_000_000),
        lambda me, visitor: visitor.tell("\n" * 5000),
        lambda me, visitor: me.ask(visitor, "?", *["answer"] * 10_000),
        lambda me, visitor: me.walk(*[(1.0, 2.0, 3.0)] * 10_000),
        lambda me, visitor: me.visitors(math.inf),
    ],
)
def test_what_can_be_used_is_used_as_plain_values(use: Callable[..., object]) -> None:
    scene = Scene(use)
    scene.one.types("/say go")
    scene.harness.run(2.0)
    assert scene.failures() == []
    scene.all_is_well()


@pytest.mark.parametrize(
    "error",
    [
        StrangeError, StrangeOutOfTime, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError,
        RecursionError, StopIteration,
        lambda: ValueError(StrangeText("x")),
        lambda: ValueError("x" * 100_000),
        lambda: ValueError("\ud800\n\x1b[2J"),
        lambda: OutOfTime("somewhere"),
    ],
)  # fmt: skip
def test_its_exception_is_reported_in_one_short_line(
    error: Callable[[], BaseException],
) -> None:
    scene = Scene(lambda _me, _visitor: raises(error()))
    scene.one.types("/say go")
    [line] = scene.failures()
    assert len(line) < 1000
    assert line.isprintable()
    scene.all_is_well()


class StrangeAttributes(Quiet):
    """Cannot be asked for its handlers."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class LateHandler(Quiet):
    @property
    def on_hail(self) -> Any:
        raise SystemExit


class StrangeNear(Quiet):
    near = Strange()


class NoNear(Quiet):
    near = math.nan


class StrangeTick(Quiet):
    tick = math.inf


@pytest.mark.parametrize("kind", [StrangeAttributes, LateHandler, StrangeNear, NoNear, StrangeTick])
def test_a_behavior_that_cannot_be_looked_at(kind: type) -> None:
    scene = Scene(lambda _me, _visitor: None, kind)
    assert len(scene.failures()) == 1
    scene.one.types("/say go")
    scene.harness.run(3.0)
    assert len(scene.failures()) == 1
    scene.all_is_well()


def test_what_it_leaves_behind_ends_inside_the_guard() -> None:
    inside: list[bool] = []
    scene = Scene(lambda _me, _visitor: None)
    budget = scene.harness.behaviors._budget

    class Left:
        def __del__(self) -> None:
            inside.append(budget.is_spent_on)

    def act(_me: Any, _visitor: Any) -> None:
        left = Left()
        raise ValueError(left)

    class Held(Quiet):
        def __init__(self, me: Any, options: Any) -> None:
            super().__init__(me, options)
            self.held = Left()

    scene.harness.library._classes["held"] = Held
    scene.put("Other", "held", {"act": act})
    scene.one.types("/say go")
    scene.harness.behaviors.forget_zone(scene.zone)
    assert inside
    assert all(inside)


@pytest.mark.parametrize("how", ["say", "emote", "tell", "ask", "move_to", "give_title"])
def test_output_in_a_loop_is_paced_and_reported_once(how: str) -> None:
    def act(me: Any, visitor: Any) -> None:
        for number in range(5000):
            if how in ("say", "emote"):
                getattr(me, how)("spam" * 100)
            elif how == "ask":
                me.ask(visitor, "spam", "yes")
            elif how == "move_to":
                visitor.move_to(1.0, 2.0, 240.0)
            elif how == "give_title":
                visitor.give_title(f"title {number}")
            else:
                visitor.tell("spam")

    scene = Scene(act)
    limits = scene.harness.behaviors.limits
    scene.harness.run(30.0)
    before = len(scene.one.log)
    scene.one.types("/say go")
    sent = len(scene.one.log) - before
    assert limits.say_burst <= sent <= 2 * limits.say_burst + 5
    scene.two.types("/say and again")
    [paced] = [event for event in scene.harness.events if isinstance(event, BehaviorPaced)]
    assert paced.behavior == "test"
    assert paced.whose == "Guard"
    assert scene.harness.behaviors.counters["dropped"] > 4000
    assert scene.failures() == []
    scene.all_is_well()


def test_pace_at_the_limit_and_one_past_it() -> None:
    said: list[int] = []

    def act(me: Any, _visitor: Any) -> None:
        for _ in range(said[0]):
            me.say("hello")

    scene = Scene(act)
    burst = scene.harness.behaviors.limits.say_burst
    for count, heard in ((burst, burst), (burst + 1, burst)):
        scene.harness.run(60.0)
        said[:] = [count]
        scene.two.hears()
        scene.one.types("/say go")
        assert len([one for one in scene.two.hears() if one[1] == "Guard"]) == heard
    scene.harness.run(1.0)
    scene.one.types("/say go")
    rate = scene.harness.behaviors.limits.say_rate
    assert len([one for one in scene.two.hears() if one[1] == "Guard"]) in (rate, rate + 1)


def test_many_behaviors_together_do_not_flood_one_player() -> None:
    scene = Scene(lambda me, _visitor: [me.say("spam") for _ in range(100)])
    for number in range(30):
        scene.put(
            f"Guard {number}", "test", {"act": lambda me, _v: [me.say("x") for _ in range(99)]}
        )
    scene.harness.run(60.0)
    scene.two.hears()
    scene.one.types("/say go")
    heard = [one for one in scene.two.hears() if one[1].startswith("Guard")]
    assert len(heard) == scene.harness.behaviors.limits.hear_burst


@pytest.mark.slow
def test_one_zone_may_send_all_a_text() -> None:
    """The pace counts for each player, so every player of a crowd is answered like a single one."""
    harness = WorldHarness()
    harness.library._classes["test"] = Quiet
    clients = [harness.stand(number, name=f"P{number}x") for number in range(5, 45)]
    zone = clients[0].player.zone  # type: ignore[union-attr]

    def act(me: Any, _visitor: Any) -> None:
        for visitor in me.visitors():
            visitor.tell("a storm is coming")

    harness.behaviors.start_behavior("test", {"act": act}, zone, None)
    clients[0].types("/say go")
    for client in clients:
        assert client.decoded("WS_DisplayText")[-1]["text"] == "a storm is coming"


def test_a_player_has_a_bounded_number_of_dialogs_open() -> None:
    scene = Scene(lambda me, visitor: me.ask(visitor, "Well?", "yes"))
    for _ in range(100):
        scene.one.types("/say go")
        scene.harness.run(1.0)
    assert len(scene.harness.minds.conversations) == scene.harness.behaviors.limits.dialogs
    scene.one.say("OP_RequestCampMsg", b"\1\1")
    assert len(scene.harness.minds.conversations) == 0


def test_a_player_who_is_sent_to_a_zone_goes_when_the_call_is_over() -> None:
    seen: list[str] = []

    def act(_me: Any, visitor: Any) -> None:
        visitor.send_to(12)
        visitor.send_to("Antonica")
        assert scene.one.player is not None
        seen.append(scene.one.player.state.name)

    scene = Scene(act)
    scene.one.types("/say go")
    assert seen == ["STANDING"]
    assert scene.one.player is not None
    assert scene.one.player.state.name == "ZONING"
    assert scene.failures() == []
    assert not scene.harness.world.faults.counts


def test_time_that_is_up_is_noticed_by_what_the_behavior_calls() -> None:
    reached: list[int] = []

    def act(me: Any, _visitor: Any) -> None:
        scene.harness.watch += 1.0
        me.say("too late")
        reached.append(1)

    scene = Scene(act)
    scene.two.hears()
    scene.one.types("/say go")
    assert not reached
    assert [one for one in scene.two.hears() if one[1] == "Guard"] == []
    assert "took longer" in scene.failures()[0]


def test_one_behavior_whose_walk_fails_does_not_stop_the_others() -> None:
    scene = Scene(lambda me, _visitor: me.walk((3.0, 0.0, 240.0)))

    def watcher(_spawn: Spawn, _change: int) -> None:
        raise RuntimeError("our own mistake")

    scene.one.types("/say go")
    scene.spawn.watcher = watcher
    other = scene.put("Other", "test", {"act": lambda me, _visitor: me.walk((3.0, 0.0, 240.0))})
    scene.two.types("/say go")
    scene.harness.run(5.0)
    assert other.position.x == pytest.approx(3.0)
    assert scene.harness.world.faults.counts["the timer of a behavior"] == 1
    assert len(scene.failures()) == 1
    assert scene.harness.behaviors.switched_off() == scene.failures()


class Busy:
    """Works for 0.2 s in every tick, which is within the time of one call."""

    tick = 0.1

    def __init__(self, _me: Any, options: Any) -> None:
        self.work = options["act"]

    def on_tick(self, _seconds: float) -> None:
        self.work(None, None)


def test_a_behavior_that_works_long_in_each_tick_gets_its_share_of_time_only() -> None:
    calls, harnesses = 0, []

    def act(_me: Any, _visitor: Any) -> None:
        nonlocal calls
        for harness in harnesses:
            calls += 1
            harness.watch += 0.2

    scene = Scene(act, Busy)
    limits = scene.harness.behaviors.limits
    harnesses.append(scene.harness)
    scene.harness.run(60.0)
    assert 60.0 * limits.share * 0.8 <= 0.2 * calls <= 60.0 * limits.share + limits.reserve + 0.2
    slowed = [event for event in scene.harness.events if isinstance(event, BehaviorSlowed)]
    assert [(event.behavior, event.whose) for event in slowed] == [("test", "Guard")]
    assert "5 % of the time" in str(slowed[0])
    assert scene.failures() == []
    scene.all_is_well()


def test_an_absent_player_is_asked_nothing() -> None:
    asked: list[Any] = []
    scene = Scene(lambda me, visitor: asked.append((me, visitor)))
    scene.one.types("/say go")
    player = scene.one.player
    assert player is not None
    scene.harness.departures.link_lost(player, "gone", scene.harness.now)
    me, visitor = asked[0]
    me.ask(visitor, "Well?", "yes")
    assert len(scene.harness.minds.conversations) == 0
    assert scene.failures() == []
