"""The login server's end of a link with one world. Source: docs/protocol/link.md.

A world introduces itself, the service decides, and only then do messages flow; what arrives
while the service decides is held, within bounds. Every refusal carries one of the texts that
EQ2Emulator's worlds know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from emu.errors import PeerError
from emu.link.batches import (
    EQUIPMENT_PER_BATCH,
    ZONES_PER_BATCH,
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.end import LinkEnd, LinkLimits, MessageReceived
from emu.link.frames import Frame
from emu.link.messages import LinkMessage, from_world
from emu.link.opcodes import MESH_OPCODES, TABLE_OPCODES, LinkOpcode
from emu.link.registration import LSFatalError, LSInfo
from emu.times import Monotonic

BAD_PASSWORD = "Bad password"  # noqa: S105  # the text that worlds show
INCORRECT_VERSION = "Incorrect version"
GHOST_KICK = "Ghost Kick!"
NOT_AUTHENTICATED = "This connection has not authenticated."
POSSIBLE_HACKING = "Possible Hacking Attempt"
HACKING = "Hacking attempt."
NO_UPDATE_SERVER = "This is not an update server."


@dataclass(frozen=True, slots=True)
class LoginEndConfig:
    """Times and bounds of the login server's end; seconds."""

    limits: LinkLimits = field(default_factory=LinkLimits)
    register_timeout: float = 5.0
    """Until `LSInfo` must be there."""
    first_frame_size: int = 4096
    """Frames of this size or more are refused until the world is accepted; header included."""
    decision_timeout: float = 30.0
    """Until the service must have accepted or refused."""
    held_messages: int = 64
    """Messages that may wait for the decision."""
    held_bytes: int = 128 * 1024
    batch_delay: float = 5.0
    """From acceptance to the first batch request."""
    zone_interval: float = 6 * 3600.0
    equipment_interval: float = 15 * 60.0
    full_batch_delay: float = 10.0
    """After a full batch, until the next is asked for."""
    zones_per_cycle: int = 5_000
    """Zones one world may describe between two rounds of `zone_interval`."""


@dataclass(frozen=True, slots=True)
class WorldIntroduced:
    """A world sent `LSInfo`: the service must call `accept` or `refuse`."""

    info: LSInfo


class LoginEndState(Enum):
    """How far a link has come."""

    NEW = "waiting for LSInfo"
    DECIDING = "introduced"
    ACCEPTED = "accepted"


class LoginEnd(LinkEnd):
    """Accepts one world. Events: `WorldIntroduced`, `MessageReceived`, `LinkClosed`."""

    __slots__ = (
        "_config",
        "_deadline",
        "_equipment_at",
        "_held",
        "_held_bytes",
        "_next_cycle",
        "_zones_at",
        "_zones_seen",
        "state",
    )

    def __init__(self, config: LoginEndConfig, now: Monotonic) -> None:
        super().__init__(config.limits, now)
        self._reader.max_size = min(config.first_frame_size, config.limits.max_frame_size)
        self._config = config
        self.state = LoginEndState.NEW
        self._deadline = now + config.register_timeout
        self._held: list[Frame] = []
        self._held_bytes = 0
        self._zones_at: float = now
        self._equipment_at: float = now
        self._next_cycle: float = now
        self._zones_seen: set[int] = set()

    def accept(self, now: Monotonic) -> None:
        """Let the world in; what it has sent meanwhile is handed on."""
        if self.closed or self.state is not LoginEndState.DECIDING:
            return
        self.state = LoginEndState.ACCEPTED
        self._reader.max_size = self._config.limits.max_frame_size
        self._zones_at = self._equipment_at = now + self._config.batch_delay
        self._next_cycle = self._zones_at + self._config.zone_interval
        held, self._held = self._held, []
        try:
            for frame in held:
                if not self.closed:
                    self._receive_accepted(frame, now)
        except PeerError as error:
            self._peer_error(error, now)

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send the world a fatal error with `text`, and end the link with `reason`."""
        self.send(LSFatalError(text), now)
        self.close(reason, now)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""
        if self.state is not LoginEndState.ACCEPTED and now >= self._deadline and not self.closed:
            late = self.state is LoginEndState.NEW
            self.close("not registered in time" if late else "no decision in time", now)
        super().handle_timer(now)
        if self.state is LoginEndState.ACCEPTED and not self.closed:
            self._ask_for_batches(now)

    def _deadlines(self) -> list[float]:
        deadlines = super()._deadlines()
        if self.state is LoginEndState.ACCEPTED:
            deadlines += (self._zones_at, self._equipment_at)
        else:
            deadlines.append(self._deadline)
        return deadlines

    def _ask_for_batches(self, now: Monotonic) -> None:
        if now >= self._zones_at:
            if now >= self._next_cycle:
                self._zones_seen.clear()
                self._next_cycle = now + self._config.zone_interval
            self.send(ZoneUpdatesRequest(), now)
            self._zones_at = self._next_cycle
        if now >= self._equipment_at:
            self.send(LoginEquipmentRequest(), now)
            self._equipment_at = now + self._config.equipment_interval

    def _receive_message(self, frame: Frame, now: Monotonic) -> None:
        if self.state is LoginEndState.ACCEPTED:
            self._receive_accepted(frame, now)
        elif self.state is LoginEndState.DECIDING:
            self._hold(frame, now)
        elif frame.opcode != LinkOpcode.LSInfo:
            self.refuse(NOT_AUTHENTICATED, "message before LSInfo", now)
        elif len(frame.payload) != LSInfo.LAYOUT.size:
            self.refuse(INCORRECT_VERSION, "wrong size of LSInfo", now)
        else:
            self.state = LoginEndState.DECIDING
            self._deadline = now + self._config.decision_timeout
            self._events.append(WorldIntroduced(LSInfo.decode(frame.payload)))

    def _hold(self, frame: Frame, now: Monotonic) -> None:
        self._held.append(frame)
        self._held_bytes += len(frame.payload)
        many = len(self._held) > self._config.held_messages
        if many or self._held_bytes > self._config.held_bytes:
            self._held.clear()
            self.refuse(NOT_AUTHENTICATED, "too much before the decision", now)

    def _receive_accepted(self, frame: Frame, now: Monotonic) -> None:
        if frame.opcode in TABLE_OPCODES:
            self.refuse(NO_UPDATE_SERVER, "table update", now)
        elif frame.opcode in MESH_OPCODES:
            self.refuse(POSSIBLE_HACKING, "mesh message from a world", now)
        elif frame.opcode == LinkOpcode.LSInfo:
            self.refuse(POSSIBLE_HACKING, "second LSInfo", now)
        elif frame.opcode != LinkOpcode.KeepAlive:
            self._receive_decoded(from_world(frame), now)

    def _receive_decoded(self, message: LinkMessage, now: Monotonic) -> None:
        if isinstance(message, ZoneUpdates):
            known = len(self._zones_seen)
            self._zones_seen.update(zone.zone_id for zone in message.zones)
            if len(self._zones_seen) != known + len(message.zones):
                self.refuse(HACKING, "zone repeated in one cycle", now)
                return
            if len(self._zones_seen) > self._config.zones_per_cycle:
                self.refuse(HACKING, "too many zones in one cycle", now)
                return
            if len(message.zones) == ZONES_PER_BATCH:
                self._zones_at = now + self._config.full_batch_delay
        elif isinstance(message, LoginEquipment) and len(message.items) == EQUIPMENT_PER_BATCH:
            self._equipment_at = now + self._config.full_batch_delay
        self._events.append(MessageReceived(message))

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        if self.state is LoginEndState.ACCEPTED:
            self.refuse(HACKING, error.reason, now)
        else:
            self.close(error.reason, now)
