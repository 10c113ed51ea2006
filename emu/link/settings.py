"""Settings of the link with their defaults, and the forms of the link password.

The link carries the SHA-512 of the password as 128 lower-case hex digits
(docs/protocol/link.md#registration), and the login server stores exactly that. An empty or
shortened stored value never matches; EQ2Emulator compares only as many characters as are stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field

from emu.limits.connections import StreamLimits
from emu.link.codec import MAX_FRAME_SIZE


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """Times and sizes of a link, in seconds and bytes."""

    # Half of the silence limit: a keep-alive that is delayed does not close the link.
    keep_alive: float = 45.0
    """Time without sending after which a keep-alive is sent."""
    silence: float = 90.0
    """Time without receiving after which the link is closed."""
    frame_timeout: float = 30.0
    """Time in which a frame must be complete."""
    max_frame_size: int = MAX_FRAME_SIZE
    frames_per_second: float = 500.0
    frame_burst: float = 5_000.0
    bytes_per_second: float = 2.0 * 1024 * 1024
    """Received bytes.

    The bytes inflated from compressed frames count separately to the same limit.
    """
    byte_burst: float = 8.0 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoginLinkConfig:
    """Times and bounds of the login server's side; seconds."""

    limits: LinkLimits = field(default_factory=LinkLimits)
    register_timeout: float = 5.0
    """Time until `LSInfo` must have arrived."""
    # LSInfo, the longest message that a world needs before it is accepted, has 839 bytes.
    first_frame_size: int = 4096
    """Frames of this size or more are refused until the world is accepted; header included."""
    decision_timeout: float = 30.0
    """Time until the service must have accepted or refused."""
    held_messages: int = 64
    """Messages held until the service decides."""
    held_bytes: int = 128 * 1024
    batch_delay: float = 5.0
    """Time from acceptance to the first batch request."""
    zone_interval: float = 6 * 3600.0
    equipment_interval: float = 15 * 60.0
    full_batch_delay: float = 10.0
    """Time from a full batch to the next request."""
    zones_per_cycle: int = 5_000
    """Zones that a world may describe between two rounds of `zone_interval`."""


@dataclass(frozen=True, slots=True)
class WorldLinkTimes:
    """Times and bounds of the world's side; seconds."""

    limits: LinkLimits = field(default_factory=LinkLimits)
    status_interval: float = 15.0
    population_pause: float = 2.0
    """Time between two reports of the number of players."""


@dataclass(frozen=True, slots=True)
class LinkServerConfig:
    """Limits of the listener; times are seconds."""

    max_connections: int = 512
    connections_per_address: int = 16
    silent_per_address: int = 4
    """Connections of one address whose world has not introduced itself.

    One more closes the oldest.
    """
    suspect_connections_per_minute: int = 30
    """Connections per minute from an address that has sent a wrong account or password before."""
    revalidate_interval: float = 60.0
    """Time between two checks whether connected worlds are still allowed.

    After each, one log line sums up the refused and ended connections.
    """
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
    """The login servers of a world, and when to try them; times are seconds."""

    servers: tuple[LoginServerAddress, ...]
    """In order of preference."""
    connect_timeout: float = 10.0
    retry_first: float = 1.0
    """Delay after the first round of failures; doubled after each further one."""
    retry_most: float = 60.0
    retry_jitter: float = 0.25
    """Fraction of a delay by which it may be shorter or longer."""
    settled_after: float = 10.0
    """A link counts as accepted after this time, or after the first request on it."""
    return_to_first: float = 600.0
    """Time between attempts to return to the first login server while another one is in use."""
    unsent: int = 1_000
    """Reports kept while there is no link; the oldest are dropped first."""
    waiting: int = 1_000
    """Requests of the login server that may wait for the world."""
    end: WorldLinkTimes = field(default_factory=WorldLinkTimes)
    connection: StreamLimits = field(default_factory=StreamLimits)


_HASH = re.compile(r"[0-9a-f]{128}")


def hash_link_password(password: str) -> str:
    """Return the form of a password on the link and in the store: 128 lower-case hex digits."""
    return hashlib.sha512(password.encode()).hexdigest()


def is_link_hash(text: str) -> bool:
    """Return whether `text` has the form of a link password: 128 hex digits, any case."""
    return _HASH.fullmatch(text.lower()) is not None


def link_password_matches(stored: str, sent: str) -> bool:
    """Compare a stored hash with the one a world sent, in full and in constant time.

    Both are 128 hex digits in any case; any other text never matches.
    """
    # An empty stored value must not match an empty sent one: both would be equal.
    if not is_link_hash(stored) or not is_link_hash(sent):
        return False
    # Constant time: the duration must not show how many digits of a guess are right.
    return hmac.compare_digest(stored.lower().encode(), sent.lower().encode())
