"""Quests: a script's `Init`, deaths and steps beside open quests, questions of scripts, marks.

The clock is virtual. Nothing is stored; what clients are sent is encoded.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Died
from tests.support.world.quest_scenes import CRABS, QuestScene, crabs_plan
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

QUESTS = 40
"""Open quests of each of many players."""
TEN = 10
PLAYERS = 200
GIVERS = 900
OFFERED = 300
"""Quests of the givers."""
KILLS = 400
CALLS = 20_000
STEPS_A_SECOND = 4
"""Steps that a client who runs sends in a second."""
HAS_QUEST = f"""
function hailed(NPC, Spawn)
    for _ = 1, {CALLS} do HasQuest(Spawn, {CRABS}) end
end
function hailed_busy(NPC, Spawn) end
"""
LOOP = HAS_QUEST.replace(f"HasQuest(Spawn, {CRABS})", "")


def _scene(folder: Path, quests: int) -> QuestScene:
    """Let a player have so many quests."""
    folder.mkdir()
    plans = [replace(crabs_plan(), number=CRABS + one) for one in range(OFFERED)]
    scene = QuestScene(folder, plans=plans)
    _take(scene, scene.player, quests)
    return scene


def _take(scene: QuestScene, player: Player, quests: int) -> None:
    for number in range(CRABS, CRABS + quests):
        scene.quests.offer(player, number, is_forced=True)
    scene.turn()


def _timed(times: int, call: Callable[[], object]) -> float:
    """Return the seconds of processor time of one call."""
    began = process_time()
    for _ in range(times):
        call()
    return (process_time() - began) / times


def _init(scene: QuestScene) -> float:
    journals = scene.parts.journals

    def read() -> None:
        journals.reload()
        journals.plan(CRABS)

    return _timed(200, read)


def _death(scene: QuestScene) -> float:
    """A death that counts for none of the open quests."""
    victim = scene.spawn("", "a gull")
    event = Died(scene.player, zone=scene.zone, victim=victim, killer=scene.player.spawn)
    return _timed(KILLS, lambda: scene.harness.world.events.publish(event))


def _moved(scene: QuestScene) -> float:
    return _timed(KILLS, lambda: scene.parts.counting.moved(scene.player))


def _asked(scene: QuestScene) -> float:
    """Return the seconds of one `HasQuest`, without the loop around it."""
    seconds: list[float] = []
    for source in (HAS_QUEST, LOOP):
        guard = scene.spawn(source, f"Guard{len(seconds)}")
        began = process_time()
        scene.hail(guard)
        seconds.append(process_time() - began)
    return (seconds[0] - seconds[1]) / CALLS


def _collect(scene: QuestScene) -> None:
    """Free what nothing names any more, also what Lua had."""
    scene.turn()
    scene.client.log.clear()
    runtime = scene.scripts.files.runtime  # servers collect when files are forgotten
    runtime.begin_collection()
    runtime.collect_some(lambda: True)
    gc.collect()


def _memory(scene: QuestScene) -> float:
    """Return the bytes of a player's journal with many quests."""
    # Layouts and plans are read once, and the tables of the Lua runtime grow once.
    for _ in range(3):
        _take(scene, scene.player, QUESTS)
        for number in [*scene.journal.open]:
            scene.quests.drop(scene.player, number, is_forced=True)
    _collect(scene)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    _take(scene, scene.player, QUESTS)
    _collect(scene)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


def _marks(scene: QuestScene) -> float:
    def change() -> None:
        scene.parts.feathers.changed(scene.player)
        scene.harness.run(0.001)

    return _timed(20, change)


def report(rounds: int) -> list[Figure]:
    """Measure what quests cost beside everything else."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        empty, ten, many = (
            _scene(folder / str(quests), quests) for quests in (0, TEN, QUESTS)
        )  # fmt: skip
        givers = _scene(folder / "givers", TEN)
        for number in range(GIVERS):
            spawn = Spawn(10_000 + number, SpawnKind.NPC, "a giver", givers.player.position)
            givers.parts.feathers.provide(givers.zone, spawn, CRABS + number % OFFERED)
        measured: list[tuple[str, str, Callable[[], float], float, str]] = [
            ("the plan of a quest, with its script's Init", "us", lambda: _init(empty), 1e6,
             "at most 1,000 us"),
            (f"a death beside {TEN} open quests, more than without quests", "us",
             lambda: _death(ten) - _death(empty), 1e6, "at most 80 us"),
            ("a call of HasQuest", "us", lambda: _asked(ten), 1e6, "at most 2 us"),
            (f"a second of {PLAYERS} players who run, {QUESTS} quests each", "us",
             lambda: _moved(many) * PLAYERS * STEPS_A_SECOND, 1e6, "at most 50,000 us"),
            (f"the marks of {GIVERS} spawns for a changed journal", "us",
             lambda: _marks(givers), 1e6, "at most 2,000 us"),
        ]  # fmt: skip
        figures = [
            Figure(what, unit, RC4_KILOBYTE,
                   [Round(call() * scale, rc4_loop().cpu * 1e9) for _ in range(rounds)], aim)
            for what, unit, call, scale, aim in measured
        ]  # fmt: skip
        memory = _memory(_scene(folder / "memory", 0)) / 1024
        what = f"memory of a player with {QUESTS} quests"
        figures.append(
            Figure(what, "kB", "", [Round(memory, 1.0)] * rounds, "at most 30 kB")
        )  # fmt: skip
    return figures
