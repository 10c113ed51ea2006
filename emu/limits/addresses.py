"""IP addresses: what counts as one sender, and which addresses are banned.

Limits, bans, throttles, logs and the loopback check share one rule: an IPv4 address counts alone,
an IPv6 address counts with its /64 network.

A socket bound to ``::`` reports IPv4 addresses inside IPv6 (``::ffff:192.0.2.7``). Every address
passes `plain_host` where it leaves a socket, so the code behind sees only the IPv4 form.
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
_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")
# A flood repeats few addresses or uses each once; both need no larger cache.
_REMEMBERED: Final = 4096


def parse_host(host: str) -> IpAddress:
    """Return the address in a text, IPv4 inside IPv6 as IPv4; raises `ValueError`.

    The zone of a link-local address (``%eth0``) is dropped.
    """
    # The zone names an interface of this machine, so the same host may appear with several zones.
    parsed = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed


def is_host(text: str) -> bool:
    """Return whether a text is an IP address or the name of a host."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        # A name that ends in a number is a mistyped address, like 10.0.0.300.
        last = text.rstrip(".").rpartition(".")[2]
        # 253 characters is the limit of DNS.
        return bool(_NAME.fullmatch(text)) and not last.isdecimal() and len(text) <= 253
    return True


def plain_host(host: str) -> str:
    """Return a host with IPv4 inside IPv6 as IPv4; text that is not an address unchanged."""
    # A quick test: nearly every address is plain, and parsing is slow.
    if not host.startswith(_MAPPED):
        return host
    try:
        return str(parse_host(host))
    except ValueError:
        return host


def socket_host(host: str) -> str:
    """Return a plain host in the form that an IPv6 socket needs, the inverse of `plain_host`."""
    return host if ":" in host else _MAPPED + host


def address_key(host: str) -> str:
    """Return what counts as one sender: an IPv4 host itself, the /64 network of an IPv6 host.

    Text that is not an address (a UNIX socket's name) counts by itself.
    """
    # An IPv6 user has a whole /64 network and could use another address for each attempt.
    return _network(host) if ":" in host else host


@lru_cache(maxsize=_REMEMBERED)
def _network(host: str) -> str:
    try:
        parsed = parse_host(host)
    except ValueError:
        return host
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    # Shifts clear the lower 64 bits, which the user of the network chooses.
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


@lru_cache(maxsize=_REMEMBERED)
def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return parse_host(host).is_loopback
    except ValueError:
        return False


def reachable(host: str) -> str:
    """Return an address at which a port bound to `host` can be reached from this machine."""
    # A port bound to all addresses has no address of its own to connect to.
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def host_port(host: str, port: int) -> str:
    """Return host and port as one text, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAPPED_LENGTH: Final = 96
"""Bits of ::ffff:0:0/96, under which IPv4 lies inside IPv6."""
_PREFIX: Final = re.compile(r"[0-9a-f.:]{1,45}", re.IGNORECASE)


class _Kind(NamedTuple):
    """The notation of one version of IP: groups of digits."""

    network: type[Network]
    separator: str
    groups: int
    bits: int
    """Bits of a group."""
    base: int
    """Number base of a group."""


_KINDS: Final = (
    _Kind(ipaddress.IPv4Network, ".", groups=4, bits=8, base=10),
    _Kind(ipaddress.IPv6Network, ":", groups=8, bits=16, base=16),
)


def normalize_prefix(text: str) -> str:
    """Return the stored form of a ban: an address, a prefix of whole groups, or a network.

    Raises `ValueError` with examples of valid forms.
    """
    text = text.strip().lower()
    try:
        if "/" in text:
            return str(_plain_network(text))
        return str(parse_host(text))
    except ValueError:
        pass
    # Digits must remain: a ban of only separators would cover nothing.
    if "/" not in text and _PREFIX.fullmatch(text) and text.strip(".:"):
        return text.rstrip(".") if "." in text else text.rstrip(":")
    raise ValueError(f"{text!r} is not an address; use 192.0.2.7, 192.0.2 or 192.0.2.0/24")


class BanList:
    """The bans of addresses, parsed once."""

    # EQ2Emulator compares the beginnings of the texts, so a ban of 10.0.0.1 also matches 10.0.0.17.
    # Here a prefix ends at the end of a group, so every ban is a network. An address is looked up
    # once for each length of network that occurs, whatever the number of bans.

    __slots__ = ("_is_empty", "_networks", "_words")

    def __init__(self, bans: Iterable[tuple[str, Moment | None]]) -> None:
        """Take (stored prefix, end of the ban, None for never) of each ban.

        Text that is not an address (a UNIX socket's name, or a row of another tool) bans that text.
        """
        self._words: dict[str, Moment | None] = {}
        self._networks: dict[int, dict[int, dict[int, Moment | None]]] = {
            4: defaultdict(dict),
            6: defaultdict(dict),
        }
        """By version of IP and number of bits that are not compared: the compared bits -> end."""
        for prefix, until in bans:
            networks = networks_of(prefix)
            if not networks:
                self._words[prefix] = until
            for network in networks:
                free = network.max_prefixlen - network.prefixlen
                same = self._networks[network.version][free]
                bits = int(network.network_address) >> free
                # Several rows may name the same network, such as 10 and 10.0.0.0/8; the longer ban
                # counts.
                same[bits] = _later(same[bits], until) if bits in same else until
        self._is_empty = not self._words and not any(self._networks.values())

    def covers(self, address: str, moment: Moment) -> bool:
        """Return whether a ban that has not ended at this moment covers an address."""
        # Usually there is none, and parsing takes longest.
        if self._is_empty:
            return False
        try:
            parsed = parse_host(address)
        except ValueError:
            return address in self._words and _holds(self._words[address], moment)
        number = int(parsed)
        for free, bans in self._networks[parsed.version].items():
            bits = number >> free
            # Bans that have ended stay in the list until it is made anew; only their time is
            # compared.
            if bits in bans and _holds(bans[bits], moment):
                return True
        return False


def networks_of(prefix: str) -> list[Network]:
    """Return the networks that a ban covers; none if it is no address.

    A prefix of one group, such as 10, fits both versions of IP and covers both.
    """
    try:
        if "/" in prefix:
            return [_plain_network(prefix)]
        return [ipaddress.ip_network(parse_host(prefix))]
    except ValueError:
        return [network for kind in _KINDS if (network := _network_of_groups(prefix, kind))]


def _network_of_groups(prefix: str, kind: _Kind) -> Network | None:
    try:
        numbers = [int(group, kind.base) for group in prefix.split(kind.separator)]
    except ValueError:
        return None
    # A complete address was parsed before, so here at least one group is missing.
    if len(numbers) >= kind.groups or any(number >> kind.bits for number in numbers):
        return None
    padded = numbers + [0] * (kind.groups - len(numbers))
    address = sum(number << kind.bits * place for place, number in enumerate(reversed(padded)))
    return kind.network((address, kind.bits * len(numbers)))


def _plain_network(text: str) -> Network:
    """Return a network, IPv4 inside IPv6 as IPv4."""
    network = ipaddress.ip_network(text, strict=False)
    inside = getattr(network.network_address, "ipv4_mapped", None)
    # A shorter prefix covers more than the IPv4 addresses inside IPv6, so it stays IPv6.
    if inside is None or network.prefixlen < _MAPPED_LENGTH:
        return network
    return ipaddress.IPv4Network((inside, network.prefixlen - _MAPPED_LENGTH))


def _later(one: Moment | None, other: Moment | None) -> Moment | None:
    # None means a ban without an end, which is later than any other.
    return None if one is None or other is None else max(one, other)


def _holds(until: Moment | None, moment: Moment) -> bool:
    return until is None or lies_ahead(until, moment)
