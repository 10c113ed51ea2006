"""Every way to moderate writes one line with who, whom and why, and reaches the webhook."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from twisted.internet.task import Clock

from emu.admin.commands import changes
from emu.admin.console import ConsoleSession
from emu.admin.ports import CommandGiven
from emu.admin.rcon import PacketType, RconPacket, RconRules, RconSession, RconUser, RconUsers
from emu.admin.web.dashboard import SignedInUser
from emu.admin.web.sessions import WebSession
from emu.admin.webhook import WebhookEvent
from emu.commands import Caller, Use
from emu.limits.rates import FailureRules, Failures
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import RefusalLog, report_use
from emu.net.webhook import notices_of
from emu.times import Monotonic
from emu.world.commands.client_table import caller
from tests.support.admin.ggmp import GUARD, Talk
from tests.support.coroutines import finish
from tests.support.login.account_commands import AccountCommands
from tests.support.running.whole_server import captured_log

LINE = "account ban alice 7d gold selling"
NOW = Monotonic(100.0)


def in_the_game(_line: str) -> Caller:
    character = SimpleNamespace(account_id=9)
    return caller(cast("Any", SimpleNamespace(name="Boss", rank=200, character=character)))


def given(session: Any) -> CommandGiven:
    while not isinstance(event := session.next_event(), CommandGiven):
        assert event is not None
    return event


def at_the_console(line: str) -> Caller:
    session = ConsoleSession(Caller("root", 1000, "console"))
    session.receive_data(line.encode() + b"\n", NOW)
    return given(session).caller


def by_rcon(line: str) -> Caller:
    users, failures = RconUsers([RconUser("bert", 200, b"pw")]), Failures(FailureRules())
    session = RconSession(RconRules(), users, failures, "192.0.2.1", NOW)
    session.receive_data(RconPacket(1, PacketType.AUTH, b"pw").encode(), NOW)
    session.receive_data(RconPacket(2, PacketType.EXECCOMMAND, line.encode()).encode(), NOW)
    return given(session).caller


def on_the_web_page(_line: str) -> Caller:
    session = WebSession(9, "wendy", "hash", "token", NOW, NOW)
    return SignedInUser(session, 200, "192.0.2.2").caller


def uses(way: Callable[[str], Caller]) -> list[Use]:
    bench = AccountCommands()
    assert finish(bench.registry.run(way(LINE), LINE, NOW)).ok
    return bench.uses


def of_the_program() -> list[Use]:
    bench = AccountCommands()
    bench.registry.extend(changes.COMMANDS.commands(bench.registry))
    act = {"line": "account ban alice gold selling", "result": "alice is banned",
           "command": "account ban"}  # fmt: skip
    line = f"changed {json.dumps(act)}"
    assert finish(bench.registry.run(at_the_console(line), line, NOW)).ok
    return bench.uses


@pytest.mark.parametrize(
    ("who", "found"),
    [
        ("Boss (game)", lambda: uses(in_the_game)),
        ("root (console)", lambda: uses(at_the_console)),
        ("bert (rcon 192.0.2.1)", lambda: uses(by_rcon)),
        ("wendy (web 192.0.2.2)", lambda: uses(on_the_web_page)),
        ("root (emu)", of_the_program),
    ],
)
def test_a_ban_is_one_line_and_one_event(who: str, found: Callable[[], list[Use]]) -> None:
    with captured_log("text") as log:
        (use,) = found()
        report_use(logger("admin"), RefusalLog(logger("admin"), Scheduler(Clock())))(use)
    (line,) = log.text.splitlines()
    assert f"command of {who}: account ban alice" in line
    assert "gold selling" in line
    ((event, text, values),) = notices_of(use)
    assert event is WebhookEvent.BAN
    assert values["by"] == use.caller
    assert "alice" in text.lower()
    assert "gold selling" in text


def test_ggmp_which_bans_nobody_writes_a_line_for_what_it_does() -> None:
    talk = Talk()
    talk.join()
    talk.client.say(GUARD, "Halt!", talk.now)
    talk.settle()
    with captured_log("text") as log:
        (use,) = talk.uses
        report_use(logger("admin"), RefusalLog(logger("admin"), Scheduler(Clock())))(use)
    assert f"command of radar (ggmp 192.0.2.50): actor {GUARD}: say Halt!" in log.text
    assert list(notices_of(use)) == []
