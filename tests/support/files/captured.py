"""Captured messages for tests of what prints, selects and counts them."""

from __future__ import annotations

from typing import Any

from emu.capture.messages import CapturedMessage

CLIENT, SERVER = ("10.0.0.1", 40001), ("2001:db8::2", 9100)


def captured_message(**changes: Any) -> CapturedMessage:
    """Return a login reply, which goes to the client, with these attributes changed."""
    values: dict[str, Any] = {
        "t": 1763712000.0597, "source": SERVER, "destination": CLIENT, "version": 546,
        "opcode": 4, "name": "OP_LoginReplyMsg", "payload": b"\1\0\0\0",
        "fields": {"number": 1}, "commands": None, "session_id": 7, "to_server": False,
    }  # fmt: skip
    return CapturedMessage(**{**values, **changes})
