"""Host names where the configuration has them for a port to listen on.

A name that others look up (`world.advertise`, `world.login_servers`) stays a name.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any, Final

from twisted.internet.error import CannotListenError

from emu.admin.status import OpenDoor
from emu.config import Address, Config
from emu.config.ports import listening_ports
from emu.errors import ConfigError

BACKLOG: Final = 1024
"""Connections that may wait to be taken: a crowd that comes at once."""


def listen_address(key: str, address: Address) -> Address:
    """Return the IP address to listen on, IPv4 when a name has both; waits for the name's answer.

    `key` is the setting, for the error: raises `ConfigError` when the name has no address.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            [f"{key}: the host name {address.host} cannot be resolved ({reason}); write an address"]
        ) from None
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return Address(str(found[0][4][0]), address.port)


def door(key: str, port: Any, counters: Mapping[str, int]) -> OpenDoor:
    """Return what is told of a port of Twisted's that is open; `key` is its setting."""
    host = port.getHost()
    if hasattr(host, "name"):
        return OpenDoor(key, "UNIX", os.fsdecode(host.name), dict(counters))
    return OpenDoor(key, host.type, str(Address(host.host, host.port)), dict(counters))


def cannot_listen(key: str, error: CannotListenError) -> str:
    """Return the line for a port that is taken or not ours to take; `key` is its setting."""
    reason = getattr(error.socketError, "strerror", None) or error.socketError
    return (
        f"{key}: cannot listen on {error.interface}:{error.port} ({reason}); "
        "stop the program that holds the port, or choose another"
    )


def key_of(config: Config, error: CannotListenError) -> str:
    """Return the setting of a port that cannot be opened."""
    failed = Address(str(error.interface), int(error.port))
    ports = [(port.key, port.address) for port in listening_ports(config)]
    found = (key for key, address in ports if failed == listen_address(key, address))
    return next(found, "login.listen")
