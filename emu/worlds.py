"""Worlds as login servers know them: registered, listed, and the zones that they describe."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A registered world server (EQ2Emulator's table login_worldservers)."""

    id: int
    name: str
    """The name that players see; the name that the world sends is ignored."""
    account: str
    password: str
    """Argon2id PHC string or SHA-512 hex digits of the link password; empty never matches."""
    description: str = ""
    enabled: bool = True
    last_address: str = ""
    login_version: str = ""


@dataclass(frozen=True, slots=True)
class WorldEntry:
    """An entry of the world list."""

    id: int
    name: str
    up: bool
    locked: bool
    players: int
    development: bool = False
    max_level: int = 0


@dataclass(frozen=True, slots=True)
class ZoneDescription:
    """A zone that a world describes to the login server (ZoneUpdates).

    Source: docs/protocol/link.md#batches.
    """

    zone_id: int
    name: str
    description: str
