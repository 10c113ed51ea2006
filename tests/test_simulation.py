"""The simulation of the whole server: it repeats itself, finds planted faults, and shrinks."""

from __future__ import annotations

import gc
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest

from emu.client.world import WorldClientCore
from emu.client.world.core import SESSIONS
from emu.client.world.surroundings import STEP
from emu.cluster.ports import LEASE
from emu.config import load
from tests.simulation.act import Act
from tests.simulation.acts import Acts
from tests.simulation.apart import FIRST_RUNS, simulate_apart
from tests.simulation.auditors import NO_OLDER_STATE
from tests.simulation.disk import Disk
from tests.simulation.frames import FRAME, FramedConnection
from tests.simulation.network import Network, SimulatedReactor
from tests.simulation.paces import drawn_paces
from tests.simulation.people import Person
from tests.simulation.plan import MOST_VERSIONS, VERSIONS, Plan
from tests.simulation.planted import PLANTS, cells, planted
from tests.simulation.shrink import Shrinker, kinds
from tests.simulation.simulation import Report, simulate
from tests.simulation.virtual_time import BEGIN, SimulatedProcess, Timeline
from tests.support.examples import nightly
from tools.simulate import daily_seeds, plans, read_words

ROOT = Path(__file__).parent.parent
SHORT = Plan(7, minutes=0.25, clients=2)


def parts_of_runs() -> int:
    """Return how many large parts of runs are in memory; other tests of this process have some."""
    gc.collect()
    parts = {"Simulation", "ModelServer", "EmuServer", "World", "Player"}
    return sum(type(one).__name__ in parts for one in gc.get_objects())


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [nightly(1), 2])
def test_a_seed_gives_the_same_run_in_another_process(nodes: int) -> None:
    plan = SHORT.changed(nodes=nodes)
    before = parts_of_runs()
    here = simulate(plan)
    assert here.is_right, here.problems
    assert here.entered >= plan.clients
    # A run holds no memory after its end: hundreds of them are one process.
    assert parts_of_runs() <= before
    # Another order of sets of texts must change nothing.
    there = subprocess.run(
        [sys.executable, "-m", "tools.simulate", *plan.words().split()[3:]],
        env={**os.environ, "PYTHONHASHSEED": "99"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert here.digest in there.stdout


@pytest.mark.slow
def test_the_folder_of_a_run_is_not_in_its_trace() -> None:
    """Errors of a full disk name the file, whose folder is another one in each run."""
    plan = Plan(1, 1.0, 3, 1, ("full",), 55.0, acts=("who",))
    first, second = (simulate(plan, keeps_trace=True) for _ in range(2))
    assert any("/login/emu.sqlite: " in line for line in first.trace)
    assert (first.trace, first.digest) == (second.trace, second.digest)


@pytest.mark.slow
def test_a_run_in_a_process_of_its_own_is_the_same_run() -> None:
    apart = list(simulate_apart([SHORT, SHORT.changed(seed=8), SHORT.changed(seed=9)], 2))
    assert sorted(one.plan.seed for one in apart) == [7, 8, 9]
    here = simulate(SHORT)
    there = next(one for one in apart if one.plan.seed == 7)
    assert (there.digest, there.acts, there.problems) == (here.digest, here.acts, [])


def test_a_run_whose_process_ends_early_is_a_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(plan: Plan, *, keeps_trace: bool = False, ends_process: bool = False) -> Report:
        if plan.seed == 2:
            os._exit(3)
        return Report(plan, digest=f"{keeps_trace} {ends_process}")

    monkeypatch.setattr("tests.simulation.apart.simulate", run)
    plans = [SHORT.changed(seed=one) for one in (1, 2, 3)]
    found = {one.plan.seed: one for one in simulate_apart(plans, 3)}
    assert [found[one].is_right for one in (1, 2, 3)] == [True, False, True]
    assert found[3].digest == "False True"
    alone = next(iter(simulate_apart(plans[:1], 3)))
    assert alone.digest == "False False"


@pytest.mark.slow
def test_no_call_of_a_script_is_measured_by_the_real_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a slow machine calls would end too early, or wait, and the same seed be another run."""

    def measured() -> NoReturn:
        raise AssertionError("a call was measured")

    for module in ("emu.scripts.runtime", "emu.world.scripts.calls", "emu.net.machine"):
        monkeypatch.setattr(f"{module}.own_time", measured)
    assert simulate(SHORT).is_right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed", "auditor"),
    [
        ("timer-not-set-again", 1, "places are stored"),
        ("answer-before-commit", 7, "what is confirmed is stored"),
        ("spool-read-twice", 1, NO_OLDER_STATE),
        ("moves-not-counted", 1, "sums of things"),
        ("dead-strike", 1, "the dead strike nobody"),
        ("creation-goes-on", 39, "creations are over"),
        ("pet-left-behind", 5, "effects are of those who are there"),
        ("reward-without-identity", 12, "rewards of quests come once"),
        ("key-outlives-ban", 3, "nobody enters who is banned"),
        ("collection-rewarded-again", 1, "a collection is rewarded once"),
        ("upkeep-not-noted", 1, "upkeep is paid once"),
        ("coin-counted-twice", 1, "coins are banked as asked"),
        ("purse-taken-again", 1, "bodies are looted once"),
        ("damage-not-stored", 2, "players have their things"),
        ("materials-twice", 1, "a jewel is broken once"),
    ],
)
def test_a_planted_fault_is_found(name: str, seed: int, auditor: str) -> None:
    plan = PLANTS[name].run.changed(seed=seed)
    assert auditor in kinds(simulate(plan.changed(plant=name)))
    found = simulate(plan)
    assert found.is_right, found.problems
    assert set(found.acts) <= set(plan.acts)


@pytest.mark.parametrize("name", PLANTS)
def test_what_a_planted_fault_replaces_has_its_name_still(name: str) -> None:
    with planted(name):
        pass


def test_each_planted_fault_has_a_row_in_the_table() -> None:
    text = (ROOT / "docs/contributing/simulation.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (`.*) \|$", text.partition("{#planted}")[2], re.MULTILINE)
    assert [line.split(" | ")[:-2] for line in lines] == [cells(name) for name in PLANTS]


def test_a_plan_is_repeated_by_its_words() -> None:
    plan = Plan(
        9, 1.5, 4, 2, ("kill", "bus"), acts=("walk", "take coins of a letter"),
        plant="missing-sync",
        without_people=frozenset((1, 3)), without_faults=frozenset((2,)),
    )  # fmt: skip
    assert plans(read_words(shlex.split(plan.words())[3:])) == [plan]


def test_each_day_has_ten_fixed_seeds_and_thirty_new_ones() -> None:
    today, tomorrow = daily_seeds(date(2026, 11, 28)), daily_seeds(date(2026, 11, 29))
    assert len(set(today)) == 40
    assert set(today) & set(tomorrow) == set(range(10))


def test_all_versions_come_and_the_first_runs_have_each() -> None:
    """Each run has some versions; a copied process has read the layouts of all of them."""
    assert len(set(SHORT.versions)) == len(SHORT.versions) == MOST_VERSIONS
    assert SHORT.versions == SHORT.changed(minutes=3.0).versions
    assert {one for seed in daily_seeds(date(2026, 11, 28)) for one in Plan(seed).versions} == {
        *VERSIONS
    }
    assert {one for plan in FIRST_RUNS for one in plan.versions} == {*VERSIONS}


@pytest.mark.parametrize("possible", [{"a", "b"}, {"b"}])
def test_people_choose_among_what_is_possible_by_weight(possible: set[str]) -> None:
    async def work(*_who: object) -> None:
        """Do nothing."""

    acts = Acts(
        tuple(
            Act(name, weight, work, lambda _person, name=name: name in possible)  # type: ignore[misc]
            for name, weight in (("impossible", 40.0), ("a", 3.0), ("b", 1.0), ("never", 9.0))
        )
    )
    person = cast("Person", SimpleNamespace(chance=random.Random(7)))
    chosen = Counter(act.name for _ in range(2000) if (act := acts.choose(person)))
    assert set(chosen) == possible
    assert sum(chosen.values()) == 2000
    # Four deviations of 2000 throws around a quarter.
    assert chosen["b"] == 2000 or abs(chosen["b"] - 500) < 80


def test_nobody_chooses_what_is_impossible() -> None:
    person = cast("Person", SimpleNamespace(chance=random.Random(7)))
    assert Acts(()).choose(person) is None


def test_some_seeds_have_the_paces_of_the_program() -> None:
    """The lists of `tests.simulation.paces` say which value is a default of the program."""
    defaults = load(None, ["database.url=sqlite:emu.sqlite"])
    drawn = [drawn_paces(seed) for seed in range(100)]
    for name, default in (
        ("update_rate", defaults.world.update_rate), ("step", STEP),
        ("keep_alive", SESSIONS.keep_alive_interval), ("review", defaults.world.review_seconds),
        ("lease", LEASE),
    ):  # fmt: skip
        count = sum(getattr(one, name) == pytest.approx(default) for one in drawn)
        assert 5 <= count <= 60, name


def test_a_client_answers_once_a_frame() -> None:
    """A client that stands in a zone gets three datagrams in a frame, and sends one Ack."""
    timeline = Timeline()
    reactor = SimulatedReactor(Network(timeline, random.Random(1)), "client", "10.1.0.1")
    read, turns, socket = list[bytes](), list[float](), object()
    core = SimpleNamespace(receive_datagram=lambda data, _now: read.append(data))
    client = FramedConnection(reactor, cast("WorldClientCore", core))
    client._socket = cast("Any", socket)
    client._turn = lambda now: turns.append(now - BEGIN)  # type: ignore[method-assign]
    for at in (1.0, 1.01, 1.02, 2.0):
        timeline.call(reactor, at, client.received, socket, b"%.2f" % at)
    timeline.call(reactor, 3.0, client.received, object(), b"for an earlier session")
    timeline.run(5.0)
    assert read == [b"1.00", b"1.01", b"1.02", b"2.00"]
    assert turns == pytest.approx([1.0 + FRAME, 2.0 + FRAME])


def test_a_failing_plan_is_shrunk_to_what_it_needs() -> None:
    def run(plan: Plan) -> Report:
        people = set(range(plan.clients)) - plan.without_people
        fails = {2, 5} <= people and 3 not in plan.without_faults and plan.minutes >= 2.0
        return Report(plan, ["the auditor at 1.000 s: wrong"] if fails else [])

    plan = Plan(1, minutes=8.0, clients=8)
    found = Shrinker(run(plan), run=run).shrink().plan
    assert set(range(8)) - found.without_people == {2, 5}
    assert found.minutes < 4.0
    assert 3 not in found.without_faults
    assert len(found.without_faults) >= 3


def test_a_process_that_stands_still_makes_its_calls_later_in_order() -> None:
    timeline = Timeline()
    process = SimulatedProcess(timeline, "one")
    made: list[str] = []
    for number in (1, 2, 3):
        process.callLater(number, made.append, str(number))
    timeline.call(None, 1.5, process.stand_still)
    timeline.call(None, 5.0, process.go_on)
    timeline.run(4.0)
    assert made == ["1"]
    timeline.run(6.0)
    assert made == ["1", "2", "3"]


def test_a_killed_process_makes_no_call() -> None:
    timeline = Timeline()
    process = SimulatedProcess(timeline, "one")
    made: list[str] = []
    process.callLater(2, made.append, "late")
    timeline.call(None, 1.0, process.die)
    timeline.run(9.0)
    assert made == []


@pytest.mark.parametrize(("level", "is_kept"), [("FULL", True), ("OFF", False)])
def test_a_power_cut_loses_what_was_not_flushed(tmp_path: Path, level: str, is_kept: bool) -> None:
    lost = 0
    for seed in range(5):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        disk = Disk(folder, random.Random(seed))
        if not disk.is_real:
            pytest.skip("sqlite3 has SQLite inside of itself")
        with disk.mounted():
            path = folder / "file.sqlite"
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {level}")
            connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
            for number in range(30):
                connection.execute("INSERT INTO numbers VALUES (?)", (number,))
            kept = disk.kept()
            connection.close()
            disk.restore(kept)
            disk.cut_power()
            with closing(sqlite3.connect(path)) as again:
                try:
                    (count,) = again.execute("SELECT count(*) FROM numbers").fetchone()
                except sqlite3.DatabaseError:
                    count = 0
            lost += count != 30
    assert (lost == 0) is is_kept


def test_a_full_disk_refuses_a_write_and_later_takes_it(tmp_path: Path) -> None:
    disk = Disk(tmp_path, random.Random(1))
    if not disk.is_real:
        pytest.skip("sqlite3 has SQLite inside of itself")
    with disk.mounted(), closing(sqlite3.connect(tmp_path / "file.sqlite")) as connection:
        connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
        disk.is_full = True
        with pytest.raises(sqlite3.OperationalError, match="full"), connection:
            connection.execute("INSERT INTO numbers VALUES (1)")
        disk.is_full = False
        with connection:
            connection.execute("INSERT INTO numbers VALUES (2)")
        assert connection.execute("SELECT number FROM numbers").fetchall() == [(2,)]
