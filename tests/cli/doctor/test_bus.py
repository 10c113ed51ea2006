"""What the doctor says of the bus."""

from __future__ import annotations

import pytest
from attrs import evolve

from emu.cli.doctor.bus import check_bus, judge_trial
from emu.cli.doctor.findings import Level
from emu.config import parse
from emu.net.bus.trial import BusTrial
from tests.support.database.engines import postgresql


def test_a_process_that_is_alone_has_no_bus() -> None:
    assert [*check_bus(parse({}, []))] == []


def test_a_message_is_judged() -> None:
    assert judge_trial(BusTrial("nats://a", 0.002)).what == "a message over nats://a takes 2.0 ms"
    assert judge_trial(BusTrial("nats://a", 0.2)).level is Level.WARN
    found = judge_trial(BusTrial("nats://a", 0.0, "no answer", "start it"))
    assert found == (Level.FAIL, "bus", "nats://a: no answer", "start it")


@pytest.mark.slow
def test_the_bus_on_postgresql_is_tried() -> None:
    where = postgresql()
    config = parse({"database": {"url": "postgresql://emu@127.0.0.1:1/none"}}, [])
    (found,) = check_bus(evolve(config, database=evolve(config.database, url=where)))
    assert found.level in (Level.OK, Level.WARN)
    assert f"a message over {where} takes" in found.what
