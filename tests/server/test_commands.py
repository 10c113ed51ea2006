"""An operator at work: `emu` commands beside a running server, and the command line's client."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from twisted.internet.threads import deferToThread

from emu.client.flow import STEP_TIMEOUT
from tests.support.login.scripted_world import connect_world
from tests.support.patience import patience
from tests.support.running.command_line import CommandLine
from tests.support.running.documented import examples, words_of
from tests.support.running.forked import forked_words
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    harness,
    reactor,
    server_process,
    until,
)

SEEN = 6.0
"""Seconds after which the server knows of a ban that another program stored."""


class Command:
    """An `emu` command in a process of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*forked_words("emu"), *words], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    async def output(self, status: int = 0) -> str:
        """Wait for the end and return what it wrote: to stdout, or to stderr if it failed."""
        # Read while it runs: a pipe holds 64 kB, and the command waits when it is full.
        written = deferToThread(self.process.communicate)
        await until(lambda: written.called, "the command to end", 20)
        out, err = await written
        assert self.process.returncode == status, err
        return err if status else out


async def run(folder: Path, *words: str, status: int = 0) -> str:
    return await Command(folder, *words).output(status)


def at(server: ServerProcess) -> str:
    return f"{HOST}:{server.login_port}"


@pytest.mark.slow
async def test_the_first_steps_of_the_readme(tmp_path: Path) -> None:
    """Add an account, start the server, log in from the command line, look at what is there."""
    commands = CommandLine(tmp_path)
    config = ("--config", str(commands.config))
    await run(tmp_path, *config, "account", "add", "alice", "--password", "s3cret")
    async with server_process(tmp_path, words=config) as server:
        await server.line(r"world Norrath \(1\) registered")
        alice = ("--user", "alice", "--password", "s3cret")
        words = ("--version", "546", "--create", "Testa", "--play", "Testa")
        said = await run(tmp_path, "client", "login", at(server), *alice, *words, "--json")
        steps = [json.loads(line)["step"] for line in said.splitlines()]
        assert [step for step in steps if step in ("session", "key", "login", "worlds", "create")]
        assert steps[-1] == "close"
        listed = await run(tmp_path, "client", "worlds", at(server), *alice)
        assert "Norrath" in listed
        await run(tmp_path, "client", "ping", at(server))
        wrong = ("--user", "alice", "--password", "wr0ng")
        refused = await run(tmp_path, "client", "login", at(server), *wrong, status=1)
        assert "login denied" in refused
        assert len(refused.splitlines()) == 1
        assert "wr0ng" not in server.text
        assert "s3cret" not in server.text
    (row,) = commands.rows("account", "list")
    assert (row["name"], row["last_address"], row["last_client_version"]) == ("alice", HOST, 546)
    gone = await run(tmp_path, "client", "ping", at(server), "--timeout", "1", status=1)
    assert len(gone.splitlines()) == 1


async def test_changes_of_accounts_count_from_the_next_login_on(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    async with harness(tmp_path, accounts={}, speed=5) as server:
        assert not await server.lets_in("alice", "one")
        commands.good("account", "add", "alice", "--password", "one")
        assert await server.lets_in("alice", "one")
        commands.good("account", "password", "alice", "--password", "two")
        assert not await server.lets_in("alice", "one")
        assert await server.lets_in("alice", "two")
        commands.good("account", "disable", "alice")
        assert not await server.lets_in("alice", "two")
        commands.good("account", "enable", "alice")
        assert await server.lets_in("alice", "two")
        commands.good("account", "ban", "alice", "--for", "1h")
        assert not await server.lets_in("alice", "two")
        commands.good("account", "unban", "alice")
        assert await server.lets_in("alice", "two")


async def test_a_remembered_password_does_not_outlive_its_change(tmp_path: Path) -> None:
    """What is kept in memory for returning players must not let an old password in."""
    commands = CommandLine(tmp_path)
    settings = {"login.password_memory": 900}
    async with harness(tmp_path, settings, accounts={"alice": "one"}, speed=5) as server:
        assert await server.lets_in("alice", "one")
        assert await server.lets_in("alice", "one")
        commands.good("account", "password", "alice", "--password", "two")
        assert not await server.lets_in("alice", "one")
        assert await server.lets_in("alice", "two")
        commands.good("account", "disable", "alice")
        assert not await server.lets_in("alice", "two")


async def test_a_banned_address_is_kept_out_soon(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    async with harness(tmp_path) as server:
        assert await server.lets_in("testlabs", "testpass")
        commands.good("account", "address", "ban", HOST)
        server.clock.skip(SEEN)
        assert not await server.lets_in("testlabs", "testpass")
        await server.log.line("refused: address banned")
        commands.good("account", "address", "unban", HOST)
        server.clock.skip(SEEN)
        assert await server.lets_in("testlabs", "testpass")


async def test_worlds_are_managed_beside_a_running_server(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    async with harness(tmp_path, {"world.enabled": False}) as server:

        async def refusal(password: bytes) -> bytes:
            world = await connect_world(reactor, server.link_port)
            world.register(b"anto", password)
            return await world.refusal()

        assert await refusal(b"secret") == b"Bad password"
        add = ("world", "add", "Antonia Bayle", "--account", "anto", "--password", "secret")
        commands.good(*add)
        world = await connect_world(reactor, server.link_port)
        world.register(b"anto", b"secret")
        await server.log.line(r"world Antonia Bayle \(1\) registered")
        assert [row["name"] for row in commands.rows("world", "list")] == ["Antonia Bayle"]
        commands.good("world", "disable", "Antonia Bayle")
        assert await refusal(b"secret") == b"Bad password"
        server.clock.skip(61)
        await world.hang_up()
        commands.good("world", "enable", "Antonia Bayle")
        commands.good("world", "password", "Antonia Bayle", "--password", "other")
        assert await refusal(b"secret") == b"Bad password"
        again = await connect_world(reactor, server.link_port)
        again.register(b"anto", b"other")
        await until(lambda: server.log.text.count("Antonia Bayle (1) registered") == 2, "the world")
        await again.hang_up()


async def test_imported_accounts_and_worlds_get_in_with_their_old_passwords(
    tmp_path: Path,
) -> None:
    commands = CommandLine(tmp_path)
    player = hashlib.sha512(b"old password").hexdigest()
    world_hash = hashlib.sha512(b"secret").hexdigest()
    dump = tmp_path / "eq2login.sql"
    columns = "`id`,`name`,`passwd`,`ip_address`,`last_client_version`,`created_date`"
    dump.write_text(
        f"INSERT INTO `account` ({columns}) VALUES (41,'Alice','{player}','192.0.2.7',546,1);\n"
        "INSERT INTO `login_worldservers` (`id`,`name`,`account`,`password`,`disabled`)"
        f" VALUES (7,'Antonia Bayle','testlabs','{world_hash}',0);\n",
        encoding="utf-8",
    )
    commands.good("account", "import-eq2emu", str(dump))
    async with harness(tmp_path, {"world.enabled": False}, accounts={}, speed=5) as server:
        assert not await server.lets_in("alice", "wrong password")
        assert await server.lets_in("alice", "old password")
        query = "SELECT password FROM accounts WHERE id = 41 AND password LIKE '$argon2id$%'"
        await until(lambda: server.rows(query), "the upgrade after the first login")
        assert await server.lets_in("alice", "old password")
        world = await connect_world(reactor, server.link_port)
        world.register(b"testlabs", b"secret")
        await server.log.line(r"world Antonia Bayle \(7\) registered")
        await world.hang_up()


@pytest.mark.slow
async def test_the_documented_commands_of_the_client_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = CommandLine(tmp_path)
    monkeypatch.setenv("EMU_PASSWORD", "testpass")
    for name in ("alice", "testlabs"):
        commands.good("account", "add", name, "--password", "testpass")
    words = ("--config", str(commands.config), "--set", "login.auto_create_accounts=true")
    async with server_process(tmp_path, words=words) as server:  # a swarm has accounts of its own
        await server.line(r"world Norrath \(1\) registered")
        lines = [line for line in examples() if line.startswith("emu client")]
        for line in lines:
            typed = [at(server) if ":9100" in word else word for word in words_of(line)]
            # A step of twenty clients at once takes longer on a busy machine.
            typed += ["--timeout", f"{patience(STEP_TIMEOUT):g}"]
            if "evening" in typed:
                typed[typed.index("--for") + 1] = "0.02"  # minutes
            assert await run(tmp_path, *typed), line
    assert len(lines) >= 4


@pytest.mark.slow
async def test_a_derived_table_can_be_tried_at_once(tmp_path: Path) -> None:
    """Server, client and capture speak with the tables of one database, however it is named."""
    commands = CommandLine(tmp_path)
    commands.good("account", "add", "alice", "--password", "s3cret")
    trace = tmp_path / "trace.pcapng"
    words = ("--config", str(commands.config), "--set", f"trace.file={trace}")
    new = ("64800", "--from", "64753", "--insert", "OP_NewThingMsg@13")
    alice = ("--user", "alice", "--password", "s3cret", "--version", "64800")
    async with server_process(tmp_path, words=words) as server:
        await server.line(r"world Norrath \(1\) registered")
        commands.good("opcodes", "derive", *new)
        await server.line("the opcode tables were edited")
        by_file, by_base = ("--config", str(commands.config)), ("--db", str(commands.database))
        for name, named in (("Testa", by_file), ("Testb", by_base)):
            requests = ("--create", name, "--delete", name, "--json")
            said = await run(tmp_path, "client", "login", at(server), *alice, *requests, *named)
            assert "delete" in [json.loads(line)["step"] for line in said.splitlines()]
    decoded = await run(tmp_path, "capture", "decode", str(trace), "--db", str(commands.database))
    assert "OP_DeleteCharacterReplyMsg" in decoded
    dissector = await run(tmp_path, "capture", "dissector", "--db", str(commands.database))
    assert "OP_NewThingMsg" in dissector
