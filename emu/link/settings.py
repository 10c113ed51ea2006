"""What can be set about both ends of the link, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.connections import StreamLimits
from emu.link.login_end import LoginEndConfig
from emu.link.world_end import WorldEndConfig


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
    end: LoginEndConfig = field(default_factory=LoginEndConfig)
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
    end: WorldEndConfig = field(default_factory=WorldEndConfig)
    connection: StreamLimits = field(default_factory=StreamLimits)
