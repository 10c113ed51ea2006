"""The table of messages that players' clients send: the handler of each, and its states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.times import Monotonic
from emu.world.actors.player import Player, PlayerState

MessageHandler = Callable[[Player, bytes, Monotonic], None]
"""Handles the body of a message; raises `PeerError` if it is malformed."""

CONNECTED: Final = frozenset(PlayerState) - {PlayerState.GONE, PlayerState.LINK_DEAD}
"""States of a player whose client is here."""
NOT_ZONING: Final = CONNECTED - {PlayerState.ZONING}
"""The same without a client that was sent to another zone."""


@dataclass(frozen=True, slots=True)
class WorldMessageRule:
    """One message: its handler, and the states in which it is allowed."""

    handler: MessageHandler
    states: frozenset[PlayerState]


class WorldMessages(dict[str, WorldMessageRule]):
    """The messages of one world, by opcode name. Each handler class adds its own."""

    def add_handler(
        self, name: str, handler: MessageHandler, states: frozenset[PlayerState]
    ) -> None:
        """Add a message; no two handlers may have the same one."""
        # Otherwise the order of registration would decide which of the two is called.
        if name in self:
            raise ValueError(f"{name} has a handler already")
        self[name] = WorldMessageRule(handler, states)
