"""Which of a world's addresses a client is told: the public one or the one inside.

Source: docs/protocol/link.md#play, docs/protocol/world/entering.md#admission.
"""

from __future__ import annotations

import ipaddress

from emu.limits.addresses import parse_host

_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16",
        "::1/128", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip


def is_private(address: str) -> bool:
    """Say whether an address lies in a private, loopback or link-local network.

    Text that is no IP address lies in none.
    """
    try:
        found = parse_host(address)
    except ValueError:
        return False
    return any(found in network for network in _PRIVATE if network.version == found.version)


def address_for(client_address: str, public: str, internal: str | None) -> str:
    """Return the address to tell a client at `client_address`.

    The internal one, when there is one, is for clients with a private address and for those that
    come from the public address itself, that is through the same router.
    """
    if internal and (client_address == public or is_private(client_address)):
        return internal
    return public
