"""The blocking client with nobody at the other end; with a server: tests/net/admin/test_ggmp.py."""

import socket

import pytest

from emu.cli.consoles.ggmp_socket import GgmpSocket
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
