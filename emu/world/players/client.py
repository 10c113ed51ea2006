"""One player's client: its dialect, and the session below it.

Owns how messages are written for one version. What is sent when is the business of who calls.
Knows no socket; `PlayerLink` is what the shell provides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from emu.dialects import Dialect
from emu.dialects.common import CLIENT_COMMAND
from emu.dialects.text import wire_texts
from emu.errors import UnknownOpcode, UnknownStruct
from emu.structs.client_cmd import write_client_cmd


class PlayerLink(Protocol):
    """What a client needs of the session below it."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message."""

    def trust(self) -> None:
        """Lift the limits on what a stranger may send: the character comes in."""

    def close(self) -> None:
        """End the session after what was sent has left."""

    def room(self) -> int:
        """Return how many bytes may usefully be sent now; 0 or less when the link is full."""

    def round_trip(self) -> float | None:
        """Return the seconds that a datagram takes there and back; None while not measured."""

    def wake(self) -> None:
        """Ask for the player's timer again: it changed while the shell was not calling."""


@dataclass(slots=True, eq=False)
class WorldClient:
    """One client that is in the world."""

    dialect: Dialect
    link: PlayerLink
    address: str
    """Its IP address."""
    drops: Counter[str] = field(default_factory=Counter)
    """Messages without an effect, by reason."""

    @property
    def version(self) -> int:
        """The client's data version."""
        return self.dialect.version

    def send(self, struct: str, values: Mapping[str, Any] | None = None) -> bool:
        """Send the message that a struct is; values its version does not know are left out.

        Returns False for a message that this version does not have: then nothing is sent, as
        with every client of another age. Raises `StructValueError`.
        """
        try:
            number, payload = self.dialect.message(struct, wire_texts(values or {}))
        except (UnknownStruct, UnknownOpcode):
            return self._missing(struct)
        self.link.send(number, payload)
        return True

    def send_bytes(self, name: str, payload: bytes = b"") -> bool:
        """Send a message by its opcode's name, encoded already; returns as `send`."""
        try:
            number = self.dialect.table.number(name)
        except UnknownOpcode:
            return self._missing(name)
        self.link.send(number, payload)
        return True

    def command(self, name: str, payload: bytes) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name."""
        table = self.dialect.table
        try:
            number, inner = table.number(CLIENT_COMMAND), table.number(name)
        except UnknownOpcode:
            self._missing(name)
            return
        self.link.send(number, write_client_cmd(inner, payload, self.version))

    def room(self) -> int:
        """Return how many bytes may usefully be sent now."""
        return self.link.room()

    def ping(self) -> int:
        """Return the milliseconds there and back; 0 while not measured."""
        return round((self.link.round_trip() or 0.0) * 1000)

    def close(self) -> None:
        """End the session after what was sent has left."""
        self.link.close()

    def drop(self, reason: str) -> None:
        """Count a message that has no effect."""
        self.drops[reason] += 1

    def _missing(self, name: str) -> bool:
        self.drops[f"{name} unknown to version {self.version}"] += 1
        return False
