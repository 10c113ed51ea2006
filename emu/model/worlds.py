"""Worlds: as the login server has them registered, as it lists them, and their zones."""

from __future__ import annotations

from dataclasses import dataclass

BUILT_IN_ACCOUNT = "built-in"
"""Link account of the world in the login server's own process."""


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A registered world server (EQ2Emulator's table login_worldservers)."""

    id: int
    name: str
    """The name that players see; what the world calls itself does not count."""
    account: str
    password: str
    """Argon2id PHC string or SHA-512 hex digits of the link password; empty never matches."""
    description: str = ""
    enabled: bool = True
    last_address: str = ""
    login_version: str = ""


@dataclass(frozen=True, slots=True)
class WorldEntry:
    """A world as the world list shows it."""

    id: int
    name: str
    up: bool
    locked: bool
    players: int
    development: bool = False
    max_level: int = 0


@dataclass(frozen=True, slots=True)
class ZoneDescription:
    """A zone as a world describes it to the login server (ZoneUpdates).

    Source: docs/protocol/link.md#batches.
    """

    zone_id: int
    name: str
    description: str
