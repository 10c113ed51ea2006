"""Which addresses are banned: single ones, prefixes of whole parts, and networks.

EQ2Emulator compares the texts' beginnings, so that a ban of 10.0.0.1 also hits 10.0.0.17; here a
prefix ends where a part of the address ends. Every ban is a network in the end, and an address is
looked up once for each length of network that there is, however many bans there are.
"""

from __future__ import annotations

import ipaddress
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from emu.limits.addresses import parse_host
from emu.times import Moment

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
    return until is None or moment < until
