"""How slow the other end of a TCP connection may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How slow a peer may be."""

    write_buffer: int = 1024 * 1024
    """Bytes that may wait until a peer reads; one more and it is cut off."""
    stall_timeout: float = 30.0
    """Seconds a peer may leave bytes waiting without reading any."""
    close_linger: float = 2.0
    """Seconds from closing to cutting off a peer that does not take the last bytes.

    A server that stops waits for them all, at once, and has five seconds in all.
    """
