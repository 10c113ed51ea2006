from dataclasses import replace
from pathlib import Path

from emu.cli.doctor.findings import Level
from emu.cli.doctor.network import check_server, judge_server
from emu.commands import Reply
from tests.cli.consoles.test_admin import server
from tests.support.admin.snapshots import Measured
from tests.support.running.configs import small_config


def test_one_that_runs_and_one_that_does_not(tmp_path: Path) -> None:
    now, (found,) = check_server(tmp_path / "c")
    assert (now, found.level) == (None, Level.WARN)
    with server(tmp_path / "c", lambda _line: Reply((), Measured().value())):
        now, troubles = check_server(tmp_path / "c")
    assert now is not None
    assert troubles == []


def test_one_that_answers_nonsense_fails(tmp_path: Path) -> None:
    with server(tmp_path / "c", lambda _line: Reply((), "nonsense")):
        now, (found,) = check_server(tmp_path / "c")
    assert (now, found.level) == (None, Level.FAIL)


def test_a_healthy_one_has_a_world(tmp_path: Path) -> None:
    measured = Measured()
    measured.ticks.observe(0.001)
    found = list(judge_server(measured.snapshot(), small_config(tmp_path)))
    assert {one.level for one in found} == {Level.OK}
    assert "running worlds: Norrath" in found[1].what


def test_no_world_slow_ticks_queues_and_a_lock_are_found(tmp_path: Path) -> None:
    measured = Measured()
    measured.ticks.observe(2.0)
    now = measured.snapshot(worlds=(), locked=True)
    now = replace(now, numbers={**now.numbers, "store_waiting": {(): 100.0}})
    findings = judge_server(now, small_config(tmp_path))
    found = {one.what.partition(":")[0]: one.level for one in findings}
    assert found["no world is running"] is Level.FAIL
    assert found["ticks are slow"] is Level.WARN
    assert found["100 wait for database"] is Level.WARN
    assert found["its world is locked"] is Level.WARN
