"""A refusal is a line; its repetitions are one line a minute."""

from __future__ import annotations

import json

from twisted.internet.task import Clock

from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import INTERVAL, RefusalLog
from tests.support.running.whole_server import captured_log


def test_repetitions_are_one_line_a_minute() -> None:
    clock = Clock()
    refusals = RefusalLog(logger("login"), Scheduler(clock))
    refusals.start()
    with captured_log("text") as log:
        assert refusals.is_news("logins refused", "bob", "192.0.2.1", "bad password")
        assert refusals.is_news("logins refused", "bob", "192.0.2.1", "too many attempts")
        for n in range(40):
            why = "bad password" if n < 30 else "too many attempts"
            assert not refusals.is_news("logins refused", "bob", "192.0.2.1", why)
        clock.advance(INTERVAL - 1)
        assert log.text == ""
        clock.advance(1)
        assert log.text.endswith(
            "info  login: 40 more logins refused of bob from 192.0.2.1:"
            " bad password (30), too many attempts (10)\n"
        )
        clock.advance(INTERVAL)
        assert log.text.count("\n") == 1, "nothing came again"
    refusals.stop()
    assert not clock.getDelayedCalls()


def test_the_last_summary_is_written_at_the_end() -> None:
    refusals = RefusalLog(logger("login"), Scheduler(Clock()))
    for n in range(50):
        refusals.is_news("logins refused", f"user{n}", "192.0.2.1", "no such account")
        refusals.is_news("logins refused", "bob", f"10.0.0.{n}", "bad password")
    with captured_log("json") as log:
        refusals.stop()
    one, other = (json.loads(line) for line in log.text.splitlines())
    assert one["text"] == "42 more logins refused of 192.0.2.1: no such account (42)"
    assert (one["count"], one["address"], one["reasons"]) == (
        42, "192.0.2.1", {"no such account": 42},
    )  # fmt: skip
    assert (
        other["text"] == "42 more logins refused of bob from several addresses: bad password (42)"
    )
