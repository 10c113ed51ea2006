"""A login of the doctor's own, at a server that runs in this process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.admin.status import OpenPort
from emu.cli.doctor.findings import Level
from emu.cli.doctor.visit import DoctorVisit, judge_lists, judge_refusal, near_address
from emu.client import Credentials, LoginDenied
from emu.client.flow import Entrance
from emu.config import Address
from emu.opcodes.text import shipped_tables
from tests.support.admin.snapshots import Measured
from tests.support.running.whole_server import HOST, harness, reactor

pytestmark = pytest.mark.slow


def visit(port: int) -> DoctorVisit:
    return DoctorVisit(reactor, Address(HOST, port), shipped_tables())


def levels(done: DoctorVisit) -> list[str]:
    return [str(one.level) for one in done.findings]


async def test_without_an_account_a_login_is_refused(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        done = visit(server.login_port)
        await done.without_account(accounts_are_made=False)
        assert levels(done) == ["ok", "ok"]
        assert "are refused, as they must be" in done.findings[1].what
        careful = visit(server.login_port)
        await careful.without_account(accounts_are_made=True)
        assert levels(careful) == ["ok", "warn"]
        assert server.rows("SELECT name FROM accounts") == [("testlabs",)]


async def test_a_doctor_every_minute_locks_nobody_out(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        for minute in range(40):
            done = visit(server.login_port)
            await done.without_account(accounts_are_made=False)
            assert levels(done) == ["ok", "ok"], (minute, done.findings)
            server.clock.skip(60)
        assert await server.lets_in()


async def test_where_a_login_makes_an_account_it_is_reported(tmp_path: Path) -> None:
    async with harness(tmp_path, {"login.auto_create_accounts": True}) as server:
        done = visit(server.login_port)
        await done.without_account(accounts_are_made=False)
        assert levels(done) == ["ok", "fail"]
        assert "logged in with" in done.findings[1].what


async def test_with_an_account_it_enters_the_world(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        account = Entrance(Credentials("testlabs", "testpass"))
        done = visit(server.login_port)
        await done.with_account(account, enters=True)
        assert levels(done) == ["ok", "warn"], "there is no character yet"
        done = visit(server.login_port)
        await done.with_account(account)
        assert levels(done) == ["ok", "ok"]
        client = await server.logged_in()
        await client.worlds()
        await client.create(1, "Aldana")
        await client.close()
        done = visit(server.login_port)
        await done.with_account(account, Address(HOST, server.world_port), enters=True)
        assert levels(done) == ["ok", "ok", "ok", "ok"], done.findings
        assert "Aldana entered from 127.0.0.1" in server.log.text
        wrong = visit(server.login_port)
        await wrong.with_account(Entrance(Credentials("testlabs", "wrong")))
        assert levels(wrong) == ["ok", "fail"]
        assert "emu account password testlabs" in wrong.findings[1].fix


async def test_a_listener_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        client = await server.logged_in()
        await client.worlds()
        await client.create(1, "Aldana")
        await client.close()
        server.service.server.world.parts.admission.locked = True  # type: ignore[union-attr]
        done = visit(server.login_port)
        await done.with_account(Entrance(Credentials("testlabs", "testpass")), enters=True)
        assert done.findings[-1].level is Level.FAIL
        assert "world.listen" in done.findings[-1].fix


async def test_where_nobody_is_nothing_answers() -> None:
    done = visit(1)
    await done.without_account(accounts_are_made=False)
    assert levels(done) == ["fail"]


def test_the_address_is_the_one_that_is_bound() -> None:
    now = Measured().snapshot()
    assert near_address(now, "login.listen") == Address("127.0.0.1", 9100)
    wide = replace(now, ports=(OpenPort("login.listen", "UDP", "[::]:9100", {}),))
    assert near_address(wide, "login.listen") == Address("::1", 9100)
    assert near_address(replace(now, ports=()), "login.listen") is None


def test_refusals_and_lists_are_judged() -> None:
    assert judge_refusal([LoginDenied(1, "bad")], "").level is Level.OK
    assert judge_refusal([LoginDenied(6, "version")], "").level is Level.WARN
    assert judge_refusal([], "no answer").level is Level.FAIL
    assert judge_lists("bob", [], ["Bob"]).level is Level.FAIL
