"""Who could not be saved before a stop is saved by the next start, with a database or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred

from emu.net.scheduler import Scheduler
from emu.net.world import spool as module
from emu.net.world.spool import Spool
from emu.store import Store
from emu.store.identity import identity
from emu.store.spool import read_spool, spool_path, write_spool
from emu.times import Monotonic
from tests.support.database.stores import saved_state, world_character
from tests.support.running.whole_server import captured_log
from tests.support.world.worlds import WorldHarness

reactor: Any = _reactor


class Bench:
    def __init__(self, folder: Path) -> None:
        self.harness = WorldHarness()
        self.scheduler = Scheduler(reactor)
        self.path = spool_path(folder / "emu.sqlite")
        self.harness.start = Deferred.fromCoroutine
        self.spool = Spool(folder / "emu.sqlite", self.harness.world, reactor, self.scheduler)

    async def keep(self, seconds: float = 10.0) -> None:
        await self.spool.keep(Monotonic(self.scheduler.now() + seconds))

    async def written(self) -> None:
        """Wait for the file's thread."""
        await self.spool._worker.run(lambda: None)
        await self.scheduler.pause(0)

    def not_stored(self, char_id: int, friend: str) -> None:
        client = self.harness.stand(char_id, last_played=1.0)
        self.harness.store.broken = True
        self.harness.exist(friend)
        client.types(f"/friend {friend}")
        assert client.player is not None
        self.harness.service.send_away(client.player, "sent away", self.harness.now)
        self.harness.store.broken = False


async def test_who_is_not_stored_is_kept_and_the_next_start_stores_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.not_stored(5, "Borvik")
    with captured_log("text") as log:
        await bench.keep()
        assert "the next start stores from" in log.text
    later = Bench(tmp_path)
    later.harness.character(5)
    later.harness.store.rows = dict(bench.harness.store.rows)
    later.spool.load(None)
    later.spool.restore()
    assert later.harness.store.rows[5].relations == ((0, "Borvik"),)
    await later.keep()
    assert not later.path.exists()


async def test_states_of_a_lost_database_are_applied_to_no_other(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.not_stored(5, "Borvik")
    bench.spool.lose()
    with captured_log("text") as log:
        await bench.keep()
        assert "no start applies" in log.text
    assert not bench.path.exists()
    (state,) = read_spool(tmp_path / "emu.sqlite.unsaved.lost")
    assert state.char_id == 5


async def test_when_everybody_is_stored_there_is_no_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.write_text("of an earlier stop")
    await bench.keep()
    assert not bench.path.exists()
    bench.spool.load(None)
    bench.spool.restore()


async def test_a_database_that_fails_at_the_start_is_tried_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    row = bench.harness.character(5)
    write_spool(bench.path, [saved_state(row, 3)])
    with Store.create(tmp_path / "emu.sqlite") as store, captured_log("text") as log:
        store.database.connection.execute("PRAGMA query_only = ON")
        bench.spool.load(store)
        assert "not stored yet" in log.text
    bench.harness.store.broken = True
    bench.spool.restore()
    await bench.keep()
    assert [state.char_id for state in read_spool(bench.path)] == [5], "still kept"
    bench.harness.store.broken = False
    bench.spool.restore()
    assert bench.harness.store.rows[5].place == saved_state(row).place


@pytest.mark.parametrize("case", ["newer", "playing", "another", "waiting"])
async def test_a_state_that_is_not_the_newest_is_left_out(tmp_path: Path, case: str) -> None:
    bench = Bench(tmp_path)
    row = bench.harness.character(5, place=(1.0, 1.0, 1.0, 0.0, 0), last_played=1.0)
    write_spool(bench.path, [saved_state(row, 3)])
    bench.spool.load(None)
    if case == "newer":
        bench.harness.character(5, place=row.place, revision=3)
    elif case == "another":
        bench.harness.character(5, place=row.place, account_id=9)
    elif case == "playing":
        bench.harness.stand(5)
    else:
        bench.not_stored(5, "Borvik")
    bench.spool.restore()
    bench.harness.run(60.0)
    assert bench.harness.store.rows[5].place != saved_state(row).place


async def test_a_file_that_cannot_be_written_in_time_is_said_with_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    bench.not_stored(5, "Borvik")
    never: Deferred[None] = Deferred()
    monkeypatch.setattr(bench.spool._worker, "run", lambda _call: never)
    with captured_log("text") as log:
        await bench.keep(0.05)
        assert "the last state of Name5 could not be stored and is lost" in log.text

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_spool", full)
    another = Bench(tmp_path)
    another.not_stored(6, "Borvik")
    with captured_log("text") as log:
        await another.keep()
        assert "the last state of Name6" in log.text
        assert "No space left" in log.text


async def test_a_file_that_is_damaged_is_set_aside(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.mkdir()
    with captured_log("text") as log:
        bench.spool.load(None)
        assert log.text.count("it was set aside as emu.sqlite.unsaved.damaged") == 1
    assert not bench.path.exists()


async def test_a_state_is_kept_while_it_is_not_saved(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    check = bench.spool._check
    client = bench.harness.stand(5, last_played=1.0)
    bench.harness.store.broken = True
    bench.harness.exist("Borvik")
    client.types("/friend Borvik")
    bench.harness.run(2.5)
    check()
    assert not bench.path.exists(), "it may only be slow"
    check()
    await bench.written()
    [state] = read_spool(bench.path)
    assert (state.char_id, state.facts["relations"]) == (5, ((0, "Borvik"),))
    bench.harness.exist("Cestra")
    client.types("/friend Cestra")
    bench.harness.run(2.5)
    check()
    await bench.written()
    [state] = read_spool(bench.path)
    assert len(state.facts["relations"]) == 2
    bench.harness.store.broken = False
    bench.harness.run(60.0)
    check()
    await bench.written()
    assert not bench.path.exists()
    await bench.keep()


async def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.mkdir()
    bench.not_stored(5, "Borvik")
    with captured_log("text") as log:
        for _ in range(3):
            bench.spool._check()
            await bench.written()
        assert log.text.count("unsaved players cannot be kept here") == 1


async def test_a_lost_database_gets_no_states(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.not_stored(5, "Borvik")
    bench.spool.lose()
    for _ in range(2):
        bench.spool._check()
    assert not bench.path.exists()


def test_the_states_of_another_database_are_set_aside(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with Store.create(tmp_path / "emu.sqlite") as store:
        row = store.world.characters.create(world_character(name="Aldana"))
        write_spool(bench.path, [saved_state(row, 3, zone_id=33)], "another")
        with captured_log("text") as log:
            bench.spool.load(store)
        assert "belongs to another database" in log.text
        found = store.world.characters.find(row.id)
        assert found is not None
        assert found.zone_id == row.zone_id
        assert [path.name for path in tmp_path.glob("*.unsaved*")] == ["emu.sqlite.unsaved.other"]
        # From now on the files name this database, and its own states are stored.
        write_spool(bench.path, [saved_state(row, 3, zone_id=33)], identity(store))
        Bench(tmp_path).spool.load(store)
        found = store.world.characters.find(row.id)
        assert found is not None
        assert found.zone_id == 33
