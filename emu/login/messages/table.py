"""The table of messages that login clients send: the handler of each, and its states."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from emu.login.client import Client, ClientState

LoginHandler = Callable[[Client, bytes], Awaitable[None]]
"""Handles the body of a message. Raises `EmuError`, which `guarded` counts for the client."""
IDLE: Final = frozenset({ClientState.LOGGED_IN})
"""The state of a client that is logged in and waits for no world."""


@dataclass(frozen=True, slots=True)
class LoginMessageRule:
    """One message: its handler, and the states that allow it."""

    handler: LoginHandler
    states: frozenset[ClientState]


class LoginMessageTable(dict[str, LoginMessageRule]):
    """The messages of one login service, by opcode name. Each handler class adds its own."""

    def add_handler(self, name: str, handler: LoginHandler, states: frozenset[ClientState]) -> None:
        """Add a message; no two handlers may have the same one."""
        if name in self:
            raise ValueError(f"{name} has a handler already")
        self[name] = LoginMessageRule(handler, states)


async def ignored(_client: Client, _payload: bytes) -> None:
    """Ignore a message that real clients send and that needs no answer."""
