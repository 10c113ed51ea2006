"""A stop while every listener has peers: in order, within five seconds."""

from __future__ import annotations

import signal
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from emu.admin.console import ConsoleClient
from emu.admin.ggmp.client import GgmpClient
from emu.admin.rcon import PacketType, RconPacket
from emu.client import Credentials
from emu.client.flow import Entrance
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.net.link.tls import make_certificate
from tests.support.patience import patience
from tests.support.running.clients import connect
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    find_port,
    reactor,
    rows,
    server_process,
    sleep,
)

PASSWORD = "a long password"
TOKEN = "3f9a2c71d05be846"
LISTENERS: dict[str, object] = {
    "login.auto_create_accounts": True,
    "rcon.listen": f"{HOST}:0",
    "rcon.password": PASSWORD,
    "a2s.listen": f"{HOST}:0",
    "ogp.listen": f"{HOST}:0",
    "ssq.enabled": True,
    "ssq.listen": f"{HOST}:0",
    "ggmp.listen": f"{HOST}:0",
    "web.listen": f"{HOST}:0",
    "link.tls_listen": f"{HOST}:0",
    "world.save_seconds": 3600,
}
LONGEST = 5.0
"""Seconds that a stop may take."""


@contextmanager
def connected(server: ServerProcess, area: str, said: bytes = b"") -> Iterator[socket.socket]:
    """A TCP connection on which something is said, and then nothing is read or written."""
    port = find_port(server.text, area, "on" if area == "web" else "TCP")
    with socket.create_connection((HOST, port), patience(LONGEST)) as peer:
        peer.sendall(said)
        yield peer


@contextmanager
def secured(server: ServerProcess) -> Iterator[socket.socket]:
    """A world on TLS that hangs: it does not even agree to the end."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    port = find_port(server.text, "link", "TLS")
    with context.wrap_socket(socket.create_connection((HOST, port), patience(LONGEST))) as peer:
        yield peer


@contextmanager
def console(path: Path, said: bytes) -> Iterator[socket.socket]:
    """A console somebody sits in."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(path))
        peer.sendall(said)
        yield peer


@contextmanager
def ggmp(server: ServerProcess) -> Iterator[socket.socket]:
    """A tool that has joined and acknowledges nothing from then on."""
    client = GgmpClient()
    client.join(TOKEN, 0.0)
    with socket.socket(type=socket.SOCK_DGRAM) as peer:
        peer.connect((HOST, find_port(server.text, "ggmp", "UDP")))
        for datagram in client.data_to_send():
            peer.send(datagram)
        yield peer


def enter_every_listener(server: ServerProcess, stack: ExitStack) -> list[socket.socket]:
    """Connect to every listener, in several ways where that matters."""
    login = RconPacket(1, PacketType.AUTH, PASSWORD.encode()).encode()
    ask = RconPacket(2, PacketType.EXECCOMMAND, b"help").encode()
    path = server.folder / "emu.sqlite.console"
    request = ConsoleClient().request("snapshot")
    return [
        stack.enter_context(one)
        for one in (
            connected(server, "rcon", login),
            connected(server, "rcon", login + ask * 50),
            connected(server, "rcon", b"\x0a"),
            connected(server, "web", b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            connected(server, "web", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            connected(server, "web", b"GET /metrics HTTP/1.1\r\nHos"),
            connected(server, "link"),
            connected(server, "link", b"\x40\x03\x00\x00"),
            secured(server),
            console(path, b""),
            console(path, request * 20),
            console(path, b'{"line": "sta'),
            ggmp(server),
        )
    ]


async def walk_in(server: ServerProcess, name: str) -> ClientWorldConnection:
    entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
    client = await enter_world(reactor, HOST, server.login_port, entrance)
    place = client.core.place
    client.walk_to(place.x + 500.0, place.y, place.z, 2.0)
    return client


async def test_everybody_is_sent_away_and_saved_in_five_seconds(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"radar * {TOKEN}\n")
    (tmp_path / "link.pem").write_bytes(make_certificate("emu", datetime.now(UTC)))
    settings = {
        **LISTENERS,
        "ggmp.tokens_file": tmp_path / "tokens",
        "link.certificate": tmp_path / "link.pem",
    }
    async with server_process(tmp_path, settings) as server:
        await server.line(r"world Norrath \(1\) registered")
        walker, silent = [await walk_in(server, name) for name in ("Aldana", "Borvik")]
        at_the_list = await connect(reactor, HOST, server.login_port, "carol", "secret")
        await at_the_list.login()
        begun = walker.core.place.x
        with ExitStack() as stack:
            peers = enter_every_listener(server, stack)
            await sleep(1.0)
            await silent.stop()
            await at_the_list.stop()
            at = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            assert await server.ended() == -signal.SIGTERM, server.text
            took = time.monotonic() - at
            assert took < patience(LONGEST), server.text
            for peer in peers:
                assert peer.type == socket.SOCK_DGRAM or has_ended(peer)
        walked = walker.core.place.x
        await walker.stop()
        text = server.text
    assert "Traceback" not in text
    assert " error " not in text
    assert text.count("server: stopped") == 1
    assert text.rstrip().endswith("server: stopped")
    for name in ("Aldana", "Borvik"):
        assert f"world: {name} left Isle of Refuge: the world stops" in text
    found = dict(rows(tmp_path / "emu.sqlite", "SELECT name, x FROM world_characters"))
    assert begun < found["Aldana"] <= walked + 0.5
    assert begun < found["Borvik"]
    assert rows(tmp_path / "emu.sqlite", "PRAGMA integrity_check") == [("ok",)]
    assert not (tmp_path / "emu.sqlite.console").exists()


def has_ended(peer: socket.socket) -> bool:
    """Read a connection to its end; one that nobody has ended raises `TimeoutError`."""
    try:
        while peer.recv(65536):
            pass
    except ConnectionError:
        return True
    return True
