"""What can be set about the port that worlds register on, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.streams import StreamLimits
from emu.link.login_end import LoginEndConfig


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
