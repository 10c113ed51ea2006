"""The sockets of several workers on one port."""

from __future__ import annotations

import os
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet.error import CannotListenError, ConnectionDone
from twisted.python.failure import Failure

from emu.config import Address
from emu.net.login import shared_port
from emu.net.login.shared_port import SharedPort, SupervisorPipe, inherited_port, open_shared

HOST = "127.0.0.1"


@pytest.fixture
def port() -> Iterator[SharedPort]:
    opened = open_shared(Address(HOST, 0), 3)
    yield opened
    opened.close()


def test_all_sockets_have_one_address_and_share_the_clients(port: SharedPort) -> None:
    assert {handle.getsockname() for handle in (*port.clients, port.links)} == {
        (HOST, port.address.port)
    }
    served: Counter[int] = Counter()
    for number in range(48):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            for _ in range(2):
                client.sendto(str(number).encode(), (HOST, port.address.port))
    for index, handle in enumerate(port.clients):
        heard: Counter[bytes] = Counter()
        while True:
            try:
                heard[handle.recv(100)] += 1
            except BlockingIOError:
                break
        assert set(heard.values()) <= {2}, "a client stays with its worker"
        served[index] = len(heard)
    assert served.total() == 48
    assert min(served.values()) > 0


def test_workers_inherit_their_own_socket_and_the_first_the_links(port: SharedPort) -> None:
    assert port.descriptors(0) == {3: port.clients[0].fileno(), 4: port.links.fileno()}
    assert port.descriptors(2) == {3: port.clients[2].fileno()}
    assert (inherited_port(0).links, inherited_port(1).links) == (4, None)


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_port_in_use_is_refused_and_nothing_stays_open(kind: int) -> None:
    with socket.socket(socket.AF_INET, kind) as other:
        other.bind((HOST, 0))
        if kind == socket.SOCK_STREAM:
            other.listen()
        number = other.getsockname()[1]
        before = len(list(Path("/proc/self/fd").iterdir()))
        with pytest.raises(CannotListenError):
            open_shared(Address(HOST, number), 2)
        assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_second_supervisor_is_refused(port: SharedPort) -> None:
    with pytest.raises(CannotListenError):
        open_shared(port.address, 2)


def test_another_number_is_tried_when_only_one_protocol_has_it_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[Address] = []
    opens = shared_port._open

    def fail_twice(address: Address, count: int) -> SharedPort:
        tried.append(address)
        if len(tried) < 3:
            raise CannotListenError(HOST, 0, OSError("in use"))
        return opens(address, count)

    monkeypatch.setattr(shared_port, "_open", fail_twice)
    open_shared(Address(HOST, 0), 2).close()
    assert len(tried) == 3


def test_a_worker_ends_once_its_standard_input_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks, ends = [b"x", b""], list[None]()
    monkeypatch.setattr("os.read", lambda _descriptor, _size: chunks.pop(0))
    pipe = SupervisorPipe(lambda: ends.append(None))
    assert pipe.fileno() == 0
    assert pipe.doRead() is None
    end = pipe.doRead()
    assert isinstance(end, ConnectionDone)
    pipe.connectionLost(Failure(end))
    assert len(ends) == 1
    assert pipe.fileno() == -1  # a reactor drops what has no descriptor


def test_ipv6_has_the_same_form() -> None:
    try:
        opened = open_shared(Address("::1", 0), 2)
    except CannotListenError:
        pytest.skip("no IPv6 on this machine")
    assert opened.address.host == "::1"
    opened.close()


def test_a_worker_ends_the_whole_server_by_its_supervisor_but_no_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[object] = []
    monkeypatch.setattr("os.kill", lambda *call: sent.append(call))
    inherited = inherited_port(0)
    inherited.end_supervisor()
    assert sent == [(os.getppid(), signal.SIGTERM)]
    monkeypatch.setattr("os.getppid", lambda: 1)
    inherited.end_supervisor()
    assert len(sent) == 1
