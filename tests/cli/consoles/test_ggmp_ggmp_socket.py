"""The blocking client without a server; with a server: tests/net/admin/test_ggmp.py."""

import socket

import pytest

from emu.admin.ggmp.messages import GgmpMessageType
from emu.cli.consoles.ggmp import GgmpSocket
from emu.config import Address
from emu.errors import CommandError


def test_nobody_there() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match="lets us not in"):
            GgmpSocket(Address("127.0.0.1", port), "x" * 16, 0.2)
    with pytest.raises(CommandError, match="nothing listens on UDP"):
        GgmpSocket(Address("127.0.0.1", port), "x" * 16, 1.0)


def test_a_name_that_is_none() -> None:
    with pytest.raises(CommandError, match="cannot be reached"):
        GgmpSocket(Address("no-such-host.invalid", 1), "x" * 16, 0.2)


def test_a_name_with_several_addresses_is_tried_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As localhost is, on a machine where it is ::1 first and the server knows IPv4 only."""
    found = socket.getaddrinfo

    def both(_host: str, port: int, **kind: int) -> list[object]:
        return [*found("::1", port, **kind), *found("127.0.0.1", port, **kind)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match="lets us not in"):
            GgmpSocket(Address("localhost", port), "x" * 16, 0.2)
        assert taken.recv(100)[0] == GgmpMessageType.ARB_DATA
    with pytest.raises(CommandError, match="nothing listens on UDP"):
        GgmpSocket(Address("localhost", port), "x" * 16, 1.0)
