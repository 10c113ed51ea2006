"""One connection between two processes: frames, greeting, keep-alive, silence, closing.

Each frame is a JSON array that begins with its kind. A note of the bus is an object of plain
values; bytes are an object ``{"base64": "..."}``.

The hub sends a nonce first. The member answers with its own nonce and a proof. The hub's welcome
contains the hub's proof. A proof is HMAC-SHA-256 with the secret over side, both nonces and name,
so it cannot be used again, for another process, or for the other side.

`emu.net.stream` drives it. Input from the peer never makes it raise: a fault closes the connection
with one reason. The bus handles the frames after the greeting.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from emu.binary import BIG, U32, RecordLayout
from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage, PeerError
from emu.processes.ports import Note
from emu.stream_end import StreamProtocol
from emu.times import Monotonic

Frame = list[Any]
"""Its kind, then the values of that kind."""

_HEADER: Final = RecordLayout("frame between processes", BIG, size=U32)
HEADER: Final = _HEADER.size
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a frame from a process that has joined.

All characters of an account take some thousands.
"""
LARGEST_UNAUTHENTICATED: Final = 4096
_BYTES: Final = "base64"
_HALF: Final = rb"\ud"
"""The beginning of a surrogate in JSON; a second one should follow."""
_PLAIN: Final = (str, int, float, bool, type(None))


def encode_frame(frame: Frame) -> bytes:
    """Return the bytes of a frame. Raises `LocalProtocolError` when it is too large."""
    body = json.dumps(frame, separators=(",", ":")).encode()
    if len(body) > LARGEST:
        raise LocalProtocolError(f"a frame of {len(body)} bytes between processes is too large")
    return _HEADER.pack(len(body)) + body


class FrameReader:
    """Splits received bytes into frames; holds at most one unfinished frame.

    `largest` bounds a frame and may be changed at any time.
    """

    __slots__ = ("_buffer", "largest")

    def __init__(self, largest: int) -> None:
        self._buffer = bytearray()
        self.largest = largest

    def receive(self, data: bytes) -> Iterator[Frame]:
        """Add received bytes and yield the complete frames.

        Raises `MalformedMessage` or `LimitExceeded`; the stream cannot be read any further then.
        """
        buffer = self._buffer
        buffer += data
        while len(buffer) >= HEADER:
            (size,) = _HEADER.unpack(buffer)
            # Before the bytes are kept: an unauthenticated peer must not announce a frame of
            # gigabytes.
            if size > self.largest:
                raise LimitExceeded("frame too large")
            if len(buffer) < HEADER + size:
                return
            body = bytes(buffer[HEADER : HEADER + size])
            # Deleted before the frame is used: its receiver may raise, and the frame must not come
            # twice.
            del buffer[: HEADER + size]
            yield _decoded(body)


def _decoded(body: bytes) -> Frame:
    try:
        frame = json.loads(body)
        # json.loads accepts a lone surrogate, which no database and no other process can encode.
        # The test is cheap because such texts are rare.
        if _HALF in body.lower():
            json.dumps(frame, ensure_ascii=False).encode()  # A lone surrogate cannot be encoded.
    # Deeply nested arrays raise this; a peer must not end the process with them.
    except (ValueError, RecursionError):
        raise MalformedMessage("frame is not JSON") from None
    if not isinstance(frame, list) or not frame or not isinstance(frame[0], str):
        raise MalformedMessage("frame without a kind")
    return frame


def to_plain(note: Note) -> dict[str, Any]:
    """Return a note in the form of a frame."""
    return {
        name: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in note.items()
    }


def to_note(plain: Any) -> dict[str, Any]:
    """Return the note of a frame. Raises `MalformedMessage`."""
    if not isinstance(plain, dict):
        raise MalformedMessage("frame without its note")
    return {name: _value(value) for name, value in plain.items()}


def _value(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    match value:
        case {"base64": str() as text}:
            try:
                # Without it b64decode ignores foreign characters, and two texts would mean the same
                # bytes.
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                pass
    raise MalformedMessage("note with a value of no known kind")


PROTOCOL: Final = 1
LONGEST_NAME: Final = 31
LONGEST_TEXT: Final = 200
NUMBER_SIZE: Final = 16
"""Bytes of a nonce."""


class ProcessRefused(PeerError):
    """The other process has the wrong proof, or refuses this one; the text is the reason."""


@dataclass(frozen=True, slots=True)
class OwnProcess:
    """The name, secret and description of this process."""

    name: str
    secret: bytes
    about: Callable[[], Note] = field(default=dict)
    """Returns the description that other processes get."""


@dataclass(frozen=True, slots=True)
class ProcessJoined:
    """The other process has proven its name."""

    name: str
    about: dict[str, Any]


Step = tuple[list[Frame], ProcessJoined | None]
"""The frames to send, and the other process once it has joined."""


class HubGreeting:
    """The hub's side. `reason_against` returns why a process of a name may not join, or ""."""

    def __init__(
        self, own: OwnProcess, number: bytes, reason_against: Callable[[str], str]
    ) -> None:
        self._own = own
        self._number = number
        self._reason_against = reason_against

    def begin(self) -> list[Frame]:
        """Return the first frames."""
        return [["challenge", PROTOCOL, self._number.hex()]]

    def take(self, frame: Frame) -> Step:
        """Handle a frame of the member. Raises `ProcessRefused` and `MalformedMessage`."""
        match frame:
            case ["hello", str() as name, str() as number, str() as proof, about]:
                theirs = _number(number)
            case _:
                raise MalformedMessage("no greeting")
        own = self._own
        # The proof comes before every other check, so a peer without the secret learns nothing but
        # that.
        if not _is(proof, _proof(own.secret, "member", self._number, theirs, name)):
            raise ProcessRefused("the secret is another one")
        # The name appears in logs and on the dashboard, so it must be short and printable.
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ProcessRefused("that is no name")
        # For instance a second process of the same name: both would answer for the same players.
        if reason := self._reason_against(name):
            raise ProcessRefused(reason)
        answer = _proof(own.secret, "hub", self._number, theirs, own.name)
        welcome = ["welcome", own.name, answer, to_plain(own.about())]
        return [welcome], ProcessJoined(name, to_note(about))


class MemberGreeting:
    """The member's side."""

    def __init__(self, own: OwnProcess, number: bytes) -> None:
        self._own = own
        self._number = number
        self._theirs = b""

    def begin(self) -> list[Frame]:
        """Return the first frames: none."""
        return []

    def take(self, frame: Frame) -> Step:
        """Handle a frame of the hub. Raises `ProcessRefused` and `MalformedMessage`."""
        own = self._own
        match frame:
            # Only once: a second challenge would let the peer use this side to compute proofs for
            # others.
            case ["challenge", int() as protocol, str() as number] if not self._theirs:
                if protocol != PROTOCOL:
                    raise ProcessRefused(f"the hub speaks version {protocol} of the protocol")
                self._theirs = _number(number)
                proof = _proof(own.secret, "member", self._theirs, self._number, own.name)
                hello = ["hello", own.name, self._number.hex(), proof, to_plain(own.about())]
                return [hello], None
            case ["welcome", str() as name, str() as proof, about] if self._theirs:
                mine = _proof(own.secret, "hub", self._theirs, self._number, name)
                # The hub proves itself too: a member sends characters and asks for world keys.
                if not _is(proof, mine):
                    raise ProcessRefused("the hub does not know the secret")
                return [], ProcessJoined(name, to_note(about))
            case ["refused", str() as reason]:
                raise ProcessRefused(printable(reason))
        raise MalformedMessage("no greeting")


def printable(text: str) -> str:
    """Return another process' text in printable form."""
    return "".join(letter for letter in text[:LONGEST_TEXT] if letter.isprintable())


def _number(text: str) -> bytes:
    try:
        number = bytes.fromhex(text)
    except ValueError:
        raise MalformedMessage("no greeting") from None
    if len(number) != NUMBER_SIZE:
        raise MalformedMessage("no greeting")
    return number


def _proof(secret: bytes, side: str, hubs: bytes, members: bytes, name: str) -> str:
    # The side is part of it, so that a proof cannot be sent back to the process that made it.
    # Hexadecimal digits contain no zero byte, so the separators stay unambiguous.
    whole = b"\0".join((side.encode(), hubs.hex().encode(), members.hex().encode(), name.encode()))
    return hmac.digest(secret, whole, "sha256").hex()


def _is(received: str, proof: str) -> bool:
    """Compare two texts in constant time; `compare_digest` takes only ASCII texts."""
    return hmac.compare_digest(received.encode(), proof.encode())


KEEP_ALIVE: Final = "alive"


class Greeting(Protocol):
    """One side of the greeting."""

    def begin(self) -> list[Frame]:
        """Return the first frames."""

    def take(self, frame: Frame) -> Step:
        """Handle a frame of the peer. Raises `PeerError`."""


@dataclass(frozen=True, slots=True)
class ProcessLinkLimits:
    """Times of a connection in seconds."""

    greeting: float = 10.0
    """Time for the greeting."""
    keep_alive: float = 5.0
    """Time without sending after which a keep-alive is sent."""
    silence: float = 16.0
    """Time without receiving after which the connection is closed."""


@dataclass(frozen=True, slots=True)
class Received:
    """A frame of a process that has joined."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection is over; the last event."""

    reason: str


class ProcessLink(StreamProtocol):
    """One side of a connection. Events: `ProcessJoined`, then `Received`, and `Ended`."""

    __slots__ = (
        "_alive_at", "_greeting", "_limits", "_reader", "_silent_at", "joined",
    )  # fmt: skip

    def __init__(
        self, greeting: Greeting, now: Monotonic, limits: ProcessLinkLimits | None = None
    ) -> None:
        super().__init__()
        self._greeting = greeting
        self._limits = limits or ProcessLinkLimits()
        self._reader = FrameReader(LARGEST_UNAUTHENTICATED)
        self._silent_at = now + self._limits.greeting
        self._alive_at = now + self._limits.keep_alive
        self.joined: ProcessJoined | None = None
        """The process at the other side; None during the greeting."""
        for frame in greeting.begin():
            self._write(frame)

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Handle bytes from the peer."""
        if self.closed:
            return
        # Only after the greeting; a peer that sends one byte now and then must not hold the
        # connection.
        if self.joined is not None:
            self._silent_at = now + self._limits.silence
        try:
            for frame in self._reader.receive(data):
                self._take(frame, now)
                if self.closed:
                    return
        except ProcessRefused as error:
            # The other process logs the reason, so that its operator can correct the setting.
            self._write(["refused", error.reason])
            self.close(error.reason, now)
        except PeerError as error:
            self.close(error.reason, now)

    def send(self, frame: Frame, now: Monotonic) -> None:
        """Send a frame to a process that has joined; do nothing otherwise.

        Raises `LocalProtocolError` when it is too large.
        """
        if self.joined is not None and not self.closed:
            self._write(frame)
            self._alive_at = now + self._limits.keep_alive

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` is due; None on a closed connection."""
        if self.closed:
            return None
        # There are no keep-alives during the greeting.
        alive_at = self._alive_at if self.joined is not None else self._silent_at
        return Monotonic(min(self._silent_at, alive_at))

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the times that have passed."""
        if self.closed:
            return
        if now >= self._silent_at:
            self.close("silent" if self.joined else "no greeting in time", now)
        elif now >= self._alive_at:
            self.send([KEEP_ALIVE], now)

    def _ended(self, reason: str) -> Ended:
        return Ended(reason)

    def _take(self, frame: Frame, now: Monotonic) -> None:
        if self.joined is not None:
            if frame[0] != KEEP_ALIVE:
                self._events.append(Received(frame))
            return
        frames, self.joined = self._greeting.take(frame)
        for one in frames:
            self._write(one)
        if self.joined is not None:
            # The peer has proven that it knows the secret.
            self._reader.largest = LARGEST
            self._silent_at = now + self._limits.silence
            self._events.append(self.joined)

    def _write(self, frame: Frame) -> None:
        self._output.append(encode_frame(frame))
