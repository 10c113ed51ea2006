"""Garbage on the real sockets while players log in: nobody notices, and nothing grows."""

import random
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory, Protocol

from tests.support.login.scripted_world import ls_info
from tests.support.running.clients import connect
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    add_account,
    reactor,
    rows,
    server_process,
    sleep,
    until,
)
from tests.support.sessions.raw_client import (
    KEY_BLOCK,
    STATISTICS,
    RawClient,
    raw_client,
    session_request,
)
from tests.support.sessions.reference_wire import RECORDED

pytestmark = pytest.mark.slow

DATAGRAMS = 4000
ROUNDS = 60
GROWTH = 40_000_000
"""Bytes of memory that a few thousand unknown peers may cost permanently."""


@asynccontextmanager
async def running(
    folder: Path, settings: Mapping[str, object] | None = None
) -> AsyncIterator[ServerProcess]:
    add_account(folder / "emu.sqlite", "testlabs", "testpass")
    add_account(folder / "emu.sqlite", "fuzzer", "fuzz")
    whole = {"link.connections_per_address": 64, **(settings or {})}
    async with server_process(folder, whole) as server:
        await server.line(r"world Norrath \(1\) registered")
        yield server


def memory(server: ServerProcess) -> int:
    """Return the resident memory of a server process in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


async def a_player_is_served(server: ServerProcess) -> None:
    client = await connect(reactor, HOST, server.login_port, "testlabs", "testpass")
    async with client:
        await client.login()
        assert len(await client.worlds()) == 1
        await client.characters()


def garbage(choice: random.Random) -> bytes:
    """Return one datagram that no client would send."""
    noise = choice.randbytes(choice.choice((0, 1, 2, 3, 4, 13, 40, 200, 512, 1400, 5000)))
    kinds = (
        lambda: noise,
        lambda: bytes((0, choice.randrange(256))) + noise,
        lambda: session_request(choice.getrandbits(32), choice.getrandbits(32), noise[:200]),
        lambda: RECORDED[: choice.randrange(len(RECORDED))] + noise,
        lambda: flipped(choice, RECORDED),
        lambda: struct.pack(">HIH", 5, choice.getrandbits(32), 6) + noise[:2],
        lambda: b"\0\3" + bytes(choice.randrange(256) for _ in range(60)),
        lambda: b"\0\x0d" + struct.pack(">HI", choice.randrange(4), 0xFFFFFFFF) + noise,
    )
    return choice.choice(kinds)()


def flipped(choice: random.Random, data: bytes) -> bytes:
    """Return data with one bit flipped."""
    changed = bytearray(data)
    changed[choice.randrange(len(changed))] ^= 1 << choice.randrange(8)
    return bytes(changed)


def valid_garbage(choice: random.Random) -> bytes:
    """Return one protocol packet without its check that means nothing, or something bad."""
    noise = choice.randbytes(choice.choice((0, 1, 2, 3, 5, 60, 300)))
    op = choice.choice((3, 6, 7, 8, 9, 0x0D, 0x11, 0x15, 0x19, 0x1D, 0x33))
    head = struct.pack(">H", op)
    if op in (9, 0x0D):
        head += struct.pack(">H", choice.choice((0, 1, 2, 1000, 65535)))
    if op == 0x0D:
        head += struct.pack(">I", choice.choice((0, 1, 600, 0xFFFFFFFF)))
    if op == 9 and choice.random() < 0.4:
        head += b"\0\x19" * choice.randrange(1, 30)
    return head + noise


async def test_unknown_peers_datagrams_disturb_nobody(tmp_path: Path) -> None:
    choice = random.Random(5)
    async with running(tmp_path) as server:
        await a_player_is_served(server)
        for port in (server.login_port, server.world_port):
            async with raw_client(port) as peer:
                peer.datagramReceived = lambda data, addr: None  # type: ignore[assignment, method-assign]
                for number in range(DATAGRAMS // 2):
                    peer.raw(garbage(choice))
                    if number % 50 == 0:
                        await sleep(0)
                before = memory(server)
                for number in range(DATAGRAMS // 2):
                    peer.raw(garbage(choice))
                    if number % 50 == 0:
                        await sleep(0)
                    if number % 500 == 0:
                        await a_player_is_served(server)
                assert memory(server) - before < GROWTH
        await a_player_is_served(server)
        assert server.process.poll() is None
        assert "Traceback" not in server.text


async def test_garbage_inside_a_session_ends_that_session_at_most(tmp_path: Path) -> None:
    choice = random.Random(6)
    async with running(tmp_path) as server:
        for number in range(60):
            async with raw_client(server.login_port, number + 1) as client:
                await client.request()
                if number % 3:
                    client.packet(STATISTICS)
                    await until(lambda c=client: c.messages, "the key request")  # type: ignore[misc]
                if number % 3 == 2:
                    client.use_key(KEY_BLOCK)
                    client.reliable(KEY_BLOCK)
                for _ in range(40):
                    client.packet(valid_garbage(choice))
                    if client._out is not None:
                        client.send(choice.randbytes(choice.randrange(1, 80)))
                await sleep(0)
            if number % 20 == 0:
                await a_player_is_served(server)
        await a_player_is_served(server)
        assert "Traceback" not in server.text
        assert memory(server) < 250_000_000


async def test_garbage_of_somebody_logged_in_ends_that_session_at_most(tmp_path: Path) -> None:
    choice = random.Random(7)
    async with running(tmp_path) as server:
        for number in range(25):
            async with raw_client(server.login_port, number + 1) as client:
                await client.log_in(b"fuzzer", b"fuzz", choice.choice((546, 561, 1096)))
                for _ in range(30):
                    send_bad_message(client, choice)
                await sleep(0.01)
        await a_player_is_served(server)
        assert "Traceback" not in server.text
        assert rows(tmp_path / "emu.sqlite", "PRAGMA integrity_check") == [("ok",)]


def send_bad_message(client: RawClient, choice: random.Random) -> None:
    """Send a login-phase message with a body that is wrong in some way."""
    opcode = choice.choice((0, 7, 9, 11, 15, 16, 18, 20, 151, 213, 214, 216, 217, 230))
    body = choice.randbytes(choice.choice((0, 1, 4, 11, 12, 40, 400)))
    if choice.random() < 0.5:
        body = struct.pack("<III", 1, 1, 0) + struct.pack("<H", choice.getrandbits(16)) + body
    if client.disconnected:
        return
    client.send(bytes([opcode]) + body[:480])


class Heap(Protocol):
    """A TCP connection that only sends."""

    closed = False

    def connectionLost(self, reason: Any = None) -> None:
        self.closed = True


def heap_of_bytes(choice: random.Random) -> bytes:
    """Return what a world would never write."""
    kind = choice.randrange(5)
    if kind == 0:
        return choice.randbytes(choice.randrange(1, 3000))
    if kind == 1:
        return struct.pack("<IBH", choice.getrandbits(32), choice.randrange(256), 0x1000)
    if kind == 2:
        return struct.pack("<IBH", choice.randrange(7), 0, 0)
    if kind == 3:
        size = choice.randrange(7, 900)
        return struct.pack("<IBHI", size, 1, 0x1000, 0xFFFFFFFF) + choice.randbytes(size - 7)
    info = bytearray(ls_info(b"nobody"))
    for _ in range(20):
        info[choice.randrange(len(info))] = choice.randrange(256)
    return struct.pack("<IBH", 839, 0, 0x1000) + bytes(info)


async def test_garbage_on_the_link_port_disturbs_nobody(tmp_path: Path) -> None:
    choice = random.Random(8)
    factory = Factory.forProtocol(Heap)
    factory.noisy = False
    async with running(tmp_path) as server:
        endpoint = HostnameEndpoint(reactor, HOST, server.link_port)
        for round_ in range(8):
            heaps: list[Any] = [await endpoint.connect(factory) for _ in range(20)]
            for heap in heaps:
                heap.transport.write(heap_of_bytes(choice))
            await a_player_is_served(server)
            for heap in heaps:
                heap.transport.abortConnection()
            await until(lambda h=heaps: all(heap.closed for heap in h), "the ends")  # type: ignore[misc]
            assert server.process.poll() is None, round_
        await a_player_is_served(server)
        assert "Traceback" not in server.text
        assert memory(server) < 250_000_000


async def test_a_flood_of_requests_from_many_addresses_costs_little(tmp_path: Path) -> None:
    """More sessions than may be half open at once: the oldest are thrown out all the time."""
    async with running(tmp_path, {"network.half_open_sessions": 100}) as server:
        await a_player_is_served(server)
        before = memory(server)
        with ExitStack() as stack:
            sockets = [
                stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                for _ in range(150)
            ]
            for number in range(ROUNDS):
                for sender in sockets:
                    request = session_request(number + 1)
                    sender.sendto(request, (HOST, server.login_port))
                    # Too short to hold a check, so that it can never be right by chance.
                    sender.sendto(STATISTICS[:3], (HOST, server.login_port))
                await sleep(0.01)
                if number % 20 == 0:
                    await a_player_is_served(server)
            answers = sum(answered(one) for one in sockets)
        await a_player_is_served(server)
        assert memory(server) - before < GROWTH
        assert 100 < answers <= 150 * ROUNDS, "it was a flood, and each got one answer at most"


def answered(sender: socket.socket) -> int:
    """Count the datagrams that have come to a socket."""
    sender.setblocking(False)
    count = 0
    while True:
        try:
            assert len(sender.recv(2048)) == 21
        except BlockingIOError:
            return count
        count += 1
