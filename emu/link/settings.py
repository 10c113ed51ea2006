"""Settings of the link with their defaults, and the forms of the link password.

The link carries the SHA-512 of the password as 128 lower-case hex digits
(docs/protocol/link.md#registration), and exactly that is what the login server keeps. An empty or
shortened stored value never matches; EQ2Emulator compares only as many characters as are stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field

from emu.limits.connections import StreamLimits
from emu.link.connection import LoginLinkConfig, WorldLinkTimes


@dataclass(frozen=True, slots=True)
class LinkServerConfig:
    """Limits of the listening side; times are seconds."""

    max_connections: int = 512
    connections_per_address: int = 16
    silent_per_address: int = 4
    """Connections of one address whose world has not introduced itself; with one more the oldest
    is closed."""
    suspect_connections_per_minute: int = 30
    """Connections a minute of an address that has named a wrong account or password before."""
    revalidate_interval: float = 60.0
    """How often connected worlds are looked up again, to drop those disabled meanwhile, and what
    was refused or ended is summed up in one line."""
    end: LoginLinkConfig = field(default_factory=LoginLinkConfig)
    connection: StreamLimits = field(default_factory=StreamLimits)


@dataclass(frozen=True, slots=True)
class LoginServerAddress:
    """One login server; with a fingerprint the link to it is TLS."""

    host: str
    port: int
    fingerprint: str = ""
    """SHA-256 of the login server's certificate, 64 hex digits."""


@dataclass(frozen=True, slots=True)
class WorldLinkConfig:
    """Where to register, and how patiently; times are seconds."""

    servers: tuple[LoginServerAddress, ...]
    """In order of preference."""
    connect_timeout: float = 10.0
    retry_first: float = 1.0
    """After the first round of failures; doubled with each further one."""
    retry_most: float = 60.0
    retry_jitter: float = 0.25
    """Part of a delay by which it may be shorter or longer."""
    settled_after: float = 10.0
    """A link that has lasted this long, or on which something was asked, counts as accepted."""
    return_to_first: float = 600.0
    """How often the first login server is tried while another one is in use."""
    unsent: int = 1_000
    """Reports kept while there is no link; the oldest go first."""
    waiting: int = 1_000
    """Requests of the login server that may wait for the world."""
    end: WorldLinkTimes = field(default_factory=WorldLinkTimes)
    connection: StreamLimits = field(default_factory=StreamLimits)


_HASH = re.compile(r"[0-9a-f]{128}")


def hash_link_password(password: str) -> str:
    """Return what the link sends and the store keeps for `password`: 128 lower-case hex digits."""
    return hashlib.sha512(password.encode()).hexdigest()


def is_link_hash(text: str) -> bool:
    """Say whether `text` has the shape of a link password: 128 hex digits, any case."""
    return _HASH.fullmatch(text.lower()) is not None


def link_password_matches(stored: str, sent: str) -> bool:
    """Compare a stored hash with the one a world sent, in full and in constant time.

    Both are 128 hex digits in any case; anything else on either side never matches.
    """
    if not is_link_hash(stored) or not is_link_hash(sent):
        return False
    return hmac.compare_digest(stored.lower().encode(), sent.lower().encode())
