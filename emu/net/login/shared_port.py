"""The login port of several workers: the supervisor opens its sockets, each worker adopts one.

All UDP sockets have the same address (SO_REUSEPORT). The kernel chooses the socket by the client's
address, so a client stays with its worker as long as no socket of the port is opened or closed. The
supervisor therefore keeps every socket open until it ends.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet.error import CannotListenError, ConnectionDone
from twisted.internet.interfaces import IReadDescriptor
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.config import Address
from emu.net.stream import BACKLOG, UdpPortTaken
from emu.net.udp.sockets import RECEIVE_BUFFER

STDIN: Final = 0
UDP_DESCRIPTOR: Final = 3
LINK_DESCRIPTOR: Final = 4
"""The descriptors in a worker: its UDP socket, and in the first worker the port of links."""
PORT_TRIES: Final = 16
"""Ports of the system's choice that are tried until one number is free for TCP and UDP."""


@dataclass(frozen=True, slots=True)
class InheritedPort:
    """The sockets of the login port that a worker has from its supervisor."""

    clients: int
    """Descriptor of the UDP socket."""
    links: int | None
    """Descriptor of the listening TCP socket; None in all workers but the first."""
    supervisor: int
    """Process number of the supervisor."""

    def end_supervisor(self) -> None:
        """Stop the whole server: the supervisor ends all workers."""
        # The parent of an orphan is another process; the orphan ends by its standard input.
        if os.getppid() == self.supervisor:
            os.kill(self.supervisor, signal.SIGTERM)


@implementer(IReadDescriptor)
class SupervisorPipe:
    """A worker's standard input, which ends when its supervisor does."""

    def __init__(self, ended: Callable[[], object]) -> None:
        self._ended = ended
        self._is_over = False

    def fileno(self) -> int:
        """Return the descriptor."""
        return -1 if self._is_over else STDIN

    def doRead(self) -> Any:
        """Notice the end; the supervisor writes nothing."""
        return None if os.read(STDIN, 1024) else ConnectionDone()

    def connectionLost(self, reason: Failure) -> None:  # noqa: ARG002
        """End this worker."""
        # The reactor may notice the end without a call of `doRead`.
        self._is_over = True
        self._ended()

    def logPrefix(self) -> str:
        """Return the name for Twisted's log."""
        return "supervisor"


class SharedPort:
    """The sockets of one login port, held by the supervisor."""

    def __init__(self, clients: Sequence[socket.socket], links: socket.socket) -> None:
        self.clients = clients
        self.links = links

    @property
    def address(self) -> Address:
        """The address of all sockets."""
        host, port = self.links.getsockname()[:2]
        return Address(host, port)

    def descriptors(self, index: int) -> dict[int, int]:
        """Return what a worker inherits: descriptor in the worker -> descriptor here."""
        found = {UDP_DESCRIPTOR: self.clients[index].fileno()}
        if index == 0:
            found[LINK_DESCRIPTOR] = self.links.fileno()
        return found

    def close(self) -> None:
        """Close all sockets."""
        for handle in (*self.clients, self.links):
            handle.close()


def inherited_port(index: int) -> InheritedPort:
    """Return the sockets of a worker, which its supervisor has put there."""
    links = LINK_DESCRIPTOR if index == 0 else None
    return InheritedPort(UDP_DESCRIPTOR, links, os.getppid())


def open_shared(address: Address, count: int) -> SharedPort:
    """Open the port of `count` workers at an IP address; port 0 lets the system choose.

    Raises `CannotListenError`, also if another server has opened the port in this way.
    """
    tries = 1 if address.port else PORT_TRIES
    while True:
        tries -= 1
        try:
            return _open(address, count)
        except CannotListenError:
            if not tries:
                raise


def _open(address: Address, count: int) -> SharedPort:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    opened: list[socket.socket] = []

    def bound(kind: int, port: int, *options: int) -> socket.socket:
        handle = socket.socket(family, kind)
        opened.append(handle)
        handle.setblocking(False)
        for option in options:
            handle.setsockopt(socket.SOL_SOCKET, option, 1)
        handle.bind((address.host, port))
        return handle

    try:
        links = bound(socket.SOCK_STREAM, address.port, socket.SO_REUSEADDR)
        links.listen(BACKLOG)
        port = links.getsockname()[1]
        # With SO_REUSEPORT alone, a second server would silently take some of the clients.
        bound(socket.SOCK_DGRAM, port).close()
        clients = [bound(socket.SOCK_DGRAM, port, socket.SO_REUSEPORT) for _ in range(count)]
        for handle in clients:
            # The system may grant less without an error.
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    except OSError as error:
        for handle in opened:
            handle.close()
        if opened and opened[-1].type == socket.SOCK_DGRAM:
            raise UdpPortTaken(address.host, address.port, error) from None
        raise CannotListenError(  # type: ignore[no-untyped-call]
            address.host, address.port, error
        ) from None
    return SharedPort(clients, links)
