"""IP addresses: what counts as one sender, and which addresses are banned.

One rule for limits, bans, throttles, logs and loopback: an IPv4 address counts alone, an IPv6
address counts with its /64 network.

An IPv4 address inside IPv6 (``::ffff:192.0.2.7``, what a socket bound to ``::`` reports) is that
IPv4 address. The shells spell every address with `plain_host` where it comes out of a socket, so
that nothing behind them ever meets the other form.

EQ2Emulator compares the texts' beginnings, so that a ban of 10.0.0.1 also hits 10.0.0.17; here a
prefix ends where a part of the address ends. Every ban is a network in the end, and an address is
looked up once for each length of network that there is, however many bans there are.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from emu.times import Moment, lies_ahead

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


Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAPPED_LENGTH: Final = 96
"""Bits of ::ffff:0:0/96, under which IPv4 lies inside IPv6."""
_PREFIX: Final = re.compile(r"[0-9a-f.:]{1,45}", re.IGNORECASE)


class _Kind(NamedTuple):
    """How addresses of one version of IP are written: in parts."""

    network: type[Network]
    separator: str
    parts: int
    bits: int
    """Of a part."""
    base: int
    """That a part is written in."""


_KINDS: Final = (
    _Kind(ipaddress.IPv4Network, ".", parts=4, bits=8, base=10),
    _Kind(ipaddress.IPv6Network, ":", parts=8, bits=16, base=16),
)


def normalize_prefix(text: str) -> str:
    """Return how a ban is stored: an address, a prefix of whole parts, or a network.

    Raises `ValueError` saying what would be right.
    """
    text = text.strip().lower()
    try:
        if "/" in text:
            return str(_plain_network(text))
        return str(parse_host(text))
    except ValueError:
        pass
    if "/" not in text and _PREFIX.fullmatch(text) and text.strip(".:"):
        return text.rstrip(".") if "." in text else text.rstrip(":")
    raise ValueError(f"{text!r} is no address; use 192.0.2.7, 192.0.2 or 192.0.2.0/24")


class BanList:
    """Bans, parsed once. Says whether an address is banned."""

    __slots__ = ("_networks", "_words")

    def __init__(self, bans: Iterable[tuple[str, Moment | None]]) -> None:
        """Take (prefix as it is stored, when the ban ends, None for never) of each ban.

        What is no address (a UNIX socket's name, or what another tool wrote) covers the same text.
        """
        self._words: dict[str, Moment | None] = {}
        self._networks: dict[int, dict[int, dict[int, Moment | None]]] = {
            4: defaultdict(dict),
            6: defaultdict(dict),
        }
        """By version of IP and number of bits that are not compared: the other bits -> end."""
        for prefix, until in bans:
            networks = networks_of(prefix)
            if not networks:
                self._words[prefix] = until
            for network in networks:
                free = network.max_prefixlen - network.prefixlen
                same = self._networks[network.version][free]
                bits = int(network.network_address) >> free
                same[bits] = _later(same[bits], until) if bits in same else until

    def covers(self, address: str, moment: Moment) -> bool:
        """Say whether a ban that has not ended at this moment covers an address."""
        try:
            parsed = parse_host(address)
        except ValueError:
            return address in self._words and _holds(self._words[address], moment)
        number = int(parsed)
        for free, bans in self._networks[parsed.version].items():
            bits = number >> free
            if bits in bans and _holds(bans[bits], moment):
                return True
        return False


def networks_of(prefix: str) -> list[Network]:
    """Return the networks that a ban covers; none when it is no address.

    A prefix of one part, such as 10, may be meant of either kind of address and is taken for both.
    """
    try:
        if "/" in prefix:
            return [_plain_network(prefix)]
        return [ipaddress.ip_network(parse_host(prefix))]
    except ValueError:
        return [network for kind in _KINDS if (network := _network_of_parts(prefix, kind))]


def _network_of_parts(prefix: str, kind: _Kind) -> Network | None:
    try:
        numbers = [int(part, kind.base) for part in prefix.split(kind.separator)]
    except ValueError:
        return None
    if len(numbers) >= kind.parts or any(number >> kind.bits for number in numbers):
        return None
    padded = numbers + [0] * (kind.parts - len(numbers))
    address = sum(number << kind.bits * place for place, number in enumerate(reversed(padded)))
    return kind.network((address, kind.bits * len(numbers)))


def _plain_network(text: str) -> Network:
    """Return a network as addresses are compared: one of IPv4 inside IPv6 as IPv4."""
    network = ipaddress.ip_network(text, strict=False)
    inside = getattr(network.network_address, "ipv4_mapped", None)
    if inside is None or network.prefixlen < _MAPPED_LENGTH:
        return network
    return ipaddress.IPv4Network((inside, network.prefixlen - _MAPPED_LENGTH))


def _later(one: Moment | None, other: Moment | None) -> Moment | None:
    return None if one is None or other is None else max(one, other)


def _holds(until: Moment | None, moment: Moment) -> bool:
    return until is None or lies_ahead(until, moment)
