"""Who gets in, who does not, what it costs them, and what the log says of it."""

import json
import math
import sqlite3
from collections.abc import Mapping
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from emu.client import Closed
from emu.errors import CommandError
from emu.login.passwords import eq2emulator_hash
from emu.net.client.connection import ClientConnection
from emu.store import Store
from emu.times import Moment
from tests.support.running.whole_server import Harness, add_account, harness, sleep, until
from tests.support.sessions.raw_client import RawClient, login_request, raw_client
from tests.support.sessions.reference_messages import denial

PASSWORD = "correct horse battery"
WRONG = "wr0ng staple"


async def denied(client: ClientConnection) -> str:
    """Wait for the refusal, and for the server to end the session."""
    with pytest.raises(CommandError) as refusal:
        await client.login()
    await until(lambda: any(isinstance(event, Closed) for event in client.core.events), "the end")
    await client.close()
    return str(refusal.value)


async def denied_by_hand(client: RawClient, request: bytes) -> bytes:
    """Log in by hand; return the body of the reply."""
    await client.enter(request)
    return await client.message(4)


async def test_a_wrong_password_gets_34_bytes_and_a_disconnect_a_second_later(
    tmp_path: Path,
) -> None:
    async with harness(tmp_path, speed=10) as server, raw_client(server.login_port) as client:
        body = await denied_by_hand(client, login_request(b"testlabs", b"wrong"))
        begun = server.clock.seconds()
        assert body == denial(1)
        assert len(body) == 34
        assert not client.disconnected
        await until(lambda: client.disconnected, "the disconnect")
        assert 0.5 <= server.clock.seconds() - begun <= 2.5
        await server.log.line(r"login of testlabs from 127\.0\.0\.1 refused: bad password")


async def test_a_missing_account_is_refused_like_a_wrong_password(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=10) as server, raw_client(server.login_port) as client:
        assert await denied_by_hand(client, login_request(b"nobody", b"wrong")) == denial(1)
        assert server.rows("SELECT name FROM accounts") == [("testlabs",)]


@pytest.mark.parametrize("version", [375, 539, 20000, 65000])
async def test_the_denial_of_an_unknown_version_leaves(tmp_path: Path, version: int) -> None:
    async with harness(tmp_path, speed=10) as server, raw_client(server.login_port) as client:
        request = login_request(b"testlabs", b"testpass", version)
        assert await denied_by_hand(client, request) == denial(6)
        await until(lambda: client.disconnected, "the disconnect")
        line = await server.log.line(r"login of testlabs from 127\.0\.0\.1 refused: (.*)")
        assert "version" in line[1]


async def test_a_denied_client_is_not_heard_any_more(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=5) as server, raw_client(server.login_port) as client:
        await denied_by_hand(client, login_request(b"testlabs", b"wrong"))
        client.send(b"\x07")
        client.send(login_request(b"testlabs", b"testpass"))
        await until(lambda: client.disconnected, "the disconnect")
        assert [opcode for opcode, _ in client.messages] == [2]


async def test_a_second_login_ends_the_first_and_works(server: Harness) -> None:
    await server.world_registered()
    first = await server.logged_in()
    second = await server.logged_in(version=1208)
    await until(lambda: any(isinstance(e, Closed) for e in first.core.events), "the first's end")
    assert len(await second.worlds()) == 1
    await first.close()
    assert len(await second.worlds()) == 1
    assert server.service.server.login is not None
    assert len(server.service.server.login.service.logged_in) == 1
    await second.close()
    await until(lambda: not server.service.server.login.service.logged_in, "the second's end")  # type: ignore[union-attr]


async def test_names_are_the_same_account_in_either_case(server: Harness) -> None:
    first = await server.logged_in()
    second = await server.logged_in("TestLabs")
    await until(lambda: any(isinstance(e, Closed) for e in first.core.events), "the first's end")
    await first.close()
    await second.close()


async def test_whoever_vanishes_in_the_middle_may_log_in_again_at_once(tmp_path: Path) -> None:
    """No "account in use": neither after a lost link nor after a login that was cut short."""
    async with harness(tmp_path, speed=10) as server:
        for _ in range(3):
            lost = await server.logged_in()
            await lost.stop()  # without a word
        for _ in range(3):
            hasty = await server.client()
            await hasty.stop()
        client = await server.logged_in()
        await client.worlds()
        await client.close()


async def test_forty_logins_of_one_account_at_once_leave_one_session(tmp_path: Path) -> None:
    async with harness(tmp_path, {"login.password_memory": 900}) as server:
        clients = [await server.client() for _ in range(40)]
        assert server.service.server.login is not None
        service = server.service.server.login.service
        await until(lambda: service.counters["login accepted"] == 40, "all logins", 20.0)
        await until(lambda: server.service.server.login.dispatcher.session_count == 1, "39 ends")  # type: ignore[union-attr]
        assert len(service.logged_in) == 1
        for client in clients:
            await client.close()


@pytest.mark.parametrize("auto_create", [True, False])
async def test_unknown_names_make_accounts_only_where_that_is_set(
    tmp_path: Path, auto_create: bool
) -> None:
    async with harness(tmp_path, {"login.auto_create_accounts": auto_create}, speed=5) as server:
        client = await server.client("Newcomer", "her own password")
        if not auto_create:
            assert "denied" in await denied(client)
            return
        await client.login()
        await client.close()
        assert server.rows("SELECT name FROM accounts ORDER BY id") == [
            ("testlabs",),
            ("Newcomer",),
        ]
        (hashed,) = server.rows("SELECT password FROM accounts WHERE name = 'Newcomer'")[0]
        assert hashed.startswith("$argon2id$")
        assert "denied" in await denied(await server.client("newcomer", "another password"))
        again = await server.logged_in("newcomer", "her own password")
        await again.close()


async def test_disabled_and_banned_accounts_are_refused_and_the_log_says_why(
    tmp_path: Path,
) -> None:
    names = ("disabled", "banned", "pardoned")
    for name in names:
        add_account(tmp_path / "emu.sqlite", name, PASSWORD)
    with closing(Store.create(tmp_path / "emu.sqlite")) as store:
        ids = {account.name: account.id for account in store.login.accounts.every()}
        store.login.accounts.set_enabled(ids["disabled"], enabled=False)
        store.login.accounts.ban(ids["banned"], math.inf, "cheating")
        store.login.accounts.ban(ids["pardoned"], 1000.0, "long ago")
    async with harness(tmp_path, speed=10) as server:
        for name, reason in (("disabled", "disabled"), ("banned", "banned")):
            client = await server.client(name, PASSWORD)
            await denied(client)
            await server.log.line(rf"login of {name} from 127\.0\.0\.1 refused: {reason}")
        client = await server.logged_in("pardoned", PASSWORD)
        await client.close()


async def test_a_crowd_from_one_address_makes_nobody_else_wait_for_all_of_it(
    tmp_path: Path,
) -> None:
    settings = {"login.password_memory_cost": 19456, "login.password_iterations": 4}
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(harness(tmp_path, settings))
        assert server.service.server.login is not None
        counters = server.service.server.login.service.counters
        crowd = [await stack.enter_async_context(raw_client(server.login_port)) for _ in range(25)]
        other = await stack.enter_async_context(raw_client(server.login_port, host="127.0.0.2"))
        for client in (*crowd, other):
            await client.set_up()
        for number, client in enumerate(crowd):
            await client.enter(login_request(b"nobody%d" % number, b"guess"))
        await other.log_in()
        assert counters["login accepted"] == 1
        assert counters["login refused"] < 15


async def test_guessing_is_slowed_down_and_the_owner_gets_in_afterwards(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=20) as server:
        for _ in range(30):
            async with raw_client(server.login_port) as client:
                await denied_by_hand(client, login_request(b"testlabs", b"guess"))
        await server.log.line(r"login of testlabs from 127\.0\.0\.1 refused: too many attempts")
        summed = await server.log.line(r"more logins refused of testlabs from 127.* \((\d+)\)")
        assert 12 <= int(summed[1]) <= 28
        for _ in range(100):
            if await server.lets_in():
                return
            await server.clock.sleep(1)
        raise AssertionError("the owner is locked out for good")


async def every_way_in(server: Harness, secrets: Mapping[str, str]) -> None:
    """Log in well, badly, with nonsense, and from a client log, all with the same passwords."""
    for name, password in secrets.items():
        client = await server.client(name, password)
        try:
            await client.login()
            await client.worlds()
        except CommandError:
            pass
        await client.close()
        for broken in (
            login_request(name.encode(), password.encode(), 375),
            login_request(b"x" * 40, password.encode()),
            login_request(name.encode(), password.encode())[:-30],
            b"\0" + b"\xff\xff" + password.encode(),
        ):
            async with raw_client(server.login_port) as raw:
                await raw.enter(broken)
                await sleep(0.01)
                raw.send(login_request(name.encode(), password.encode()))
                await sleep(0.01)


@pytest.mark.parametrize("form", ["text", "json"])
async def test_no_log_ever_holds_a_password(tmp_path: Path, form: str) -> None:
    secrets = {"testlabs": "s3cret-right", "other": "s3cret-wrong", "newcomer": "s3cret-new"}
    accounts = {"testlabs": "s3cret-right", "other": "s3cret-elsewhere"}
    settings = {"log.level": "debug", "log.format": form, "login.auto_create_accounts": True}
    async with harness(tmp_path, settings, accounts=accounts, speed=5) as server:
        await every_way_in(server, secrets)
    text = server.log.text
    assert "login of testlabs" in text
    assert "s3cret" not in text
    assert "argon2" not in text
    if form == "json":
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())


async def test_players_come_in_while_another_program_holds_the_write_lock(server: Harness) -> None:
    await server.world_registered()
    with closing(Store.open(server.database)) as store:
        store.login.accounts.add("imported", eq2emulator_hash(b"old password"), Moment(0.0))
    with closing(sqlite3.connect(server.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = server.clock.seconds()
        client = await server.logged_in()
        assert [world.name for world in await client.worlds()] == ["Norrath"]
        assert await client.characters() == ()
        other_client = await server.logged_in("imported", "old password")
        assert server.clock.seconds() - begun < 4
        other.execute("ROLLBACK")
    await client.stop()
    await other_client.stop()
    late = "SELECT 1 FROM accounts WHERE last_login IS NULL OR password NOT LIKE '$argon2id$%'"
    await until(lambda: not server.rows(late), "what was to be written")
