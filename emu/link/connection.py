"""Both sides of a login-world link: framing, keep-alive, silence, rates, closing.

The owner of the socket calls `receive_data`, `connection_lost`, `handle_timer`, `send` and `close`,
then reads `data_to_send`, `next_event` and `get_timer`. Input from the peer never makes them raise:
a fault closes the link with a fixed reason. Source: docs/protocol/link.md, and for the times
docs/protocol/link.md#frame.

The login server's side receives the introduction of a world and waits until the service accepts or
refuses it. Messages that arrive meanwhile are held, within bounds. Every refusal has one of the
texts that EQ2Emulator's worlds know.

The world's side sends the introduction and the status. It repeats the status every 15 seconds, soon
after the number of players has changed, and at once when the world locks or unlocks. The login
server never confirms a registration: the world counts as registered until it is refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from emu.errors import PeerError
from emu.limits.rates import RateLimit
from emu.link.batches import (
    EQUIPMENT_PER_BATCH,
    ZONES_PER_BATCH,
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.codec import (
    KEEP_ALIVE,
    MESH_OPCODES,
    TABLE_OPCODES,
    LinkFrame,
    LinkFrameReader,
    LinkOpcode,
)
from emu.link.messages import (
    LinkMessage,
    LSFatalError,
    LSInfo,
    LSStatus,
    OpaqueMessage,
    UsertoWorldResp,
    from_login,
    from_world,
    to_frame,
)
from emu.link.settings import LinkLimits, LoginLinkConfig, WorldLinkTimes
from emu.stream_end import StreamProtocol
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The peer sent a message for the service."""

    message: LinkMessage


@dataclass(frozen=True, slots=True)
class LinkClosed:
    """The link is over; the last event. `reason` is a short fixed text that metrics count."""

    reason: str


class LinkProtocol(StreamProtocol):
    """One side of a link. `LoginLinkProtocol` and `WorldLinkProtocol` add the order of messages.

    Events: `MessageReceived`, the events of the side, and `LinkClosed`.
    """

    __slots__ = (
        "_bytes",
        "_frame_deadline",
        "_frames",
        "_keep_alive_at",
        "_limits",
        "_reader",
        "_silent_at",
        "drops",
    )

    def __init__(self, limits: LinkLimits, now: Monotonic) -> None:
        super().__init__()
        self._limits = limits
        self._reader = LinkFrameReader(limits.max_frame_size)
        self._frames = RateLimit(limits.frames_per_second, limits.frame_burst, now)
        self._bytes = RateLimit(limits.bytes_per_second, limits.byte_burst, now)
        self._keep_alive_at = now + limits.keep_alive
        self._silent_at = now + limits.silence
        self._frame_deadline: float | None = None
        self.drops: Counter[str] = Counter()
        """Messages ignored, by reason."""

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Handle bytes from the peer."""
        if self.closed or not data:
            return
        # Any byte counts as a sign of life, also one of an unfinished frame.
        self._silent_at = now + self._limits.silence
        # Before the bytes are parsed: whatever they contain, they have cost memory and time.
        if not self._bytes.take(len(data), now):
            self.close("too many bytes", now)
            return
        # The time limit of a frame begins with its first byte. Further bytes of the same frame must
        # not extend it, or a peer could hold the buffer by sending one byte now and then.
        before = self._frame_deadline
        try:
            for frame in self._reader.receive(data):
                before = None
                self._receive_frame(frame, now)
                if self.closed:
                    return
        except PeerError as error:
            self._peer_error(error, now)
            return
        if not self._reader.unfinished:
            self._frame_deadline = None
        elif before is None:
            self._frame_deadline = now + self._limits.frame_timeout

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; do nothing on a closed link. Raises `StructValueError`."""
        if not self.closed:
            self._write(to_frame(message), now)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due; None on a closed link."""
        return None if self.closed else Monotonic(min(self._deadlines()))

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the times that have passed."""
        if self.closed:
            return
        if now >= self._silent_at:
            self.close("silent", now)
        elif self._frame_deadline is not None and now >= self._frame_deadline:
            self.close("frame not finished in time", now)
        elif now >= self._keep_alive_at:
            self._write(KEEP_ALIVE, now)

    def _ended(self, reason: str) -> LinkClosed:
        return LinkClosed(reason)

    def _deadlines(self) -> list[float]:
        # The list is short and read once for each call, so no heap is worth its cost.
        deadlines = [self._silent_at, self._keep_alive_at]
        if self._frame_deadline is not None:
            deadlines.append(self._frame_deadline)
        return deadlines

    def _write(self, frame: bytes, now: Monotonic) -> None:
        self._output.append(frame)
        # Every frame shows that this side is alive, so the keep-alive is needed only after a pause.
        self._keep_alive_at = now + self._limits.keep_alive

    def _receive_frame(self, frame: LinkFrame, now: Monotonic) -> None:
        if not self._frames.take(1, now):
            self.close("too many frames", now)
        # Decompressed bytes count too: a small frame can inflate to a thousand times its size.
        elif not self._bytes.take(frame.inflated, now):
            self.close("too many bytes", now)
        elif frame.opcode == 0:
            if frame.payload[:1] > b"\0":
                # Only old relays sent it. Answering it would make this side one of them.
                self.close("relay control", now)
        else:  # A destination has no meaning: neither side of this link relays.
            self._receive_message(frame, now)

    def _receive_message(self, frame: LinkFrame, now: Monotonic) -> None:
        """Handle one frame that is not a keep-alive; may raise `PeerError`."""
        raise NotImplementedError

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        """Close the link for a fault of the peer."""
        self.close(error.reason, now)


BAD_PASSWORD = "Bad password"  # noqa: S105  # the text that worlds show
INCORRECT_VERSION = "Incorrect version"
GHOST_KICK = "Ghost Kick!"
NOT_AUTHENTICATED = "This connection has not authenticated."
POSSIBLE_HACKING = "Possible Hacking Attempt"
HACKING = "Hacking attempt."
NO_UPDATE_SERVER = "This is not an update server."
PLAY_ANSWER_SIZE = UsertoWorldResp.LAYOUT.size


@dataclass(frozen=True, slots=True)
class WorldIntroduced:
    """A world sent `LSInfo`; the service must call `accept` or `refuse`."""

    info: LSInfo


class LoginLinkState(Enum):
    """The registration's progress."""

    NEW = "waiting for LSInfo"
    DECIDING = "introduced"
    ACCEPTED = "accepted"


class LoginLinkProtocol(LinkProtocol):
    """The login server's side, for one world.

    Events: `WorldIntroduced`, `MessageReceived`, `LinkClosed`.
    """

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

    def __init__(self, config: LoginLinkConfig, now: Monotonic) -> None:
        super().__init__(config.limits, now)
        # An introduction is small. Whoever has not introduced itself must not make us buffer half a
        # megabyte.
        self._reader.max_size = min(config.first_frame_size, config.limits.max_frame_size)
        self._config = config
        self.state = LoginLinkState.NEW
        self._deadline = now + config.register_timeout
        self._held: list[LinkFrame] = []
        self._held_bytes = 0
        self._zones_at: float = now
        self._equipment_at: float = now
        self._next_cycle: float = now
        self._zones_seen: set[int] = set()

    def accept(self, now: Monotonic) -> None:
        """Complete the registration and deliver the messages that were held."""
        if self.closed or self.state is not LoginLinkState.DECIDING:
            return
        self.state = LoginLinkState.ACCEPTED
        self._reader.max_size = self._config.limits.max_frame_size
        self._zones_at = self._equipment_at = now + self._config.batch_delay
        self._next_cycle = self._zones_at + self._config.zone_interval
        # EQ2Emulator's worlds send their status right after the introduction and do not wait for an
        # answer, so what arrived while the service decided counts now.
        held, self._held = self._held, []
        try:
            for frame in held:
                if not self.closed:
                    self._receive_accepted(frame, now)
        except PeerError as error:
            self._peer_error(error, now)

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send the world a fatal error with `text`, and close the link for `reason`."""
        self.send(LSFatalError(text), now)
        self.close(reason, now)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the times that have passed."""
        # Before the timers of every link: the reason in the log is then the missing registration.
        if self.state is not LoginLinkState.ACCEPTED and now >= self._deadline and not self.closed:
            late = self.state is LoginLinkState.NEW
            self.close("not registered in time" if late else "no decision in time", now)
        super().handle_timer(now)
        if self.state is LoginLinkState.ACCEPTED and not self.closed:
            self._ask_for_batches(now)

    def _deadlines(self) -> list[float]:
        deadlines = super()._deadlines()
        if self.state is LoginLinkState.ACCEPTED:
            deadlines += (self._zones_at, self._equipment_at)
        else:
            deadlines.append(self._deadline)
        return deadlines

    def _ask_for_batches(self, now: Monotonic) -> None:
        if now >= self._zones_at:
            # A new cycle: the world may describe its zones again.
            if now >= self._next_cycle:
                self._zones_seen.clear()
                self._next_cycle = now + self._config.zone_interval
            self.send(ZoneUpdatesRequest(), now)
            # A full answer sets an earlier time: a world may have more zones than one batch holds.
            # Set before the answer, so that a world which never answers is not asked again at once.
            self._zones_at = self._next_cycle
        if now >= self._equipment_at:
            self.send(LoginEquipmentRequest(), now)
            self._equipment_at = now + self._config.equipment_interval

    def _receive_message(self, frame: LinkFrame, now: Monotonic) -> None:
        if self.state is LoginLinkState.ACCEPTED:
            self._receive_accepted(frame, now)
        elif self.state is LoginLinkState.DECIDING:
            self._hold(frame, now)
        elif frame.opcode != LinkOpcode.LSInfo:
            self.refuse(NOT_AUTHENTICATED, "message before LSInfo", now)
        # Another size is another version of the message, so its fields cannot be trusted.
        elif len(frame.payload) != LSInfo.LAYOUT.size:
            self.refuse(INCORRECT_VERSION, "wrong size of LSInfo", now)
        else:
            self.state = LoginLinkState.DECIDING
            self._deadline = now + self._config.decision_timeout
            self._events.append(WorldIntroduced(LSInfo.decode(frame.payload)))

    def _hold(self, frame: LinkFrame, now: Monotonic) -> None:
        self._held.append(frame)
        self._held_bytes += len(frame.payload)
        many = len(self._held) > self._config.held_messages
        if many or self._held_bytes > self._config.held_bytes:
            # Before the refusal: the memory is free even if the peer keeps the connection open.
            self._held.clear()
            self.refuse(NOT_AUTHENTICATED, "too much before the decision", now)

    def _receive_accepted(self, frame: LinkFrame, now: Monotonic) -> None:
        if frame.opcode in TABLE_OPCODES:
            self.refuse(NO_UPDATE_SERVER, "table update", now)
        elif frame.opcode in MESH_OPCODES:
            self.refuse(POSSIBLE_HACKING, "mesh message from a world", now)
        elif frame.opcode == LinkOpcode.LSInfo:
            self.refuse(POSSIBLE_HACKING, "second LSInfo", now)
        elif frame.opcode == LinkOpcode.UsertoWorldResp and len(frame.payload) != PLAY_ANSWER_SIZE:
            # As in EQ2Emulator: one client waits in vain, and the world's other players stay.
            self._events.append(MessageReceived(OpaqueMessage(frame.opcode, frame.payload)))
        elif frame.opcode != LinkOpcode.KeepAlive:
            self._receive_decoded(from_world(frame), now)

    def _receive_decoded(self, message: LinkMessage, now: Monotonic) -> None:
        if isinstance(message, ZoneUpdates):
            known = len(self._zones_seen)
            self._zones_seen.update(zone.zone_id for zone in message.zones)
            # Repeating zones would let a world answer for ever, with a write for each.
            if len(self._zones_seen) != known + len(message.zones):
                self.refuse(HACKING, "zone repeated in one cycle", now)
                return
            if len(self._zones_seen) > self._config.zones_per_cycle:
                self.refuse(HACKING, "too many zones in one cycle", now)
                return
            # A batch that is not full was the last one of this cycle.
            if len(message.zones) == ZONES_PER_BATCH:
                self._zones_at = now + self._config.full_batch_delay
        elif isinstance(message, LoginEquipment) and len(message.items) == EQUIPMENT_PER_BATCH:
            self._equipment_at = now + self._config.full_batch_delay
        self._events.append(MessageReceived(message))

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        # Before the registration the bytes may come from anything, so no text is sent.
        if self.state is LoginLinkState.ACCEPTED:
            self.refuse(HACKING, error.reason, now)
        else:
            self.close(error.reason, now)


@dataclass(frozen=True, slots=True)
class LinkRefused:
    """The login server sent a fatal error; `LinkClosed` follows."""

    text: str


class WorldLinkProtocol(LinkProtocol):
    """The world's side; registers one world.

    Events: `MessageReceived`, `LinkRefused`, `LinkClosed`.
    """

    __slots__ = ("_config", "_pause", "_sent_at", "_status")

    def __init__(
        self, config: WorldLinkTimes, info: LSInfo, status: LSStatus, now: Monotonic
    ) -> None:
        super().__init__(config.limits, now)
        self._config = config
        self._status = status
        self._sent_at = now
        self._pause = config.status_interval
        """Seconds from the last report to the next."""
        # The login server never confirms: it either sends a fatal error or goes on with requests.
        # The introduction must be the first message of a link.
        self.send(info, now)
        self._send_status(now)

    def set_status(self, status: LSStatus, now: Monotonic) -> None:
        """Set the world's status; a change of its first field is reported at once."""
        before, self._status = self._status, status
        # Players must see a locked world as locked at once; a wrong number of players harms nobody.
        if status.status != before.status:
            self._send_status(now)
        elif status != before:
            # Soon, but not at once: players come and go in groups, and each report is stored by the
            # login server.
            self._pause = self._config.population_pause

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the times that have passed."""
        super().handle_timer(now)
        if now >= self._sent_at + self._pause and not self.closed:
            self._send_status(now)

    def _send_status(self, now: Monotonic) -> None:
        self.send(self._status, now)
        self._sent_at = now
        self._pause = self._config.status_interval

    def _deadlines(self) -> list[float]:
        return [*super()._deadlines(), self._sent_at + self._pause]

    def _receive_message(self, frame: LinkFrame, now: Monotonic) -> None:
        if frame.opcode == LinkOpcode.KeepAlive:
            return
        if frame.opcode == LinkOpcode.ResetDatabase:
            # A login server must not be able to delete a world's characters.
            self.drops["ResetDatabase is never honored"] += 1
            return
        message = from_login(frame)
        if isinstance(message, LSFatalError):
            # Before the close, because `LinkClosed` is the last event.
            self._events.append(LinkRefused(message.reason))
            self.close("refused by the login server", now)
        # Only counted: a newer login server may send messages that this world does not know.
        elif isinstance(message, OpaqueMessage):
            self.drops["unknown message"] += 1
        else:
            self._events.append(MessageReceived(message))

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        self.close(error.reason, now)
