"""The server as a process: how it starts, what it says when it cannot, how it ends."""

import re
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.client import Closed, Credentials
from emu.client.flow import Entrance
from emu.net.client.world_connection import enter_world
from emu.tap import Options, makeService
from tests.support.examples import nightly
from tests.support.patience import within
from tests.support.running.clients import connect
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    add_account,
    reactor,
    server_process,
    settings_of,
    until,
)
from tests.support.sessions.raw_client import raw_client

pytestmark = pytest.mark.slow


def refused(folder: Path, settings: dict[str, object], *words: str) -> list[str]:
    """Have twistd's plugin refuse a command line, in this process; return its lines."""
    options = Options()
    overrides = settings_of(folder / "emu.sqlite", settings)
    options.parseOptions([*words, *(word for one in overrides for word in ("--set", one))])
    with pytest.raises(SystemExit) as end:
        makeService(options)
    assert isinstance(end.value.code, str), "a text: printed, and exit status 1"
    return end.value.code.splitlines()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def fails(folder: Path, settings: dict[str, object], *words: str) -> list[str]:
    """Start a server that cannot start; return its lines after the exit status 1."""
    async with server_process(folder, settings, words=words, prepared=False) as server:
        assert await server.ended() == 1, server.text
        text = server.text
    assert "Traceback" not in text, text
    assert "server: ready" not in text
    return text.splitlines()


@pytest.mark.parametrize("program", ["twistd", nightly("twist")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_all_sessions_in_order_and_soon(
    tmp_path: Path, program: str, number: signal.Signals
) -> None:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    # One signal with the installed program: it ends as its fork does.
    is_forked = number is signal.SIGINT
    async with server_process(tmp_path, program=program, forked=is_forked) as server:
        await server.ready()
        await server.line(r"world Norrath \(1\) registered")
        client = await connect(reactor, HOST, server.login_port, "testlabs", "testpass")
        await client.login()
        await client.worlds()
        async with raw_client(server.login_port) as raw, raw_client(server.world_port) as visitor:
            await raw.set_up()
            await visitor.set_up()
            with within(5):
                server.process.send_signal(number)
                await until(lambda: raw.disconnected, "the login session's end")
                await until(lambda: visitor.disconnected, "the world session's end")
                await until(
                    lambda: any(isinstance(e, Closed) for e in client.core.events), "the end"
                )
                assert await server.ended() == -number  # as twistd and twist do
        await client.close()
        await server.line(r"server(: |#info\] )stopped")
        assert "Traceback" not in server.text
    assert not [name for name in names_in(tmp_path) if name.endswith(".pid")]
    with closing(sqlite3.connect(tmp_path / "emu.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT last_login > 0 FROM accounts").fetchall() == [(1,)]


async def test_a_client_that_says_nothing_any_more_does_not_hold_up_the_end(tmp_path: Path) -> None:
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    async with server_process(tmp_path) as server:
        await server.ready()
        clients = [
            await connect(reactor, HOST, server.login_port, "testlabs", "testpass")
            for _ in range(3)
        ]
        await clients[-1].login()
        for client in clients:
            await client.stop()
        with within(5):
            server.process.send_signal(signal.SIGTERM)
            assert await server.ended() == -signal.SIGTERM


async def test_the_log_names_each_endpoint_once(tmp_path: Path) -> None:
    async with server_process(tmp_path) as server:
        await server.ready()
        lines = [line for line in server.text.splitlines() if re.search(r" on (UDP|TCP) ", line)]
        assert len(lines) == 3
        assert server.login_port == server.link_port != server.world_port
        assert 0 not in (server.login_port, server.world_port)


@pytest.mark.parametrize("form", ["text", "json"])
async def test_no_log_line_names_an_object_in_memory(tmp_path: Path, form: str) -> None:
    """Everything that a server does, with Twisted's own lines, from its start to its end."""
    listeners = ("web", "rcon", "a2s", "ogp", "ssq", "ggmp")
    settings = {f"{one}.listen": f"{HOST}:0" for one in listeners}
    settings |= {"log.level": "debug", "log.format": form, "rcon.password": "long enough"}
    settings |= {"ssq.enabled": "true", "web.admin": "true", "ggmp.policy": "open"}
    async with server_process(tmp_path, settings) as server:
        await server.line("ready, pure Python|ready, compiled")
        add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
        entrance = Entrance(Credentials("testlabs", "testpass"), "Aldana", create=True)
        world = await enter_world(reactor, HOST, server.login_port, entrance)
        server.process.send_signal(signal.SIGHUP)
        await server.line("the configuration was read again")
        await world.leave()
        server.process.send_signal(signal.SIGTERM)
        await server.ended()
        assert server.text.count("\n") > 40
        assert [line for line in server.text.splitlines() if "0x" in line] == []


async def test_settings_come_from_the_file_and_the_command_line_wins(tmp_path: Path) -> None:
    settings = tmp_path / "my.toml"
    settings.write_text('[world]\nname = "From File"\nmax_level = 80\n', encoding="utf-8")
    words = ("--config", "my.toml")
    async with server_process(tmp_path, words=words) as server:
        await server.line("world: From File, clients on UDP")
    async with server_process(tmp_path, {"world.name": "From Line"}, words=words) as server:
        await server.line("world: From Line, clients on UDP")
    async with server_process(tmp_path, {"log.format": "json"}, words=words) as server:
        await server.line('"area": "world", "text": "From File, clients on UDP')


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (socket.SOCK_DGRAM, "login.listen"),
        (socket.SOCK_STREAM, "login.listen"),
        (socket.SOCK_DGRAM, "world.listen"),
    ],
)
async def test_a_taken_port_is_said_in_one_line(
    tmp_path: Path, kind: socket.SocketKind, key: str
) -> None:
    with closing(socket.socket(socket.AF_INET, kind)) as holder:
        holder.bind((HOST, 0))
        if kind == socket.SOCK_STREAM:
            holder.listen()
        port = holder.getsockname()[1]
        lines = await fails(tmp_path, {key: f"{HOST}:{port}"})
    (line,) = [line for line in lines if " info " not in line]
    protocol = "UDP" if kind == socket.SOCK_DGRAM else "TCP"
    assert f" error server: {key}: cannot listen on {protocol} {HOST}:{port} " in line


DATABASES = {
    "newer": ("PRAGMA application_id = 1701917285", "PRAGMA user_version = 9999"),
    "foreign": ("CREATE TABLE customers (id INTEGER)", "PRAGMA user_version = 3"),
    "of another program": ("PRAGMA application_id = 77", "CREATE TABLE t (x)"),
}


def make_database(path: Path, name: str) -> bytes:
    """Make a database that is not ours and return its bytes."""
    with closing(sqlite3.connect(path)) as database:
        for statement in DATABASES[name]:
            database.execute(statement)
        database.commit()
    return path.read_bytes()


async def test_a_newer_database_ends_the_program_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    before = make_database(path, "newer")
    (line,) = await fails(tmp_path, {})
    assert line.startswith("emu: ")
    assert str(path) in line
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_that_is_not_ours_is_left_untouched(tmp_path: Path, name: str) -> None:
    path = tmp_path / "emu.sqlite"
    before = make_database(path, name)
    (line,) = refused(tmp_path, {})
    assert line.startswith("emu: ")
    assert str(path) in line
    assert path.read_bytes() == before
    assert [name for name in names_in(tmp_path) if "emu" in name] == ["emu.sqlite"]


@pytest.mark.parametrize("kind", ["text", "folder", "below a file"])
def test_a_database_that_cannot_be_read_is_said_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_text("This is not a database. " * 100, encoding="utf-8")
    if kind == "below a file":
        path /= "emu.sqlite"
    (line,) = refused(tmp_path, {"database.url": f"sqlite:{path}"})
    assert line.startswith("emu: ")
    assert str(path) in line


async def test_all_that_is_wrong_in_a_configuration_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        '[login]\nmax_characters = "many"\ncrc_sed = 5\n[world]\nmax_level = 0\n[chat]\nport = 1\n',
        encoding="utf-8",
    )
    overrides = {"login.cities_flag": 256, "network.idle_timeout": "soon"}
    lines = await fails(tmp_path, overrides, "--config", "bad.toml")
    for key in ("login.max_characters", "login.crc_sed", "world.max_level", "[chat]",
                "login.cities_flag", "network.idle_timeout"):  # fmt: skip
        assert len([line for line in lines if f"bad.toml: {key}: " in line]) == 1, (key, lines)
    assert len(lines) == 6
    assert not (tmp_path / "emu.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--config", "missing.toml"), "missing.toml"),
        (("--config", "broken.toml"), "broken.toml"),
        (("--set", "login.lissten=127.0.0.1:1"), "login.lissten"),
        (("--set", "nonsense"), "--set nonsense"),
        (
            ("--set", "link.certificate=/nowhere/link.pem", "--set",
             "link.tls_listen=127.0.0.1:0"),
            "/nowhere/link.pem",
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("[login\n", encoding="utf-8")
    (line,) = refused(tmp_path, {}, *words)
    assert line.startswith("emu: ")
    assert named in line


async def test_a_trace_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (line,) = await fails(tmp_path, {"trace.file": "/nowhere/trace.pcapng"})
    assert " error server: /nowhere/trace.pcapng: cannot be written" in line


async def test_two_servers_on_one_database_do_each_other_no_harm(tmp_path: Path) -> None:
    """Whatever becomes of the second, the first goes on and nothing is lost."""
    add_account(tmp_path / "emu.sqlite", "testlabs", "testpass")
    async with server_process(tmp_path) as first:
        await first.line("world Norrath .* registered")
        second = ServerProcess(tmp_path, settings_of(tmp_path / "emu.sqlite", {}), [], forked=True)
        await until(lambda: second.process.poll() is not None or "ready" in second.text, "it", 20)
        second.kill()
        client = await connect(reactor, HOST, first.login_port, "testlabs", "testpass")
        await client.login()
        assert len(await client.worlds()) == 1
        await client.close()
