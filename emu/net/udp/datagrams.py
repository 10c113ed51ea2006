"""Reads and sends the datagrams of one socket: many with one system call where that is built.

The compiled part (`_datagrams.c`) is optional and changes nothing but the cost. Without it the
datagrams are read and sent one by one. Addresses are (host, port).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

try:
    from emu.net.udp import _datagrams as _compiled  # type: ignore[attr-defined,unused-ignore]
except ImportError:
    _compiled = None

HostPort = tuple[str, int]
ARE_MANY_AT_ONCE: Final = _compiled is not None
"""Whether the compiled part is there."""
LONGEST: Final = 4096
"""Bytes read of one datagram, in either form."""
LEAST: Final = 16
"""Bytes that a datagram counts at least: a flood of empty ones has an end as well."""


def receive(handle: socket.socket, size: int) -> list[tuple[bytes, HostPort]]:
    """Return the datagrams that wait, about `size` bytes of them.

    Raises `OSError` for what is not a matter of waiting.
    """
    if _compiled is None:
        return _receive_singly(handle, size)
    found: list[tuple[bytes, HostPort]] = _compiled.receive(handle.fileno(), size)
    return found


def _receive_singly(handle: socket.socket, size: int) -> list[tuple[bytes, HostPort]]:
    found: list[tuple[bytes, HostPort]] = []
    read = handle.recvfrom
    while size > 0:
        try:
            data, address = read(LONGEST)
        except (BlockingIOError, InterruptedError):
            break
        except ConnectionRefusedError:  # told of an earlier datagram that nobody took
            continue
        found.append((data, address[:2]))
        size -= max(len(data), LEAST)
    return found


class Outbox:
    """Datagrams on their way out of one socket.

    `put` may keep them until `flush`. What cannot leave (a full buffer, an unreachable net) is
    lost: the protocol's own retransmission is the remedy, and `lost` counts it.
    """

    __slots__ = ("_handle", "_waiting", "lost", "put")

    def __init__(self, handle: socket.socket | None, write: Callable[[bytes, Any], object]) -> None:
        """Send through a socket, or by `write` where there is none."""
        self._handle = handle
        self._waiting: list[tuple[bytes, HostPort]] = []
        self.lost = 0
        self.put: Callable[[bytes, HostPort], None]
        """Takes one datagram and its address."""
        if handle is None:
            self.put = self._by(write)
        elif ARE_MANY_AT_ONCE:
            self.put = self._keep
        else:
            # Twisted looks at the address of every datagram whether it is one. Ours are: they come
            # from the same socket.
            self.put = self._by(handle.sendto)

    def flush(self) -> None:
        """Send what was kept."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            assert self._handle is not None  # noqa: S101  # only then is anything kept
            assert _compiled is not None  # noqa: S101
            self.lost += _compiled.send(self._handle.fileno(), waiting)

    def _keep(self, data: bytes, address: HostPort) -> None:
        self._waiting.append((data, address))

    def _by(self, send: Callable[[bytes, HostPort], object]) -> Callable[[bytes, HostPort], None]:
        def put(data: bytes, address: HostPort) -> None:
            try:
                send(data, address)
            except OSError:
                self.lost += 1

        return put
