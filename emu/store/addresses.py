"""Banned addresses: single ones, prefixes of whole parts, and networks.

EQ2Emulator compares the texts' beginnings, so that a ban of 10.0.0.1 also hits 10.0.0.17; here a
prefix ends where a part of the address ends.
"""

from __future__ import annotations

import ipaddress
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from emu.limits.addresses import parse_host
from emu.times import UNKNOWN, Moment

_MAPPED_LENGTH = 96  # of ::ffff:0:0/96, under which IPv4 lies inside IPv6
_PREFIX = re.compile(r"[0-9a-f.:]{1,45}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BannedAddress:
    """One ban. `until` is the unix time at which it ends, None for never."""

    prefix: str
    reason: str = ""
    added: Moment = UNKNOWN
    until: Moment | None = None


def normalize_prefix(text: str) -> str:
    """Return how a ban is stored: an address, a prefix of whole parts, or a network.

    Raises `ValueError` saying what would be right.
    """
    text = text.strip().lower()
    try:
        if "/" in text:
            return str(_plain_network(ipaddress.ip_network(text, strict=False)))
        return str(parse_host(text))
    except ValueError:
        pass
    if "/" not in text and _PREFIX.fullmatch(text) and text.strip(".:"):
        return text.rstrip(".") if "." in text else text.rstrip(":")
    raise ValueError(f"{text!r} is no address; use 192.0.2.7, 192.0.2 or 192.0.2.0/24")


def _plain_network(
    network: ipaddress.IPv4Network | ipaddress.IPv6Network,
) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return a network as addresses are compared: one of IPv4 inside IPv6 as IPv4."""
    inside = getattr(network.network_address, "ipv4_mapped", None)
    if inside is None or network.prefixlen < _MAPPED_LENGTH:
        return network
    return ipaddress.IPv4Network((inside, network.prefixlen - _MAPPED_LENGTH))


def ban(connection: sqlite3.Connection, entry: BannedAddress) -> bool:
    """Store a ban; one for the same prefix is replaced. True when it is new."""
    known = is_stored(connection, entry.prefix)
    connection.execute(
        "INSERT OR REPLACE INTO banned_addresses (prefix, reason, added, until)"
        " VALUES (?, ?, ?, ?)",
        (entry.prefix, entry.reason, entry.added, entry.until),
    )
    return not known


def is_stored(connection: sqlite3.Connection, prefix: str) -> bool:
    """Say whether there is a ban of exactly this prefix, ended or not."""
    found = connection.execute("SELECT 1 FROM banned_addresses WHERE prefix = ?", (prefix,))
    return found.fetchone() is not None


def lift(connection: sqlite3.Connection, prefix: str) -> bool:
    """Remove a ban; True when there was one."""
    gone = connection.execute("DELETE FROM banned_addresses WHERE prefix = ?", (prefix,))
    return gone.rowcount == 1


def every(connection: sqlite3.Connection) -> list[BannedAddress]:
    """Return all bans, ended ones too."""
    rows = connection.execute(
        "SELECT prefix, reason, added, until FROM banned_addresses ORDER BY prefix"
    )
    return [BannedAddress(**dict(row)) for row in rows]


def is_covered(bans: Mapping[str, Moment | None], address: str, moment: Moment) -> bool:
    """Say whether one of these bans (prefix -> when it ends) covers an address at this moment."""
    if not bans:
        return False
    for prefix in covering(address):
        until = bans.get(prefix, -math.inf)
        if until is None or until > moment:
            return True
    return False


def covering(text: str) -> Iterator[str]:
    """Yield every prefix and network that covers an address, as bans are stored."""
    try:
        address = str(parse_host(text))
    except ValueError:
        yield text  # not an IP address (a UNIX socket's name, say): only the same text covers it
        return
    yield address
    separator = ":" if ":" in address else "."
    parts = address.split(separator)
    for count in range(1, len(parts)):
        yield separator.join(parts[:count]).rstrip(":")
    for length in range(ipaddress.ip_address(address).max_prefixlen + 1):
        yield str(ipaddress.ip_network(f"{address}/{length}", strict=False))
