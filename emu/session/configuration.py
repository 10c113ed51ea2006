"""Settings of sessions and their endpoint, with defaults and units."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from emu.errors import ConfigError
from emu.wire import Format
from emu.wire.packets import MAX_LENGTH
from emu.wire.seal import INFLATE_LIMIT, THRESHOLD

_FRAGMENT_OVERHEAD = 7  # 00 0D, the sequence number, a format marker, the check


class Role(Enum):
    """The side of a session."""

    CLIENT = "client"
    SERVER = "server"


class AddressChanges(Enum):
    """Which new address of a client its session may move to."""

    NEVER = "never"
    PORT = "port"
    """Another port of the same host."""
    ANY = "any"


class StreamType(Enum):
    """The five stream types of EQ2Emulator: opcode width in bytes, and format flags.

    Width 2 is the encoding of docs/protocol/transport.md#messages: one byte, or FF and a u16.
    """

    LOGIN_STREAM = ("LoginStream", 1, Format.NONE)
    EQ2_STREAM = ("EQ2Stream", 2, Format.NONE)
    WORLD_STREAM = ("WorldStream", 2, Format.COMPRESSED)
    ZONE_STREAM = ("ZoneStream", 2, Format.COMPRESSED)
    CHAT_STREAM = ("ChatStream", 1, Format.ENCODED)

    def __init__(self, label: str, opcode_width: int, form: Format) -> None:
        self.label = label
        self.opcode_width = opcode_width
        self.format = form


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """Settings of a session, the same object for any number of sessions.

    Times are seconds, sizes bytes. Sources: docs/protocol/transport.md, the rule in each comment.
    Raises `ConfigError` with every value that cannot work.
    """

    stream_type: StreamType = StreamType.EQ2_STREAM

    # Datagram sizes (#setup, #bad-input). MaxLength is requested by the client and clamped by the
    # server.
    max_length: int = MAX_LENGTH
    # A client may request 0, 5 or 4294967295; without a minimum a fragment would carry nothing.
    max_length_minimum: int = 64
    max_length_maximum: int = 1400
    datagram_size_limit: int = 2048
    # A Combined may contain another one. Each level makes the receiver read the bytes again.
    combine_depth_limit: int = 4
    combined_count_limit: int = 300  # more than the shortest acks that fit the longest datagram
    # Parts longer than this are not joined. It is not certain that a real client reads more than a
    # one-byte length in a Combined, and for AppCombined one source ends the one-byte form at FD.
    combined_part_limit: int = 254
    app_combined_part_limit: int = 253

    # Messages (#fragments, #compression). A real client refuses more than 500,000 bytes, opcode
    # included.
    message_size_limit: int = 500_000
    # The messages of the key exchange have at most 70 bytes; a login request may share a payload
    # with the key block.
    message_size_limit_before_key: int = 4096
    # Limits for a client that no service has authenticated yet. A login request is short, and an
    # unauthenticated peer must not choose how much memory it occupies.
    unauthenticated_message_size_limit: int = 16 * 1024
    unauthenticated_message_count_limit: int = 16
    unauthenticated_waiting_limit: int = 4
    # Messages that an owner has not taken yet. Beyond either limit a session accepts no packet, so
    # that the peer's window closes, until its owner has taken all of them.
    waiting_message_limit: int = 2048
    waiting_bytes_limit: int = 256 * 1024
    # Short fragments cost far more work than their bytes, so their number has a limit of its own.
    fragment_count_limit: int = 16384
    app_combined_count_limit: int = 4096
    compression_threshold: int = 128
    deflate_level: int = 6
    deflate_memory_level: int = 6
    # The client inflates with a window of 13 bits; a smaller one takes less memory here.
    deflate_window_bits: int = 12
    datagram_compression_threshold: int = THRESHOLD
    datagram_inflate_limit: int = INFLATE_LIMIT

    # Reliability (#reliability)
    first_sequence: int = 0
    window: int = 2048
    held_packet_limit: int = 2048
    held_bytes_limit: int = 1024 * 1024
    send_queue_limit: int = 4 * 1024 * 1024
    # The first timeout, 500 ms x 3.0, and the longest one are those of EQ2Emulator.
    round_trip_start: float = 0.5
    timeout_multiplier: float = 3.0
    timeout_minimum: float = 0.2
    timeout_maximum: float = 5.0
    retry_interval: float = 2.0  # the longest pause between attempts on a silent path
    # None: only `idle_timeout` ends the session. A number ends it after so many attempts.
    transmission_limit: int | None = None
    # Ten segments of 1460 bytes, the initial window of RFC 6928.
    congestion_window_start: int = 14_600
    congestion_window_minimum_datagrams: int = 8

    # Lifecycle (#unauthenticated, #reliability)
    session_request_pause: float = 0.25
    session_request_pause_growth: float = 1.2
    # With the growing pauses all attempts together take about ten seconds.
    session_request_attempts: int = 12
    # The factor of RFC 9000, 8.1.
    amplification_limit: int = 3
    unvalidated_lifetime: float = 5.0
    idle_timeout: float = 45.0
    keep_alive_interval: float = 15.0
    server_keep_alive_interval: float = 30.0
    out_of_session_silence: float = 15.0  # before an OutOfSession is believed: anybody can send one
    statistics_interval: float = 60.0
    close_timeout: float = 3.0
    disconnect_timeout: float = 0.5

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be more than 0"
            for name in self.__slots__
            # 0 is a valid value of these: no compression, and the first sequence number.
            if name not in ("stream_type", "first_sequence", "deflate_level")
            and (value := getattr(self, name)) is not None
            and value <= 0
        ]
        ranges = {
            "first_sequence": (0, 0xFFFF),
            # Serial arithmetic cannot order numbers that are half the number space apart.
            "window": (1, 0x7FFF),
            "deflate_level": (0, 9),
            "deflate_memory_level": (1, 9),
            "deflate_window_bits": (9, 13),
            "combined_part_limit": (1, 65534),
            "app_combined_part_limit": (1, 65534),
            "max_length_minimum": (32, self.max_length_maximum),
            "max_length": (self.max_length_minimum, self.max_length_maximum),
            "datagram_size_limit": (self.max_length_maximum, 65535),
        }
        problems += [
            f"{name}: must be {low} to {high}, not {getattr(self, name)}"
            for name, (low, high) in ranges.items()
            if not low <= getattr(self, name) <= high
        ]
        # A run of fragments leaves space for a format marker and a check in each datagram.
        smallest = self.max_length_minimum - _FRAGMENT_OVERHEAD
        if self.payload_size_limit > self.fragment_count_limit * smallest:
            problems.append(
                "fragment_count_limit: too few for the longest message in the shortest datagrams"
            )
        if problems:
            raise ConfigError(problems)

    @property
    def payload_size_limit(self) -> int:
        """Return the size of the longest reliable payload that any valid message can become.

        Incompressible bytes grow by up to 5.2 % in a deflate stream with the smallest window and
        little memory. Flag, escape and the header of a joined key block are added to that.
        """
        return self.message_size_limit + self.message_size_limit // 16 + 128

    def clamp_max_length(self, requested: int) -> int:
        """Return the datagram size for the MaxLength that a peer requests (any u32)."""
        return max(self.max_length_minimum, min(requested, self.max_length_maximum))


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """Settings of an endpoint; times are seconds.

    `check_key` None gives each address its own key. A number is the key of all of them, as in
    EQ2Emulator (0x33624702). Then a valid check proves nothing about the sender: until its client
    has acknowledged a packet, a session counts for no limit and gets at most three times its bytes.
    A forger can still acknowledge, take over and end any session.
    Raises `ConfigError` with every value that cannot work.
    """

    session: SessionConfig = field(default_factory=SessionConfig)
    check_key: int | None = None
    secret_lifetime: float = 60.0
    session_limit: int = 20_000
    half_open_limit: int = 16_384
    sessions_per_host_limit: int = 64
    memory_limit: int = 256 * 1024 * 1024
    """Bytes that all sessions may hold together; beyond it the largest ones end first."""
    restart_silence: float = 2.0
    takeover_miss_limit: int = 4
    """Datagrams with a wrong check that an address may send while it requests a new session."""
    takeover_pause: float = 30.0
    """How long no session may take over an address after too many of them."""
    answer_out_of_session: bool = False
    address_changes: AddressChanges = AddressChanges.ANY
    """Which addresses a session may move to. With a `check_key` no session moves."""

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be 1 or more"
            for name in (
                "session_limit",
                "half_open_limit",
                "sessions_per_host_limit",
                "memory_limit",
                "takeover_miss_limit",
            )
            if getattr(self, name) < 1
        ]
        if self.check_key is not None and not 0 <= self.check_key <= 0xFFFFFFFF:
            problems.append("check_key: must be 0 to 4294967295")
        # A client may need this long for its proof; two secrets are accepted, so it finds one of
        # them.
        if self.secret_lifetime < self.session.unvalidated_lifetime:
            problems.append("secret_lifetime: must not be shorter than unvalidated_lifetime")
        if problems:
            raise ConfigError(problems)
