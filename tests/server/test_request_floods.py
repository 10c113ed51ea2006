"""Clients log in, over real UDP, while unknown peers request sessions all the time."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from twisted.internet.task import LoopingCall

from tests.support.running.whole_server import HOST, harness, until
from tests.support.sessions.raw_client import STATISTICS, RawClient, raw_client, session_request

SETTINGS = {"network.half_open_sessions": 50}
BURST = 20
MANY = 300
"""Requests that come between two steps of a client: more than may be half open."""


class Flood:
    """Sends requests all the time; `send(number)` sends one."""

    def __init__(self, send: Callable[[int], None]) -> None:
        self.sent = 0
        self._send = send

    def burst(self) -> None:
        for _ in range(BURST):
            self.sent += 1
            self._send(self.sent)

    async def goes_on(self) -> None:
        """Wait until many more were sent."""
        goal = self.sent + MANY
        await until(lambda: self.sent >= goal, "the flood to go on")


@asynccontextmanager
async def flood(send: Callable[[int], None]) -> AsyncIterator[Flood]:
    running = Flood(send)
    loop = LoopingCall(running.burst)
    ended = loop.start(0.002)
    try:
        yield running
    finally:
        loop.stop()
        await ended


def from_many_addresses(port: int) -> Callable[[int], None]:
    """Return what sends each request from another address of this machine."""

    def send(number: int) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind((f"127.9.{number >> 8 & 255}.{number & 255}", 0))
            peer.sendto(session_request(number), (HOST, port))

    return send


async def log_in_slowly(client: RawClient, running: Flood) -> None:
    """Take each step of a login only after many more session requests."""
    await client.request()
    await running.goes_on()
    client.packet(STATISTICS)
    await until(lambda: client.messages, "the key request")
    await running.goes_on()
    await client.log_in()
    await running.goes_on()
    client.send(b"\x07")
    await client.message(8)


async def test_a_client_logs_in_while_many_addresses_ask_for_sessions(tmp_path: Path) -> None:
    async with (
        harness(tmp_path, SETTINGS) as server,
        raw_client(server.login_port) as client,
        flood(from_many_addresses(server.login_port)) as running,
    ):
        await running.goes_on()
        await log_in_slowly(client, running)
        other = await server.logged_in()
        await until(lambda: b"\0\x1d" in client.datagrams, "the end of the earlier session")
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.session_count <= 2
        assert server.service.server.login.dispatcher.endpoint.half_open <= 50
        await other.close()


async def test_a_client_logs_in_while_its_own_address_is_flooded(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server, raw_client(server.login_port) as client:
        async with flood(lambda number: client.raw(session_request(number))) as running:
            await running.goes_on()
            await log_in_slowly(client, running)
        client.disconnect()
        await until(lambda: client.disconnected, "the answer to the disconnect")
        assert server.service.server.login is not None
        assert server.service.server.login.dispatcher.session_count == 0
