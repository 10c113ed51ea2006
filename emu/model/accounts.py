"""A player's account."""

from __future__ import annotations

from dataclasses import dataclass

from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class Account:
    """One player's account as the store knows it."""

    id: int
    name: str
    """As it was typed when the account was made; looked up without regard to case."""
    password: str
    """Argon2id PHC string, or EQ2Emulator's 128 hex digits of SHA-512 until the next login."""
    enabled: bool = True
    banned_until: Moment | None = None
    """Unix time at which a ban ends; ``math.inf`` for ever, None when not banned."""
    ban_reason: str = ""
    created: Moment = UNKNOWN
    last_login: Moment | None = None
    last_address: str = ""
    last_client_version: int = 0

    def is_banned(self, moment: Moment) -> bool:
        """Say whether a ban is in force at a moment."""
        return self.banned_until is not None and moment < self.banned_until

    def state(self, moment: Moment) -> str:
        """Return ``disabled``, ``banned`` or ``enabled``, as operators are shown it."""
        if not self.enabled:
            return "disabled"
        return "banned" if self.is_banned(moment) else "enabled"
