"""The messages between the processes of one world, as bytes: JSON arrays that begin with a kind.

A note of the bus is an object of plain values; bytes are an object ``{"base64": "..."}``. The bytes
are ASCII without NUL, so that a broker of texts can carry them.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from emu.errors import LocalProtocolError, MalformedMessage
from emu.processes.ports import Note

Message = list[Any]
"""Its kind, then the values of that kind."""

LARGEST: Final = 512 * 1024
"""Bytes of one message; NATS refuses a megabyte by default."""
LONGEST_TEXT: Final = 200
_BYTES: Final = "base64"
_HALF: Final = b"\\ud"
"""The beginning of a surrogate in JSON; a second one should follow."""
_PLAIN: Final = (str, int, float, bool, type(None))
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def encode(message: Message) -> bytes:
    """Return the bytes of a message. Raises `LocalProtocolError` when it is too large."""
    data = _encode(message).encode()
    if len(data) > LARGEST:
        raise LocalProtocolError(f"a message of {len(data)} bytes between processes is too large")
    return data


def decode(data: bytes) -> Message:
    """Return the message of received bytes. Raises `MalformedMessage`."""
    try:
        message = json.loads(data)
        # json.loads accepts a lone surrogate, which no database and no other process can encode.
        # The test is cheap because such texts are rare.
        if _HALF in data.lower():
            json.dumps(message, ensure_ascii=False).encode()
    # Deeply nested arrays raise RecursionError; a peer must not end the process with them.
    except (ValueError, RecursionError):
        raise MalformedMessage("message is not JSON") from None
    if not isinstance(message, list) or not message or not isinstance(message[0], str):
        raise MalformedMessage("message without a kind")
    return message


def to_plain(note: Note) -> dict[str, Any]:
    """Return a note in the form of a message."""
    return {
        name: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in note.items()
    }


def to_note(plain: Any) -> dict[str, Any]:
    """Return the note of a message. Raises `MalformedMessage`."""
    if not isinstance(plain, dict):
        raise MalformedMessage("message without its note")
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
            except (binascii.Error, ValueError):
                pass
    raise MalformedMessage("note with a value of no known kind")


def printable(text: str) -> str:
    """Return another process' text in printable form."""
    return "".join(letter for letter in text[:LONGEST_TEXT] if letter.isprintable())
