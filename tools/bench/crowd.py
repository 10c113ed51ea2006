"""A server with thousands of idle players; the sections `memory` and `idle` measure it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from emu.wire import SessionRequest, packets
from tools.bench.login_child import CHEAP, login_child
from tools.bench.login_players import LoginPlayers
from tools.bench.processes import Child

CROWD = 5000
_AT_ONCE = 250


@contextmanager
def crowd(*settings: str, characters: int = 0) -> Iterator[tuple[Child, LoginPlayers]]:
    """Run a server for a crowd, and the group of its players, who have not logged in yet."""
    with login_child(CROWD, *CHEAP, *settings, characters=characters) as server:
        yield server, LoginPlayers(server.port)


def gather(group: LoginPlayers, count: int = CROWD) -> int:
    """Log everybody in, some hundred at a time; return how many are in."""
    for first in range(0, count, _AT_ONCE):
        group.log_in(group.add(range(first, min(first + _AT_ONCE, count))))
    group.settle()
    return sum(player.seconds is not None and not player.ended for player in group.players)


def knock(port: int, count: int) -> int:
    """Ask for sessions and do no more; return how many were answered."""
    answered = 0
    for number in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind((f"127.2.{number >> 8}.{number & 255}", 0))
            peer.settimeout(1.0)
            request = SessionRequest(number + 1, 512)
            peer.sendto(packets.SESSION_REQUEST.push(request), ("127.0.0.1", port))
            answered += bool(peer.recv(2048))
    return answered
