"""One connection between two processes: frames, greeting, keep-alive, silence, closing.

Each frame is an array that begins with its kind. What travels on the bus is an object of plain
values; bytes are an object of their own, ``{"base64": "..."}``.

The hub speaks first and sends a number used once; the member answers with a number of its own and
its proof; the hub's proof comes with the welcome. A proof is HMAC-SHA-256 with the secret over
side, both numbers and name, so that neither can be used again, elsewhere, or for the other side.

`emu.net.stream` drives it. Nothing the other end sends makes it raise: a fault closes
this connection with one reason. What the frames after the greeting mean is the bus' business.
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
"""Its kind, and what belongs to that."""

_HEADER: Final = RecordLayout("frame between processes", BIG, size=U32)
HEADER: Final = _HEADER.size
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a frame from somebody who is known; all characters of an account take some thousands."""
LARGEST_OF_STRANGERS: Final = 4096
_BYTES: Final = "base64"
_HALF: Final = rb"\ud"
"""How JSON begins to write half of a character; the other half should follow."""
_PLAIN: Final = (str, int, float, bool, type(None))


def encode_frame(frame: Frame) -> bytes:
    """Return a frame as it travels. Raises `LocalProtocolError` when it is too large."""
    body = json.dumps(frame, separators=(",", ":")).encode()
    if len(body) > LARGEST:
        raise LocalProtocolError(f"a frame of {len(body)} bytes between processes is too large")
    return _HEADER.pack(len(body)) + body


class FrameReader:
    """Cuts received bytes into frames; holds at most one unfinished one.

    `largest` bounds a frame and may be changed at any time.
    """

    __slots__ = ("_buffer", "largest")

    def __init__(self, largest: int) -> None:
        self._buffer = bytearray()
        self.largest = largest

    def receive(self, data: bytes) -> Iterator[Frame]:
        """Take received bytes and yield the frames that are whole now.

        Raises `MalformedMessage` or `LimitExceeded`; the stream cannot be read on after that.
        """
        buffer = self._buffer
        buffer += data
        while len(buffer) >= HEADER:
            (size,) = _HEADER.unpack(buffer)
            if size > self.largest:
                raise LimitExceeded("frame too large")
            if len(buffer) < HEADER + size:
                return
            body = bytes(buffer[HEADER : HEADER + size])
            del buffer[: HEADER + size]
            yield _decoded(body)


def _decoded(body: bytes) -> Frame:
    try:
        frame = json.loads(body)
        if _HALF in body.lower():
            json.dumps(frame, ensure_ascii=False).encode()  # half a character fits nowhere
    except (ValueError, RecursionError):
        raise MalformedMessage("frame is not JSON") from None
    if not isinstance(frame, list) or not frame or not isinstance(frame[0], str):
        raise MalformedMessage("frame without a kind")
    return frame


def to_plain(note: Note) -> dict[str, Any]:
    """Return a note as it stands in a frame."""
    return {
        name: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in note.items()
    }


def to_note(plain: Any) -> dict[str, Any]:
    """Return the note that stands in a frame. Raises `MalformedMessage`."""
    if not isinstance(plain, dict):
        raise MalformedMessage("frame without its note")
    return {name: _value(value) for name, value in plain.items()}


def _value(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    match value:
        case {"base64": str() as text}:
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error:
                pass
    raise MalformedMessage("note with a value of no known kind")


PROTOCOL: Final = 1
LONGEST_NAME: Final = 31
LONGEST_TEXT: Final = 200
NUMBER_SIZE: Final = 16
"""Bytes of a number used once."""


class ProcessRefused(PeerError):
    """The other process does not prove what it has to, or does not want us; says why."""


@dataclass(frozen=True, slots=True)
class Self:
    """What a process says of itself."""

    name: str
    secret: bytes
    about: Callable[[], Note] = field(default=dict)
    """What the others should know of it."""


@dataclass(frozen=True, slots=True)
class ProcessJoined:
    """The other end is known now."""

    name: str
    about: dict[str, Any]


Step = tuple[list[Frame], ProcessJoined | None]
"""What to send, and who the other is once that is known."""


class HubGreeting:
    """The hub's side. `reason_against` says why a process of a name may not join, if so."""

    def __init__(self, own: Self, number: bytes, reason_against: Callable[[str], str]) -> None:
        self._own = own
        self._number = number
        self._reason_against = reason_against

    def begin(self) -> list[Frame]:
        """Return what is said first."""
        return [["challenge", PROTOCOL, self._number.hex()]]

    def take(self, frame: Frame) -> Step:
        """Take a frame of the member. Raises `ProcessRefused` and `MalformedMessage`."""
        match frame:
            case ["hello", str() as name, str() as number, str() as proof, about]:
                theirs = _number(number)
            case _:
                raise MalformedMessage("no greeting")
        own = self._own
        if not _is(proof, _proof(own.secret, "member", self._number, theirs, name)):
            raise ProcessRefused("the secret is another one")
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise ProcessRefused("that is no name")
        if reason := self._reason_against(name):
            raise ProcessRefused(reason)
        answer = _proof(own.secret, "hub", self._number, theirs, own.name)
        welcome = ["welcome", own.name, answer, to_plain(own.about())]
        return [welcome], ProcessJoined(name, to_note(about))


class MemberGreeting:
    """The member's side."""

    def __init__(self, own: Self, number: bytes) -> None:
        self._own = own
        self._number = number
        self._theirs = b""

    def begin(self) -> list[Frame]:
        """Return what is said first: nothing."""
        return []

    def take(self, frame: Frame) -> Step:
        """Take a frame of the hub. Raises `ProcessRefused` and `MalformedMessage`."""
        own = self._own
        match frame:
            case ["challenge", int() as protocol, str() as number] if not self._theirs:
                if protocol != PROTOCOL:
                    raise ProcessRefused(f"the hub speaks version {protocol} of the protocol")
                self._theirs = _number(number)
                proof = _proof(own.secret, "member", self._theirs, self._number, own.name)
                hello = ["hello", own.name, self._number.hex(), proof, to_plain(own.about())]
                return [hello], None
            case ["welcome", str() as name, str() as proof, about] if self._theirs:
                mine = _proof(own.secret, "hub", self._theirs, self._number, name)
                if not _is(proof, mine):
                    raise ProcessRefused("the hub does not know the secret")
                return [], ProcessJoined(name, to_note(about))
            case ["refused", str() as reason]:
                raise ProcessRefused(printable(reason))
        raise MalformedMessage("no greeting")


def printable(text: str) -> str:
    """Return what another process says as it may be shown."""
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
    whole = b"\0".join((side.encode(), hubs.hex().encode(), members.hex().encode(), name.encode()))
    return hmac.digest(secret, whole, "sha256").hex()


def _is(told: str, proof: str) -> bool:
    """Compare in constant time; as texts, `compare_digest` takes ASCII only."""
    return hmac.compare_digest(told.encode(), proof.encode())


KEEP_ALIVE: Final = "alive"


class Greeting(Protocol):
    """How the other end becomes known."""

    def begin(self) -> list[Frame]:
        """Return what is said first."""

    def take(self, frame: Frame) -> Step:
        """Take a frame of the other end. Raises `PeerError`."""


@dataclass(frozen=True, slots=True)
class ProcessLinkLimits:
    """Times in seconds."""

    greeting: float = 10.0
    """How long the greeting may take."""
    keep_alive: float = 5.0
    """Without sending for so long, something is sent."""
    silence: float = 16.0
    """Without receiving for so long, the other end is gone."""


@dataclass(frozen=True, slots=True)
class Received:
    """A frame came from one that is known."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection is over; comes last."""

    reason: str


class ProcessLink(StreamProtocol):
    """One end. Its events are `ProcessJoined`, then `Received`, and `Ended`."""

    __slots__ = (
        "_alive_at", "_greeting", "_limits", "_reader", "_silent_at", "joined",
    )  # fmt: skip

    def __init__(
        self, greeting: Greeting, now: Monotonic, limits: ProcessLinkLimits | None = None
    ) -> None:
        super().__init__()
        self._greeting = greeting
        self._limits = limits or ProcessLinkLimits()
        self._reader = FrameReader(LARGEST_OF_STRANGERS)
        self._silent_at = now + self._limits.greeting
        self._alive_at = now + self._limits.keep_alive
        self.joined: ProcessJoined | None = None
        """Who is at the other end, once that is known."""
        for frame in greeting.begin():
            self._write(frame)

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the other end."""
        if self.closed:
            return
        if self.joined is not None:
            self._silent_at = now + self._limits.silence
        try:
            for frame in self._reader.receive(data):
                self._take(frame, now)
                if self.closed:
                    return
        except ProcessRefused as error:
            self._write(["refused", error.reason])
            self.close(error.reason, now)
        except PeerError as error:
            self.close(error.reason, now)

    def send(self, frame: Frame, now: Monotonic) -> None:
        """Send a frame to one that is known; does nothing otherwise.

        Raises `LocalProtocolError` when it is too large.
        """
        if self.joined is not None and not self.closed:
            self._write(frame)
            self._alive_at = now + self._limits.keep_alive

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called; None on a closed one."""
        if self.closed:
            return None
        alive_at = self._alive_at if self.joined is not None else self._silent_at
        return Monotonic(min(self._silent_at, alive_at))

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""
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
            self._reader.largest = LARGEST
            self._silent_at = now + self._limits.silence
            self._events.append(self.joined)

    def _write(self, frame: Frame) -> None:
        self._output.append(encode_frame(frame))
