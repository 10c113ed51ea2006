"""What a whole server reports about itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import CommandError
from emu.login.events import AccountLoggedIn, LoginRefused
from emu.net.watch import Report, Watch
from tests.support.running.whole_server import harness, until

pytestmark = pytest.mark.usefixtures("collect_garbage")


def test_logins_are_counted_by_result_beside_the_log() -> None:
    watch = Watch()
    lines: list[object] = []
    send = watch.port("login", lines.append)
    accepted = AccountLoggedIn("::1", "alice", 7, 546)
    send(accepted)
    send(LoginRefused("::1", "bob", "wrong password"))
    send(LoginRefused("::1", "bob", "wrong password"))
    assert lines[0] is accepted
    assert watch.measures.value("logins", "accepted") == 1
    assert watch.measures.value("logins", "refused") == 2
    assert watch.measures.value("logins_refused", "wrong password") == 2


def test_counters_and_queues_are_read_with_the_metrics() -> None:
    watch = Watch()
    counters, waiting = {"late": 1}, [1]
    watch.queue("store", "Calls.", lambda: len(waiting))
    watch.reasons("login_drops", "Messages.", lambda: counters)
    counters["late"] += 1
    waiting.append(2)
    assert watch.measures.value("store_waiting") == 2
    assert watch.measures.value("login_drops", "late") == 2


@pytest.mark.slow
async def test_a_server_measures_its_sessions_logins_and_queues(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        watch = server.service.watch
        reported: list[Report] = []
        watch.reports.subscribe(reported.append)
        good = await server.client("testlabs", "testpass")
        await good.login()
        bad = await server.client("testlabs", "wrong")
        with pytest.raises(CommandError):
            await bad.login()
        assert watch.measures.value("sessions_now", "login") == 2
        await good.close()
        await bad.close()
        measured = {one.family.name: one for one in watch.measures.read_samples()}
        value = watch.measures.value
        assert value("logins", "accepted") == 1
        assert value("logins", "refused") == 1
        assert value("sessions_begun", "login") == 2
        assert value("session_messages_received", "login") >= 2
        assert value("passwords_waiting") == 0
        assert value("players") == 0
        assert measured["login_drops"].values == {}, "what had an effect is no drop"
        assert value("login_outcomes", "login accepted") == 1
        await until(lambda: not value("writes_waiting"), "what was put off to be stored")
        assert value("store_waiting") == 0
        assert {"world_tick_seconds", "session_round_trip_seconds", "link_drops"} <= set(measured)
        areas = {type(report.event).__name__: report.area for report in reported}
        assert areas["AccountLoggedIn"] == areas["LoginRefused"] == "login"
