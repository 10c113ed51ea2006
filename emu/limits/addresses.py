"""Whom an IP address stands for: one rule for limits, bans, throttles, logs and loopback.

An IPv4 address inside IPv6 (``::ffff:192.0.2.7``, what a socket bound to ``::`` reports) is that
IPv4 address. The shells spell every address with `plain_host` where it comes out of a socket, so
that nothing behind them ever meets the other form.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_MAPPED: Final = "::ffff:"
_REMEMBERED: Final = 4096


def parse_host(host: str) -> IpAddress:
    """Return the address a text names, IPv4 inside IPv6 as IPv4; raises `ValueError`.

    The zone of a link-local address (``%eth0``) is no part of it.
    """
    parsed = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def plain_host(host: str) -> str:
    """Return a host as everything behind the sockets knows it; text that is no address as it is."""
    if not host.startswith(_MAPPED):
        return host
    try:
        return str(parse_host(host))
    except ValueError:
        return host


def socket_host(host: str) -> str:
    """Return a plain host as an IPv6 socket takes it, the inverse of `plain_host`."""
    return host if ":" in host else _MAPPED + host


def address_key(host: str) -> str:
    """Return whom a host stands for: itself for IPv4, its /64 network for IPv6.

    Text that is no address (a UNIX socket's name) stands for itself.
    """
    return _network(host) if ":" in host else host


@lru_cache(maxsize=_REMEMBERED)
def _network(host: str) -> str:
    try:
        parsed = parse_host(host)
    except ValueError:
        return host
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


@lru_cache(maxsize=_REMEMBERED)
def is_loopback(host: str) -> bool:
    """Say whether a host is this machine."""
    try:
        return parse_host(host).is_loopback
    except ValueError:
        return False


def reachable(host: str) -> str:
    """Return an address at which a port bound to `host` can be reached from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
