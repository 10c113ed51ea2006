"""Players who register at a running server, and then log in with a game client."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.config import Config
from emu.config.setting import with_settings
from emu.errors import EmuError
from emu.store import Store
from tests.support.admin.web import FORM, Browser
from tests.support.running.whole_server import HOST, add_account, harness

WEB = {"web.listen": f"{HOST}:0", "login.registration": True, "login.password_min_length": 8}
NEW = "a new password"


def sent(name: str, password: str, **more: str) -> dict[str, str]:
    return {"name": name, "password": password, "repeat": password, **more}


async def test_a_player_registers_logs_in_and_changes_the_password(tmp_path: Path) -> None:
    async with harness(tmp_path, WEB, accounts={}) as server:
        web = Browser(server.log.port("web", "metrics on"))
        assert "players register at http://127.0.0.1" in server.log.text
        assert "from this machine only" in server.log.text
        answer = await web.post("/account/register", sent("Carol", "first password"), kind=FORM)
        assert answer.code == 200, answer.body
        async with await server.logged_in("carol", "first password"):
            pass
        answer = await web.post("/account/register", sent("CAROL", "another password"))
        assert (answer.code, answer.content["text"][:18]) == (409, "This name is taken")
        fields = sent("carol", NEW, present="first password")
        assert (await web.post("/account/password", fields)).code == 200
        with pytest.raises(EmuError):
            await server.logged_in("carol", "first password")
        async with await server.logged_in("carol", NEW):
            pass
        log = server.log.text
        assert "account Carol was registered from 127.0.0.1" in log
        assert NEW not in log
        metrics = (await web.get("/metrics")).body
        assert b'emu_registrations_total{reason="accounts registered"} 1.0' in metrics


async def test_wrong_names_and_passwords_have_one_answer_in_one_time(tmp_path: Path) -> None:
    """The time is the server's clock, which runs faster here."""
    add_account(tmp_path / "emu.sqlite", "alice", "right password")
    add_account(tmp_path / "emu.sqlite", "disabled", "right password")
    with Store.open(tmp_path / "emu.sqlite") as store:
        account = store.login.accounts.find("disabled")
        assert account is not None
        store.login.accounts.set_enabled(account.id, False)
    async with harness(tmp_path, {**WEB, "web.url": "https://emu.example.org"}, accounts={},
                       speed=10) as server:  # fmt: skip
        port = server.log.port("web", "metrics on")
        assert "players register at https://emu.example.org/account" in server.log.text
        answers = []
        for number, (name, password) in enumerate(
            [("alice", "wrong"), ("nobody", "wrong"), ("disabled", "right password")]
        ):
            proxied = {"X-Forwarded-For": f"192.0.2.{number}"}
            player = Browser(port, "emu.example.org", proxied)
            begun = server.clock.seconds()
            answer = await player.post("/account/password", sent(name, NEW, present=password))
            answers.append((answer.code, answer.body))
            assert server.clock.seconds() - begun >= 1.0
        assert len(set(answers)) == 1
        assert answers[0][0] == 403


async def test_a_reload_opens_and_closes_registration(tmp_path: Path) -> None:
    async with harness(tmp_path, WEB | {"login.registration": False}, accounts={}) as harnessed:
        server = harnessed.service.server
        web = Browser(harnessed.log.port("web", "metrics on"))
        closed = server.config
        opened = with_settings(
            closed, {"login": {"registration": True, "invite_code": "open sesame"}}
        )

        async def reread(config: Config) -> None:
            server._reread = lambda: config
            await server.reload()

        assert (await web.get("/account")).code == 404
        await reread(opened)
        assert b"Invite code" in (await web.get("/account")).body
        answer = await web.post("/account/register", sent("carol", NEW, code="open barley"))
        assert (answer.code, answer.content["text"]) == (403, "The invite code is not right.")
        answer = await web.post("/account/register", sent("carol", NEW, code="open sesame"))
        assert answer.content["ok"], answer.content
        await reread(closed)
        assert (await web.post("/account/register", sent("dave", NEW))).code == 404
