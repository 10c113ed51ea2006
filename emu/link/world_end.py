"""A world's end of its link with a login server. Source: docs/protocol/link.md.

It introduces the world, reports its status at once, every 15 seconds, soon after somebody came or
went and at once when it opens or shuts its door, and hands what the login server asks to the
service. The login server never says yes: as long as it does not say no, the world is in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.errors import PeerError
from emu.link.end import LinkEnd, LinkLimits, MessageReceived
from emu.link.frames import Frame
from emu.link.messages import OpaqueMessage, from_login
from emu.link.opcodes import LinkOpcode
from emu.link.registration import LSFatalError, LSInfo, LSStatus
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class WorldEndConfig:
    """Times and bounds of a world's end; seconds."""

    limits: LinkLimits = field(default_factory=LinkLimits)
    status_interval: float = 15.0
    population_pause: float = 2.0
    """Between a report and the next one of how many are here."""


@dataclass(frozen=True, slots=True)
class LinkRefused:
    """The login server sent a fatal error; `LinkClosed` follows."""

    text: str


class WorldEnd(LinkEnd):
    """Registers one world. Events: `MessageReceived`, `LinkRefused`, `LinkClosed`."""

    __slots__ = ("_config", "_pause", "_sent_at", "_status")

    def __init__(
        self, config: WorldEndConfig, info: LSInfo, status: LSStatus, now: Monotonic
    ) -> None:
        super().__init__(config.limits, now)
        self._config = config
        self._status = status
        self._sent_at = now
        self._pause = config.status_interval
        """Seconds from the last report to the next."""
        self.send(info, now)
        self._send_status(now)

    def set_status(self, status: LSStatus, now: Monotonic) -> None:
        """Take the world's present status; a change of its first field is reported at once."""
        before, self._status = self._status, status
        if status.status != before.status:
            self._send_status(now)
        elif status != before:
            self._pause = self._config.population_pause

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""
        super().handle_timer(now)
        if now >= self._sent_at + self._pause and not self.closed:
            self._send_status(now)

    def _send_status(self, now: Monotonic) -> None:
        self.send(self._status, now)
        self._sent_at = now
        self._pause = self._config.status_interval

    def _deadlines(self) -> list[float]:
        return [*super()._deadlines(), self._sent_at + self._pause]

    def _receive_message(self, frame: Frame, now: Monotonic) -> None:
        if frame.opcode == LinkOpcode.KeepAlive:
            return
        if frame.opcode == LinkOpcode.ResetDatabase:
            self.drops["ResetDatabase is never honored"] += 1
            return
        message = from_login(frame)
        if isinstance(message, LSFatalError):
            self._events.append(LinkRefused(message.reason))
            self.close("refused by the login server", now)
        elif isinstance(message, OpaqueMessage):
            self.drops["unknown message"] += 1
        else:
            self._events.append(MessageReceived(message))

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        self.close(error.reason, now)
