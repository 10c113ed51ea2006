"""Plain lines of text in a client's chat window."""

from __future__ import annotations

from typing import Final

from emu.world.players.client import WorldClient

ERROR_COLOR: Final = 3
SYSTEM_COLOR: Final = 5
TEXT_TAIL: Final = 0x00FF


def send_text(client: WorldClient, text: str, color: int = SYSTEM_COLOR) -> None:
    """Show a line in the chat window."""
    client.send("WS_DisplayText", {"color": color, "text": text, "unknown02": TEXT_TAIL})
