"""Datagrams of a socket, one by one and many at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from emu.built import compiled_parts
from emu.net.udp import dispatcher, sockets
from emu.net.udp.dispatcher import MOST_KEPT, Outbox

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two,
    ):
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
            each.setblocking(False)
        yield one, two


def waiting(handle: socket.socket) -> list[bytes]:
    found = []
    while True:
        try:
            found.append(handle.recv(4096))
        except BlockingIOError:
            return found


def test_not_many_wait_for_each_other(pair: Pair) -> None:
    one, two = pair
    outbox = Outbox(one, lambda _data, _address: None)
    for number in range(MOST_KEPT):
        assert waiting(two) == []
        outbox.put(bytes([number]), two.getsockname())
    assert waiting(two) == [bytes([number]) for number in range(MOST_KEPT)]
    outbox.put(b"one more", two.getsockname())
    assert waiting(two) == []


def test_what_is_put_leaves_with_the_next_flush_at_the_latest(pair: Pair) -> None:
    one, two = pair
    outbox = Outbox(one, lambda _data, _address: None)
    sent = [bytes([number]) * (number + 1) for number in range(200)]
    for data in sent:
        outbox.put(data, two.getsockname())
    outbox.flush()
    outbox.flush()
    assert waiting(two) == sent
    assert outbox.lost == 0


def test_what_cannot_leave_is_counted_and_the_rest_leaves(pair: Pair) -> None:
    one, two = pair
    outbox = Outbox(one, lambda _data, _address: None)
    outbox.put(b"x" * 70_000, two.getsockname())
    outbox.put(b"y", two.getsockname())
    outbox.flush()
    assert waiting(two) == [b"y"]
    assert outbox.lost == 1


def test_without_a_socket_the_transport_writes() -> None:
    written: list[tuple[bytes, Any]] = []
    outbox = Outbox(None, lambda data, address: written.append((data, address)))
    outbox.put(b"x", ("127.0.0.1", 1))
    outbox.flush()
    assert written == [(b"x", ("127.0.0.1", 1))]


def test_the_compiled_module_gets_many_at_once(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    class Compiled:
        @staticmethod
        def send(fileno: int, entries: list[tuple[bytes, tuple[str, int]]]) -> int:
            calls.append((fileno, entries))
            return 1

        @staticmethod
        def receive(fileno: int, size: int) -> list[tuple[bytes, tuple[str, int]]]:
            calls.append((fileno, size))
            return [(b"x", ("::1", 5))]

    monkeypatch.setattr(sockets, "_compiled", Compiled)
    monkeypatch.setattr(dispatcher, "_compiled", Compiled)
    one, _ = pair
    outbox = Outbox(one, lambda _data, _address: None)
    outbox.put(b"a", ("::1", 1))
    outbox.put(b"b", ("::1", 2))
    assert calls == []
    outbox.flush()
    assert calls == [(one.fileno(), [(b"a", ("::1", 1)), (b"b", ("::1", 2))])]
    assert outbox.lost == 1
    assert sockets.receive(one, 99) == [(b"x", ("::1", 5))]


def test_what_waits_is_read_with_who_sent_it(pair: Pair) -> None:
    one, two = pair
    assert sockets.receive(two, 1000) == []
    for number in range(150):
        one.sendto(bytes([number]), two.getsockname())
    found = sockets.receive(two, 100_000)
    assert found == [(bytes([number]), one.getsockname()) for number in range(150)]
    one.sendto(b"", two.getsockname())
    one.sendto(b"z" * 5000, two.getsockname())
    assert [len(data) for data, _ in sockets.receive(two, 100_000)] == [0, 4096]


def test_a_flood_is_read_in_portions_be_it_of_empty_datagrams(pair: Pair) -> None:
    one, two = pair
    for _ in range(200):
        one.sendto(b"", two.getsockname())
    assert len(sockets.receive(two, 160)) <= 64
    assert len(sockets.receive(two, 100_000)) >= 136


def test_an_ipv6_address_is_host_and_port() -> None:
    with (
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as two,
    ):
        for each in (one, two):
            each.bind(("::1", 0))
            each.setblocking(False)
        one.sendto(b"x", two.getsockname())
        assert sockets.receive(two, 100) == [(b"x", one.getsockname()[:2])]


@pytest.mark.skipif("datagrams" not in compiled_parts(), reason="the compiled part is not built")
@pytest.mark.parametrize(
    "entry", [1, (b"x",), ("x", ("::1", 1)), (b"x", 1), (b"x", ("nobody", 1)), (b"x", (1, 2))]
)
def test_the_compiled_module_refuses_anything_but_datagrams(pair: Pair, entry: Any) -> None:
    outbox = Outbox(pair[0], lambda _data, _address: None)
    outbox._waiting.append(entry)
    with pytest.raises((TypeError, ValueError)):
        outbox.flush()
