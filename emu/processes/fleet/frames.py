"""Frames between processes: a u32 size, big-endian, and so many bytes of JSON.

Each frame is an array that begins with its kind. What travels on the bus is an object of plain
values; bytes are an object of their own, ``{"base64": "..."}``.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any, Final

from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage
from emu.processes.ports import Note

Frame = list[Any]
"""Its kind, and what belongs to that."""

HEADER: Final = 4
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
    return len(body).to_bytes(HEADER, "big") + body


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
            size = int.from_bytes(buffer[:HEADER], "big")
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
