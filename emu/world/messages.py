"""The table of messages that players' clients send: the handler of each, and its states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


class WorldMessages:
    """The messages of one world, by opcode name. Each handler class adds its own."""

    def __init__(self) -> None:
        self._rules: dict[str, WorldMessageRule] = {}

    def add(self, name: str, handler: MessageHandler, states: frozenset[PlayerState]) -> None:
        """Add a message; no two handlers may have the same one."""
        if name in self._rules:
            raise ValueError(f"{name} has a handler already")
        self._rules[name] = WorldMessageRule(handler, states)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the messages that have a handler."""
        return iter(self._rules)

    def rule(self, name: str | None) -> WorldMessageRule | None:
        """Return the rule of a message, None if no handler wants it."""
        return self._rules.get(name) if name else None
