"""The ports that a server with a configuration opens, each with its setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from emu.config.model import Config
from emu.config.readers import Address

UDP = "UDP"
TCP = "TCP"


class ListeningPort(NamedTuple):
    """A port, with the key of its setting."""

    key: str
    protocol: str
    address: Address


def listening_ports(config: Config) -> Iterator[ListeningPort]:
    """Yield every port that the start opens, those for players first."""
    if config.login.enabled:
        yield ListeningPort("login.listen", UDP, config.login.listen)
        yield ListeningPort("login.listen", TCP, config.login.listen)
    if config.world.enabled:
        yield ListeningPort("world.listen", UDP, config.world.listen)
    if config.link.tls_listen is not None:
        yield ListeningPort("link.tls_listen", TCP, config.link.tls_listen)
    rcon = config.rcon
    # Without a password and users RCON stays closed and opens no port.
    if rcon.password or rcon.password_file or rcon.users_file:
        yield ListeningPort("rcon.listen", TCP, rcon.listen)
    for key, protocol, address in (
        ("web.listen", TCP, config.web.listen),
        ("ogp.listen", UDP, config.ogp.listen),
        ("a2s.listen", UDP, config.a2s.listen),
        ("ssq.listen", UDP, config.ssq.listen if config.ssq.enabled else None),
        ("ggmp.listen", UDP, config.ggmp.listen if config.ggmp.may_be_joined else None),
    ):
        if address is not None:
            yield ListeningPort(key, protocol, address)


def shared_ports(config: Config) -> Iterator[tuple[ListeningPort, ListeningPort]]:
    """Yield each port that an earlier setting also has, with that earlier one."""
    # TCP and UDP may use the same number.
    seen: dict[tuple[str, Address], ListeningPort] = {}
    for port in listening_ports(config):
        # With port 0 the system chooses, so there is no conflict.
        if not port.address.port:
            continue
        first = seen.setdefault((port.protocol, port.address), port)
        if first is not port:
            yield port, first
