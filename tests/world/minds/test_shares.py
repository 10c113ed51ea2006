"""The share of the processor of scripts: timers wait, players are answered."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from emu.times import Monotonic
from emu.world.minds.shares import (
    FORGOTTEN_AFTER,
    MESSAGES,
    MESSAGES_AT_ONCE,
    MOST_SENDERS,
    MOST_WAITING,
    OF_PLAYERS,
    TURN,
    ScriptShares,
    Shares,
)
from tests.support.times import timetable
from tests.support.world.script_scenes import ScriptScene

RULES = ScriptShares(file=0.05, all=0.2, reserve=0.1, all_reserve=0.5)


class Bench:
    """Shares with a clock of the test, and what they have done."""

    def __init__(self) -> None:
        self.now = Monotonic(100.0)
        self.slowed: list[str] = []
        self.done: list[str] = []
        self.counters: Counter[str] = Counter()
        self.timetable = timetable()
        self.shares = Shares(
            rules=RULES, timetable=self.timetable, now=lambda: self.now,
            slowed=lambda path, text: self.slowed.append(f"{path}: {text}"),
            counters=self.counters,
        )  # fmt: skip

    def work(self, path: str, seconds: float) -> None:
        self.done.append(path)
        self.shares.used(path, seconds)

    def ask(self, path: str, seconds: float = 0.01) -> None:
        self.shares.do(path, partial(self.work, path, seconds))

    def run(self, seconds: float, step: float = 0.001) -> None:
        """Let time pass, with a turn whenever something is due."""
        end = self.now + seconds
        while self.now < end:
            due = self.timetable.get_timer()
            if due is not None and due <= self.now:
                self.timetable.handle_timer(self.now)
            self.now = Monotonic(self.now + step)


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return ScriptScene(tmp_path)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_turn_ends_after_a_few_milliseconds(bench: Bench) -> None:
    for _ in range(3):
        bench.ask("a.lua", TURN / 2)
    assert len(bench.done) == 2
    assert bench.shares.is_turn_over
    assert bench.timetable.get_timer() == bench.now, "the rest follows in the next turn"
    bench.timetable.handle_timer(bench.now)
    assert len(bench.done) == 3
    assert not bench.slowed


def test_a_file_gets_its_share_and_others_are_not_late(bench: Bench) -> None:
    for _ in range(64):
        bench.ask("slow.lua", 0.011)
    bench.run(10.0)
    # The reserve of 0.1 s, and 5 % of ten seconds.
    assert 0.5 <= len(bench.done) * 0.011 <= 0.65
    bench.timetable.handle_timer(bench.now)
    bench.ask("quick.lua", 0.001)
    assert bench.done[-1] == "quick.lua"
    assert bench.slowed[0] == "slow.lua: needs more than 5% of the processor: its timers wait"


def test_all_files_have_a_share_together(bench: Bench) -> None:
    for number in range(100):
        for _ in range(20):
            bench.ask(f"{number}.lua", 0.011)
    bench.run(10.0, step=0.005)
    assert 1.5 <= len(bench.done) * 0.011 <= 2.6
    assert len(set(bench.done)) > 30, "no file keeps the others away"
    assert any(one.startswith(": needs more than 20%") for one in bench.slowed)


def test_calls_that_wait_keep_their_order_and_are_limited(bench: Bench) -> None:
    bench.shares.used("a.lua", 1.0)
    for number in range(MOST_WAITING + 5):
        bench.shares.do("a.lua", partial(bench.done.append, str(number)))
    assert bench.counters["calls left out"] == 5
    # Timers are limited by their spawns, and are never left out.
    bench.shares.do("a.lua", partial(bench.done.append, "timer"), is_bounded=True)
    bench.run(5.0)
    assert bench.done == [*map(str, range(MOST_WAITING)), "timer"]


def test_the_scripts_of_players_have_one_share(bench: Bench) -> None:
    bench.shares.used("PlayerScripts/global.lua", 1.0)
    bench.shares.used("PlayerScripts/Antonica.lua", 1.0)
    assert bench.shares.pause(OF_PLAYERS) > 0


def test_files_that_rest_are_forgotten(bench: Bench) -> None:
    for number in range(2 * FORGOTTEN_AFTER):
        bench.shares.used(f"{number}.lua", 0.0001)
        bench.now = Monotonic(bench.now + 1)
    assert len(bench.shares._usages) <= FORGOTTEN_AFTER


def test_a_file_sends_so_many_messages_to_a_zone_and_no_more(bench: Bench) -> None:
    may_send = bench.shares.may_send
    assert sum(may_send("loud.lua", 5) for _ in range(2000)) == MESSAGES_AT_ONCE
    text = "loud.lua: sends players more than 50 messages a second: some are lost"
    assert set(bench.slowed) == {text}
    assert bench.counters["messages dropped"] == 2000 - MESSAGES_AT_ONCE
    assert may_send("loud.lua", 6), "another zone is another place"
    assert may_send("quiet.lua", 5)
    bench.now = Monotonic(bench.now + 2.0)
    assert sum(may_send("loud.lua", 5) for _ in range(2000)) == 2 * MESSAGES


def test_senders_are_forgotten_and_those_in_debt_last(bench: Bench) -> None:
    for _ in range(MESSAGES_AT_ONCE):
        bench.shares.may_send("loud.lua", 5)
    for number in range(2 * MOST_SENDERS):
        bench.shares.may_send(f"{number}.lua", 5)
        bench.now = Monotonic(bench.now + 0.001)
        # One message is back after a fiftieth of a second.
        bench.shares.may_send("loud.lua", 5)
    assert len(bench.shares._sent) <= MOST_SENDERS
    assert not bench.shares.may_send("loud.lua", 5)


LOUD = """
function hailed(NPC, Spawn) for i = 1, 8 do AddTimer(NPC, 10, "ring", 1, Spawn) end end
function ring(NPC, Spawn)
    for i = 1, 10 do SendMessage(Spawn, "ring") end
    AddTimer(NPC, 10, "ring", 1, Spawn)
end
"""


@pytest.mark.slow
def test_a_script_that_floods_a_player_is_bounded_and_reported(scene: ScriptScene) -> None:
    guard = scene.spawn(LOUD)
    scene.hail(guard)
    scene.harness.run(4.0)
    heard = scene.shown().count("ring")
    most = MESSAGES_AT_ONCE + 5 * MESSAGES
    assert MESSAGES_AT_ONCE < heard <= most
    faults = [one for one in scene.scripts.reports.faults() if "messages a second" in str(one)]
    assert [one.file for one in faults] == ["Guard.lua"]
    assert sum("messages a second" in line for line in scene.lines) == 1


TIMER = """
function hailed(NPC) Say(NPC, "yes") end
function begin(NPC) for i = 1, 64 do AddTimer(NPC, 10, "ring") end end
function ring(NPC) Rung = (Rung or 0) + 1 end
function rung(NPC) return Rung end
"""


def test_timers_wait_and_a_hail_is_answered(scene: ScriptScene) -> None:
    """64 timers of 11 ms each made other players wait for two seconds."""
    guard = scene.spawn(TIMER)
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None
    # As if each call took 11 ms: a test measures no time.
    scene.scripts.used = lambda path, _seconds: scene.scripts.shares.used(path, 0.011)
    scene.scripts.call(body, "begin")
    scene.harness.run(1.0)
    rung = scene.scripts.ask(body, "rung").value
    assert 0 < rung < 40
    assert [text for _, text in scene.hail(guard)][-1] == "yes"
    scene.harness.run(60.0)
    assert scene.scripts.ask(body, "rung").value == 64, "late, but all of them"
    (fault,) = [one for one in scene.scripts.reports.faults() if one.event == "timers"]
    assert (fault.file, fault.count) == ("Guard.lua", 1)
    assert "timers wait" in "".join(scene.lines)


def test_a_timer_that_waits_can_be_stopped_and_ends_with_its_spawn(scene: ScriptScene) -> None:
    guard = scene.spawn(TIMER)
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None
    scene.scripts.call(body, "begin")
    scene.scripts.shares.used(body.script, 1.0)
    scene.harness.run(0.5)
    assert scene.scripts.ask(body, "rung").value is None
    scene.scripts.waits.stop_timers(body, "ring")
    scene.scripts.call(body, "begin")
    scene.harness.run(0.1)
    scene.scripts.vanished(scene.zone, guard)
    scene.harness.run(60.0)
    assert scene.scripts.counters["functions called"] == 3
